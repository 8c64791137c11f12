#include "koordlet/hooks/terway_qos/terway_qos.h"

#include <algorithm>
#include <map>

#include "api/annotation_codec.h"
#include "api/keys.h"
#include "koordlet/hooks/engine/class_qos.h"
#include "kube/json.h"

namespace koord::koordlet::hooks {
namespace {

using api::QosClass;
using kube::PodQos;

constexpr std::string_view kNodeFile = "global_bps_config";
constexpr std::string_view kPodFile = "pod.json";

struct Bandwidths {
  int64_t tx_min = 0;
  int64_t tx_max = 0;
  int64_t rx_min = 0;
  int64_t rx_max = 0;
};

int64_t TotalBits(const api::NodeSloSpec& slo) {
  return slo.system_strategy ? slo.system_strategy->total_network_bandwidth.Value() : 0;
}

// A quantity of bits is given in bytes. A percentage stays in bits: Terway's users have set their
// percentages by that for years.
StatusOr<int64_t> BandwidthOf(const std::optional<kube::IntOrString>& value, int64_t total) {
  if (!value) return 0;
  int64_t result = 0;
  if (value->is_int()) {
    result = ShareOfBandwidth(total, value->number());
  } else {
    ASSIGN_OR_RETURN(const kube::Quantity bits, kube::Quantity::Parse(*value->text()));
    if (bits.Sign() < 0) return InvalidArgument("bandwidth is negative: {}", *value->text());
    result = bits.Value() / 8;
  }
  if (result < 0 || result > total) {
    return InvalidArgument("bandwidth {} is not between 0 and the total {}", result, total);
  }
  return result;
}

StatusOr<Bandwidths> BandwidthsOf(const api::NodeSloSpec& slo, QosClass qos, int64_t total) {
  Bandwidths bandwidths;
  const api::ResourceQos* section = ClassQosOf(slo, qos);
  if (section == nullptr || !section->network_qos ||
      !section->network_qos->enable.value_or(false)) {
    return bandwidths;
  }
  const api::NetworkQos& network = *section->network_qos;
  ASSIGN_OR_RETURN(bandwidths.tx_min, BandwidthOf(network.egress_request, total));
  ASSIGN_OR_RETURN(bandwidths.tx_max, BandwidthOf(network.egress_limit, total));
  ASSIGN_OR_RETURN(bandwidths.rx_min, BandwidthOf(network.ingress_request, total));
  ASSIGN_OR_RETURN(bandwidths.rx_max, BandwidthOf(network.ingress_limit, total));
  return bandwidths;
}

int PriorityOf(const HookPod& pod) {
  switch (pod.label_qos) {
    case QosClass::kSystem:
      return 0;
    case QosClass::kLse:
    case QosClass::kLsr:
    case QosClass::kLs:
      return 1;
    case QosClass::kBe:
      return 2;
    case QosClass::kNone:
      break;
  }
  const std::string& qos = pod.object->status.qos_class;
  if (qos.empty()) return 0;
  return qos == kube::ToString(PodQos::kBestEffort) ? 2 : 1;
}

struct PodLimitsPayload {
  std::optional<kube::Quantity> ingress;
  std::optional<kube::Quantity> egress;

