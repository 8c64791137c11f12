#include "scheduler/plugins/coscheduling/coscheduling.h"

#include <tuple>

#include "base/log.h"
#include "scheduler/pod_group_controller/pod_group_controller.h"

namespace koord::scheduler {
namespace {

model::GangDefaults DefaultsOf(const CoschedulingArgs& args) {
  const model::GangDefaults built_in;
  return {
      .wait = args.default_timeout > Duration::zero() ? args.default_timeout : built_in.wait,
      .policy = model::ParseGangMatchPolicy(args.default_match_policy).value_or(built_in.policy)};
}

// What pods are sorted by after their priority.
std::tuple<WallTime, std::string_view> AgeOf(const kube::Pod& pod, const GangBook& book) {
  const GangBook::Member* member = book.Find(pod.metadata.uid);
  if (member == nullptr) return {pod.metadata.creation_timestamp, pod.metadata.ns};
  const GangBook::Gang& gang = *member->gang;
  return {gang.spec ? gang.spec->created : pod.metadata.creation_timestamp, gang.id};
}

}  // namespace

Coscheduling::Coscheduling(const PluginContext& context, const CoschedulingArgs& args)
    : book_(GangBook::Of(context, DefaultsOf(args))), rounds_(book_, context) {
  PodGroupController::AddTo(context, book_, args.controller_workers);
  if (args.enable_preemption) {
    LOG_WARNING(
        "CoschedulingArgs.enablePreemption has no effect in this version: members of gangs "
        "preempt one by one, as far as DefaultPreemption is enabled");
  }
  if (args.aware_network_topology) {
    LOG_WARNING(
        "CoschedulingArgs.awareNetworkTopology has no effect in this version: gangs are "
        "placed wherever their members fit");
  }
}

bool Coscheduling::Less(const QueuedPodView& a, const QueuedPodView& b) const {
  if (a.priority != b.priority) return a.priority > b.priority;
  const auto age_a = AgeOf(a.pod, book_);
  const auto age_b = AgeOf(b.pod, book_);
  return age_a != age_b ? age_a < age_b : a.sequence < b.sequence;
}

}  // namespace koord::scheduler
