#include "koordlet/qos/framework/node_inputs.h"

#include <fmt/format.h>

namespace koord::koordlet {

ThresholdSwitch ThresholdSwitchOf(const NodeState& state) {
  const auto& slo = state.slo();
  if (slo == nullptr || !slo->resource_used_threshold_with_be ||
      !slo->resource_used_threshold_with_be->enable) {
    return ThresholdSwitch::kUnknown;
  }
  return *slo->resource_used_threshold_with_be->enable ? ThresholdSwitch::kOn
                                                       : ThresholdSwitch::kOff;
}

std::optional<MilliCpu> CpuOf(const kube::ResourceList& resources) {
  const auto it = resources.find(kube::kCpu);
  if (it == resources.end()) return std::nullopt;
  return MilliCpu(it->second.MilliValue());
}

std::optional<int64_t> ValueOf(const kube::ResourceList& resources, std::string_view name) {
  const auto it = resources.find(name);
  if (it == resources.end()) return std::nullopt;
  return it->second.Value();
}

std::string NameOf(const NodePod& pod) {
  return fmt::format("{}/{}", pod.pod->metadata.ns, pod.pod->metadata.name);
}

}  // namespace koord::koordlet
