#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "kube/objects/pod.h"

// How far along a pod is, as workload controllers count it.
namespace koord::localcluster {

using PodPtr = std::shared_ptr<const kube::Pod>;
using PodList = std::vector<PodPtr>;

// Runs or will run: neither at its end nor on its way out.
inline bool IsActive(const kube::Pod& pod) {
  return !kube::IsTerminal(pod) && !kube::IsBeingDeleted(pod.metadata);
}

// Since when it has been ready; none if it is not.
std::optional<WallTime> ReadySince(const kube::Pod& pod);

// Ready for long enough.
bool IsAvailable(const kube::Pod& pod, int32_t min_ready_seconds, WallTime now);

// When the first of the pods that are ready, but not for long enough, will be available; none if
// there is no such pod.
std::optional<Duration> UntilNextAvailable(const PodList& pods, int32_t min_ready_seconds,
                                           WallTime now);

}  // namespace koord::localcluster