  static void Fields(auto& self, auto&& field) {
    field("ingressLimit", self.ingress);
    field("egressLimit", self.egress);
  }
};

// None: the annotation does not say both, so that Terway is not told of the pod.
std::optional<Bandwidths> LimitsOf(const HookPod& pod) {
  if (!pod.annotations.contains(api::kAnnotationNetworkQos)) return Bandwidths();
  const auto payload =
      api::ReadAnnotation<PodLimitsPayload>(pod.annotations, api::kAnnotationNetworkQos);
  if (!payload.ok() || !*payload || !(*payload)->ingress || !(*payload)->egress) {
    return std::nullopt;
  }
  return Bandwidths{.tx_max = std::max<int64_t>((*payload)->egress->Value(), 0) / 8,
                    .rx_max = std::max<int64_t>((*payload)->ingress->Value(), 0) / 8};
}

void Bound(int64_t& own, int64_t of_class, int64_t total) {
  const int64_t most = of_class > 0 ? of_class : total;
  if (most > 0) own = std::min(own, most);
}

kube::Json PodEntry(const HookPod& pod, const Bandwidths& limits) {
  return kube::json::object{{"podName", pod.name},
                            {"podNamespace", pod.ns},
                            {"podUID", pod.uid},
                            {"prio", PriorityOf(pod)},
                            {"cgroupDir", "/sys/fs/cgroup/net_cls/" + pod.dir.path()},
                            {"qosConfig", kube::json::object{{"ingressBandwidth", limits.rx_max},
                                                             {"egressBandwidth", limits.tx_max}}}};
}

}  // namespace

StatusOr<std::string> TerwayNodeConfig(const api::NodeSloSpec& slo) {
  const int64_t total = TotalBits(slo);
  if (total < 0) return InvalidArgument("totalNetworkBandwidth is negative: {}", total);
  ASSIGN_OR_RETURN(const Bandwidths ls, BandwidthsOf(slo, QosClass::kLs, total));
  ASSIGN_OR_RETURN(const Bandwidths be, BandwidthsOf(slo, QosClass::kBe, total));
  std::string text = fmt::format("hw_tx_bps_max {0}\nhw_rx_bps_max {0}\n", total / 8);
  for (const auto& [level, of] : {std::pair("l1", &ls), std::pair("l2", &be)}) {
    text += fmt::format(
        "offline_{0}_tx_bps_min {1}\noffline_{0}_tx_bps_max {2}\n"
        "offline_{0}_rx_bps_min {3}\noffline_{0}_rx_bps_max {4}\n",
        level, of->tx_min, of->tx_max, of->rx_min, of->rx_max);
  }
  return text;
}

std::string TerwayPodConfig(const api::NodeSloSpec& slo, std::span<const ReconciledPod> pods,
                            bool trust_pod_authors) {
  const int64_t total = std::max<int64_t>(TotalBits(slo), 0);
  std::map<std::string_view, kube::Json> entries;
  for (const ReconciledPod& reconciled : pods) {
    const HookPod& pod = reconciled.pod;
    std::optional<Bandwidths> limits = LimitsOf(pod);
    if (!limits) continue;
    if (!trust_pod_authors) {
      const QosClass qos = pod.label_qos == QosClass::kBe ? QosClass::kBe : QosClass::kLs;
      const Bandwidths most = BandwidthsOf(slo, qos, total).value_or(Bandwidths());
      Bound(limits->tx_max, most.tx_max, total / 8);
      Bound(limits->rx_max, most.rx_max, total / 8);
    }
    entries.emplace(pod.uid, PodEntry(pod, *limits));
  }
  kube::json::object all;
  for (auto& [uid, entry] : entries) all.emplace(std::string(uid), std::move(entry));
  return kube::json::serialize(all);
}

void TerwayQos::Set(std::string_view file, std::optional<std::string> text,
                    std::optional<std::optional<std::string>>& written) {
  if (written && *written == text) return;
  const Status status = text ? files_->Write(file, *text) : files_->Remove(file);
  env_.problems.Set({.object = file, .kind = name()}, status);
  written = std::move(text);
}

void TerwayQos::OnPass(std::span<const ReconciledPod> pods) {
  if (files_ == nullptr || env_.state.slo() == nullptr || !env_.state.has_pods()) return;
  const api::NodeSloSpec& slo = *env_.state.slo();
  if (NetworkPolicyOf(slo) != "terway-qos") {
    Set(kNodeFile, std::nullopt, node_config_);
    Set(kPodFile, std::nullopt, pod_config_);
    return;
  }
  auto node_config = TerwayNodeConfig(slo);
  if (!node_config.ok()) {
    env_.problems.Report({.object = "node", .kind = name()}, node_config.status());
  } else {
    Set(kNodeFile, *std::move(node_config), node_config_);
  }
  Set(kPodFile, TerwayPodConfig(slo, pods, env_.options.trust.trust_pod_authors), pod_config_);
}

}  // namespace koord::koordlet::hooks
