#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kube/objects/workloads.h"

// The arithmetic of rollouts: how many replicas each set of a deployment should have now.
namespace koord::localcluster {

using ReplicaSetPtr = std::shared_ptr<const kube::ReplicaSet>;
using ReplicaSetList = std::vector<ReplicaSetPtr>;

inline constexpr const char* kRevision = "deployment.kubernetes.io/revision";
inline constexpr const char* kRevisionHistory = "deployment.kubernetes.io/revision-history";
inline constexpr const char* kDesiredReplicas = "deployment.kubernetes.io/desired-replicas";
inline constexpr const char* kMaxReplicas = "deployment.kubernetes.io/max-replicas";

inline int32_t WantedBy(const kube::Deployment& deployment) {
  return deployment.spec.replicas.value_or(1);
}
inline int32_t WantedBy(const kube::ReplicaSet& set) { return set.spec.replicas.value_or(1); }
int64_t TotalWanted(const ReplicaSetList& sets);
int64_t TotalAvailable(const ReplicaSetList& sets);

inline bool IsRolling(const kube::Deployment& deployment) {
  return deployment.spec.strategy.type != "Recreate";
}

// How far a rollout may go above and below the wanted number. Percentages of it round up for the
// surge and down for what may be missing; both zero would stand still, so one may be missing then.
// A deployment that recreates its pods has neither.
struct RolloutLimits {
  int32_t max_surge = 0;
  int32_t max_unavailable = 0;
};
RolloutLimits LimitsOf(const kube::Deployment& deployment);
// How many replicas there may be in the middle of a rollout.
int32_t MostReplicas(const kube::Deployment& deployment);

// A set and the size it should get.
struct Resize {
  ReplicaSetPtr set;
  int32_t replicas = 0;
};

// How many replicas the newest set may have now: it grows into what the surge leaves free.
int32_t NewSetSize(const kube::Deployment& deployment, const ReplicaSetList& all, int32_t current);

// The next step down of the old sets: replicas that are not available anyway go first, then as many
// as can be spared, the oldest set first.
std::vector<Resize> ShrinkOldSets(const kube::Deployment& deployment, const ReplicaSetList& old,
                                  const kube::ReplicaSet& newest);

// The number of replicas has changed in the middle of a rollout: every set gets its share of the
// difference, and the newest of the largest what rounding leaves.
std::vector<Resize> ScaleInProportion(const kube::Deployment& deployment,
                                      const ReplicaSetList& sets);

// The integer under an annotation; none if it is missing or something else.
std::optional<int32_t> IntAnnotation(const kube::ObjectMeta& meta, const char* key);

}  // namespace koord::localcluster
