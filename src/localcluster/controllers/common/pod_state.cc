#include "localcluster/controllers/common/pod_state.h"

#include <algorithm>

namespace koord::localcluster {

std::optional<WallTime> ReadySince(const kube::Pod& pod) {
  const kube::PodCondition* ready = kube::FindCondition(pod.status.conditions, "Ready");
  if (ready == nullptr || ready->status != "True") return std::nullopt;
  return ready->last_transition_time.value_or(WallTime{});
}

bool IsAvailable(const kube::Pod& pod, int32_t min_ready_seconds, WallTime now) {
  const std::optional<WallTime> since = ReadySince(pod);
  if (!since) return false;
  return min_ready_seconds == 0 || *since + std::chrono::seconds(min_ready_seconds) <= now;
}

std::optional<Duration> UntilNextAvailable(const PodList& pods, int32_t min_ready_seconds,
                                           WallTime now) {
  std::optional<Duration> soonest;
  for (const PodPtr& pod : pods) {
    const std::optional<WallTime> since = ReadySince(*pod);
    if (!since || IsAvailable(*pod, min_ready_seconds, now)) continue;
    const Duration left = *since + std::chrono::seconds(min_ready_seconds) - now;
    if (!soonest || left < *soonest) soonest = left;
  }
  return soonest;
}

}  // namespace koord::localcluster
