#include "api/koordlet_annotations.h"

#include <algorithm>

#include "api/annotation_codec.h"
#include "api/keys.h"
#include "api/numbers.h"
#include "base/strings.h"

namespace koord::api {
namespace {

using kube::Annotations;

struct NetworkQosPayload {
  std::optional<kube::Quantity> ingress_limit;
  std::optional<kube::Quantity> egress_limit;

  static void Fields(auto& self, auto&& field) {
    field("ingressLimit", self.ingress_limit);
    field("egressLimit", self.egress_limit);
  }
};

int64_t BytesPerSecond(const std::optional<kube::Quantity>& bits) {
  return bits ? bits->Value() / 8 : 0;
}

std::optional<int32_t> InOomRange(std::optional<int64_t> value) {
  if (!value || *value < -1000 || *value > 1000) return std::nullopt;
  return static_cast<int32_t>(*value);
}

}  // namespace

StatusOr<std::optional<CpuBurstConfig>> CpuBurstConfigOf(const Annotations& annotations) {
  return ReadAnnotation<CpuBurstConfig>(annotations, kAnnotationCpuBurst);
}

StatusOr<std::optional<CpuQos>> CpuQosOf(const Annotations& annotations) {
  ASSIGN_OR_RETURN(std::optional<CpuQos> qos,
                   ReadAnnotation<CpuQos>(annotations, kAnnotationCpuQos));
  if (qos && qos->group_identity && (*qos->group_identity < -1 || *qos->group_identity > 2)) {
    return InvalidArgument("bad group identity value: {}", *qos->group_identity);
  }
  return qos;
}

StatusOr<std::optional<PodMemoryQos>> MemoryQosOf(const Annotations& annotations) {
  return ReadAnnotation<PodMemoryQos>(annotations, kAnnotationMemoryQos);
}

StatusOr<std::vector<BlockConfig>> BlkioBlocksOf(const Annotations& annotations) {
  ASSIGN_OR_RETURN(std::optional<BlkioQos> qos,
                   ReadAnnotation<BlkioQos>(annotations, kAnnotationBlkioQos));
  return qos ? std::move(qos->blocks) : std::vector<BlockConfig>();
}

StatusOr<std::optional<PodNetworkLimits>> NetworkLimitsOf(const Annotations& annotations) {
  ASSIGN_OR_RETURN(std::optional<NetworkQosPayload> payload,
                   ReadAnnotation<NetworkQosPayload>(annotations, kAnnotationNetworkQos));
  if (!payload) return std::optional<PodNetworkLimits>();
  return std::optional(PodNetworkLimits{.ingress = BytesPerSecond(payload->ingress_limit),
                                        .egress = BytesPerSecond(payload->egress_limit)});
}

StatusOr<std::optional<PodResctrl>> ResctrlOf(const Annotations& annotations) {
  return ReadAnnotation<PodResctrl>(annotations, kAnnotationResctrl);
}

bool MayBeEvictedBy(const Annotations& annotations, std::string_view feature) {
  const auto features =
      ReadAnnotation<std::vector<std::string>>(annotations, kAnnotationEvictionPolicy);
  if (!features.ok()) return false;
  return !*features || std::ranges::find(**features, feature) != (*features)->end();
}

int32_t EvictionPriorityOf(const Annotations& annotations) {
  return ToInt32(ParseInt(kube::ValueOf(annotations, kAnnotationEvictionPriority))).value_or(0);
}

std::optional<int32_t> OomScoreAdjOf(const Annotations& annotations, std::string_view container) {
  using ByContainer = std::map<std::string, int64_t, std::less<>>;
  const auto spec = ReadAnnotation<ByContainer>(annotations, kAnnotationOomScoreAdjSpec);
  if (!spec.ok()) return std::nullopt;
  if (*spec) {
    const auto found = (*spec)->find(container);
    if (found != (*spec)->end()) return InOomRange(found->second);
  }
  return InOomRange(ParseInt(kube::ValueOf(annotations, kAnnotationOomScoreAdj)));
}

bool SkipsHookServer(const kube::ObjectMeta& pod) {
  return kube::ValueOf(pod.labels, kKeySkipHookServer) == "true" ||
         kube::ValueOf(pod.annotations, kKeySkipHookServer) == "true";
}

}  // namespace koord::api
