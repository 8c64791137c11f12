#pragma once
#include <map>
#include <string>

#include "base/clock.h"
#include "localcluster/controllers/common/pod_state.h"

namespace koord::localcluster {

// Sorts pods so that those whose loss is felt least come first, as Kubernetes does when a set
// shrinks. In this order of importance, a pod goes earlier if it
//   1. is not assigned to a node,
//   2. is Pending rather than Unknown rather than Running,
//   3. is not ready,
//   4. has the lower controller.kubernetes.io/pod-deletion-cost,
//   5. shares its node with more pods of its family (`neighbours`: how many there are on each
//   node),
//   6. has been ready for a shorter time, compared on a logarithmic scale,
//   7. has restarted more often,
//   8. was made later, compared likewise.
// Ties break by UID, so that no decision depends on the order of arrival.
void SortForDeletion(PodList& pods, const std::map<std::string, int>& neighbours, WallTime now);

}  // namespace koord::localcluster
