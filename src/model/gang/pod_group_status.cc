#include "model/gang/pod_group_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/strings.h"

namespace koord::model {
namespace {

constexpr Duration kTooLate = std::chrono::hours(48);

int32_t Count(size_t pods) {
  constexpr auto kMost = static_cast<size_t>(std::numeric_limits<int32_t>::max());
  return static_cast<int32_t>(std::min(pods, kMost));
}

std::string OccupiedBy(const api::PodGroup& group,
                       const std::vector<kube::OwnerReference>& owners) {
  std::vector<std::string> names;
  for (const kube::OwnerReference& owner : owners) {
    names.push_back(fmt::format("{}/{}", group.metadata.ns, owner.name));
  }
  std::ranges::sort(names);
  return Join(names, ",");
}

// Later rules go before earlier ones.
std::string_view PhaseOf(const api::PodGroupStatus& counts, int32_t min) {
  std::string_view phase = counts.scheduled < min ? kPodGroupScheduling : kPodGroupScheduled;
  if (phase == kPodGroupScheduled && counts.succeeded + counts.running >= min) {
    phase = kPodGroupRunning;
  }
  if (counts.failed != 0 && counts.failed + counts.running + counts.succeeded >= min) {
    phase = kPodGroupFailed;
  }
  return counts.succeeded >= min ? kPodGroupFinished : phase;
}

}  // namespace

bool IsPodGroupSettled(const api::PodGroup& group) {
  const api::PodGroupStatus& status = group.status;
  if (status.phase == kPodGroupFinished || status.phase == kPodGroupFailed) return true;
  return status.scheduled == group.spec.min_member && status.running == 0 &&
         status.schedule_start_time &&
         *status.schedule_start_time - group.metadata.creation_timestamp > kTooLate;
}

api::PodGroupStatus NextPodGroupStatus(const api::PodGroup& group, const PodGroupMembers& members,
                                       WallTime now) {
  api::PodGroupStatus next = group.status;
  const int32_t min = group.spec.min_member;
  if (next.phase.empty()) {
    next.phase = kPodGroupPending;
    return next;
  }
  if (next.phase == kPodGroupPending) {
    if (min <= 0 || members.pods < static_cast<size_t>(min)) return next;
    next.phase = kPodGroupPreScheduling;
    next.occupied_by = OccupiedBy(group, members.owners);
    return next;
  }
  if (members.pods == 0) {
    next.phase = kPodGroupPending;
    return next;
  }
  next.scheduled = Count(members.bound);
  next.running = Count(members.running);
  next.succeeded = Count(members.succeeded);
  next.failed = Count(members.failed);
  next.phase = PhaseOf(next, min);
  if (next.phase == kPodGroupScheduling && !next.schedule_start_time) {
    next.schedule_start_time = now;
  }
  return next;
}

}  // namespace koord::model
