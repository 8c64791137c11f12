#include "api/node_annotations.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "api/annotation_codec.h"
#include "api/keys.h"
#include "base/strings.h"

namespace koord::api {
namespace {

using kube::Annotations;
using kube::Quantity;
using kube::ResourceList;

struct ResourcesPayload {
  ResourceList resources;

  static void Fields(auto& self, auto&& field) { field("resources", self.resources); }
};

struct ThirdPartyPayload {
  std::vector<ThirdPartyAllocation> allocations;

  static void Fields(auto& self, auto&& field) { field("allocations", self.allocations); }
};

template <class T>
StatusOr<std::vector<T>> ReadList(const Annotations& annotations, std::string_view key) {
  ASSIGN_OR_RETURN(std::optional<std::vector<T>> list,
                   ReadAnnotation<std::vector<T>>(annotations, key));
  return list ? *std::move(list) : std::vector<T>();
}

std::optional<double> ParseDouble(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

// What doubles can no longer count is as much as there can be.
int64_t ToInteger(double value) {
  constexpr double kTooLarge = 9223372036854775808.0;
  return value >= kTooLarge ? std::numeric_limits<int64_t>::max() : static_cast<int64_t>(value);
}

}  // namespace

StatusOr<std::optional<CpuTopology>> CpuTopologyOf(const Annotations& annotations) {
  return ReadAnnotation<CpuTopology>(annotations, kAnnotationCpuTopology);
}

std::string EncodeCpuTopology(const CpuTopology& topology) { return EncodeAnnotation(topology); }

StatusOr<std::vector<PodCpuAlloc>> PodCpuAllocsOf(const Annotations& annotations) {
  return ReadList<PodCpuAlloc>(annotations, kAnnotationPodCpuAllocs);
}

std::string EncodePodCpuAllocs(const std::vector<PodCpuAlloc>& allocs) {
  return EncodeAnnotation(allocs);
}

StatusOr<std::vector<CpuSharedPool>> CpuSharedPoolsOf(const Annotations& annotations,
                                                      std::string_view key) {
  return ReadList<CpuSharedPool>(annotations, key);
}

std::string EncodeCpuSharedPools(const std::vector<CpuSharedPool>& pools) {
  return EncodeAnnotation(pools);
}

StatusOr<std::optional<KubeletCpuManagerPolicy>> KubeletCpuManagerPolicyOf(
    const Annotations& annotations) {
  return ReadAnnotation<KubeletCpuManagerPolicy>(annotations, kAnnotationKubeletCpuManagerPolicy);
}

std::string EncodeKubeletCpuManagerPolicy(const KubeletCpuManagerPolicy& policy) {
  return EncodeAnnotation(policy);
}

std::string_view NodeCpuBindPolicyOf(const kube::Labels& node_labels,
                                     const KubeletCpuManagerPolicy& kubelet) {
  const std::string_view label = kube::ValueOf(node_labels, kLabelNodeCpuBindPolicy);
  const bool kubelet_insists =
      kubelet.policy == "static" && kube::ValueOf(kubelet.options, "full-pcpus-only") == "true";
  if (label == kNodeCpuBindFullPcpusOnly || kubelet_insists) return kNodeCpuBindFullPcpusOnly;
  return label == kNodeCpuBindSpreadByPcpus ? kNodeCpuBindSpreadByPcpus : kNodeCpuBindNone;
}

StatusOr<std::optional<CpuBasicInfo>> CpuBasicInfoOf(const Annotations& annotations) {
  return ReadAnnotation<CpuBasicInfo>(annotations, kAnnotationCpuBasicInfo);
}

std::string EncodeCpuBasicInfo(const CpuBasicInfo& info) { return EncodeAnnotation(info); }

std::string KeyOf(const CpuBasicInfo& info) {
  return fmt::format("{}_{}_{}", info.cpu_model, info.hyper_thread_enabled, info.turbo_enabled);
}

StatusOr<std::optional<double>> CpuNormalizationRatioOf(const Annotations& annotations) {
  const std::string* text = kube::FindValue(annotations, kAnnotationCpuNormalizationRatio);
  if (text == nullptr) return std::optional<double>();
  const std::optional<double> ratio = ParseDouble(*text);
  if (!ratio || *ratio <= 0) {
    return InvalidArgument("illegal cpu normalization ratio: {}", *text);
  }
  return ratio;
}

std::string FormatRatio(double ratio) { return fmt::format("{:.2f}", ratio); }

bool IsRatioDifferent(double a, double b) { return std::abs(a - b) > 0.01; }

StatusOr<std::optional<bool>> CpuNormalizationEnabledOf(const kube::Labels& labels) {
  const std::string* text = kube::FindValue(labels, kLabelCpuNormalizationEnabled);
  if (text == nullptr) return std::optional<bool>();
  const std::optional<bool> enabled = ParseBool(*text);
  if (!enabled) {
    return InvalidArgument("label {}: expected true or false, found {}",
                           kLabelCpuNormalizationEnabled, Quote(*text, 64));
  }
  return enabled;
}

StatusOr<std::optional<AmplificationRatios>> AmplificationRatiosOf(const Annotations& annotations) {
  return ReadAnnotation<AmplificationRatios>(annotations, kAnnotationResourceAmplificationRatio);
}

std::string EncodeAmplificationRatios(const AmplificationRatios& ratios) {
  std::vector<std::string> members;
  for (const auto& [resource, ratio] : ratios) {
    members.push_back(fmt::format("{}:{}", EncodeAnnotation(resource), FormatRatio(ratio)));
  }
  return "{" + Join(members, ",") + "}";
}

Quantity Amplify(std::string_view resource, const Quantity& amount, double ratio) {
  if (ratio <= 1 || amount.IsZero()) return amount;
  const auto amplified = [&](int64_t units) {
    return ToInteger(std::ceil(static_cast<double>(units) * ratio));
  };
  if (resource == kube::kCpu) return Quantity::FromMilli(amplified(amount.MilliValue()));
  const bool is_bytes = resource == kube::kMemory || resource == kube::kEphemeralStorage;
  return Quantity(amplified(amount.Value()),
                  is_bytes ? Quantity::Format::kBinarySi : Quantity::Format::kDecimalSi);
}

StatusOr<std::optional<ResourceList>> RawAllocatableOf(const Annotations& annotations) {
  return ReadAnnotation<ResourceList>(annotations, kAnnotationRawAllocatable);
}

std::optional<int64_t> RatioPercentOf(const kube::Labels& labels, std::string_view key) {
  const std::optional<double> ratio = ParseDouble(kube::ValueOf(labels, key));
  if (!ratio || *ratio < 0) return std::nullopt;
  return ToInteger(std::trunc(*ratio * 100));
}

StatusOr<std::optional<ResourceList>> OriginExtendedAllocatableOf(const Annotations& annotations) {
  ASSIGN_OR_RETURN(
      std::optional<ResourcesPayload> payload,
      ReadAnnotation<ResourcesPayload>(annotations, kAnnotationOriginExtendedAllocatable));
  return payload ? std::optional(std::move(payload->resources)) : std::nullopt;
}

std::string EncodeOriginExtendedAllocatable(const ResourceList& resources) {
  return EncodeAnnotation(ResourcesPayload{resources});
}

StatusOr<std::vector<ThirdPartyAllocation>> ThirdPartyAllocationsOf(
    const Annotations& annotations) {
  ASSIGN_OR_RETURN(
      std::optional<ThirdPartyPayload> payload,
      ReadAnnotation<ThirdPartyPayload>(annotations, kAnnotationThirdPartyAllocations));
  return payload ? std::move(payload->allocations) : std::vector<ThirdPartyAllocation>();
}

ResourceList SumOf(const std::vector<ThirdPartyAllocation>& allocations,
                   std::string_view priority) {
  ResourceList sum;
  for (const ThirdPartyAllocation& allocation : allocations) {
    if (allocation.priority == priority) kube::AddTo(sum, allocation.resources);
  }
  return sum;
}

StatusOr<std::optional<Quantity>> NetworkBandwidthOf(const Annotations& annotations) {
  const std::string* text = kube::FindValue(annotations, kAnnotationNetworkBandwidth);
  if (text == nullptr) return std::optional<Quantity>();
  StatusOr<Quantity> bandwidth = Quantity::Parse(*text);
  if (!bandwidth.ok()) {
    return InvalidArgument("failed to parse node bandwidth {}: {}", Quote(*text, 64),
                           Message(bandwidth.status()));
  }
  return std::optional(*std::move(bandwidth));
}

StatusOr<std::optional<UsageThresholds>> UsageThresholdsOf(const Annotations& annotations) {
  return ReadAnnotation<UsageThresholds>(annotations, kAnnotationUsageThresholds);
}

}  // namespace koord::api
