#pragma once
#include <cstddef>
#include <vector>

#include "api/pod_group.h"
#include "base/clock.h"
#include "kube/objects/meta.h"

namespace koord::model {

inline constexpr std::string_view kPodGroupPending = "Pending";
inline constexpr std::string_view kPodGroupPreScheduling = "PreScheduling";
inline constexpr std::string_view kPodGroupScheduling = "Scheduling";
inline constexpr std::string_view kPodGroupScheduled = "Scheduled";
inline constexpr std::string_view kPodGroupRunning = "Running";
inline constexpr std::string_view kPodGroupFinished = "Finished";
inline constexpr std::string_view kPodGroupFailed = "Failed";

// The members of a PodGroup, those that have ended included.
struct PodGroupMembers {
  size_t pods = 0;
  size_t bound = 0;  // that were given a node, whatever has become of them
  size_t running = 0;
  size_t succeeded = 0;
  size_t failed = 0;
  std::vector<kube::OwnerReference> owners;  // of the first of them
};

// Whether nothing is said of it any more: it has ended, or it was placed two days after it was made
// and has not run since.
bool IsPodGroupSettled(const api::PodGroup& group);

// What its status is to say: at most one phase further than it does. A phase that rests on members
// that have ended is reached although those are no longer among the pods to be placed.
api::PodGroupStatus NextPodGroupStatus(const api::PodGroup& group, const PodGroupMembers& members,
                                       WallTime now);

}  // namespace koord::model
