#include "scheduler/reference/rule.h"

#include <algorithm>

namespace koord::scheduler::reference {

std::unique_ptr<Rule> MakeRule(std::string_view plugin, const Profile& profile) {
  if (plugin == "NodeName") return NodeNameRule();
  if (plugin == "NodeUnschedulable") return NodeUnschedulableRule();
  if (plugin == "TaintToleration") return TaintTolerationRule();
  if (plugin == "NodeAffinity") return NodeAffinityRule(ArgsFor<NodeAffinityArgs>(profile));
  if (plugin == "NodePorts") return NodePortsRule();
  if (plugin == "ImageLocality") return ImageLocalityRule();
  if (plugin == "NodeResourcesFit") {
    return NodeResourcesFitRule(ArgsFor<NodeResourcesFitArgs>(profile));
  }
  if (plugin == "NodeResourcesBalancedAllocation") {
    return NodeResourcesBalancedAllocationRule(
        ArgsFor<NodeResourcesBalancedAllocationArgs>(profile));
  }
  if (plugin == "NodeResourcesFitPlus") {
    return NodeResourcesFitPlusRule(ArgsFor<NodeResourcesFitPlusArgs>(profile));
  }
  if (plugin == "ScarceResourceAvoidance") {
    return ScarceResourceAvoidanceRule(ArgsFor<ScarceResourceAvoidanceArgs>(profile));
  }
  if (plugin == "InterPodAffinity") {
    return InterPodAffinityRule(ArgsFor<InterPodAffinityArgs>(profile));
  }
  if (plugin == "PodTopologySpread") {
    return PodTopologySpreadRule(ArgsFor<PodTopologySpreadArgs>(profile));
  }
  if (plugin == "LoadAwareScheduling") {
    return LoadAwareSchedulingRule(ArgsFor<LoadAwareSchedulingArgs>(profile));
  }
  if (plugin == "VolumeRestrictions") return VolumeRestrictionsRule();
  if (plugin == "NodeVolumeLimits") return NodeVolumeLimitsRule();
  if (plugin == "VolumeBinding") return VolumeBindingRule();
  if (plugin == "VolumeZone") return VolumeZoneRule();
  if (plugin == "SchedulingHint") return SchedulingHintRule(ArgsFor<SchedulingHintArgs>(profile));
  if (plugin == "Reservation") return ReservationRule(ArgsFor<ReservationArgs>(profile));
  return nullptr;
}

void NormalizeByLargest(std::vector<int64_t>& scores, bool reversed) {
  const int64_t largest = scores.empty() ? 0 : std::ranges::max(scores);
  for (int64_t& score : scores) {
    if (largest != 0) score = 100 * score / largest;
    if (reversed) score = 100 - score;
  }
}

}  // namespace koord::scheduler::reference
