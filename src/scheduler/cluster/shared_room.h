#pragma once
#include <cstdint>
#include <span>

#include "scheduler/cluster/pod_info.h"
#include "scheduler/cluster/resource_names.h"

namespace koord::scheduler {

// Room of a node that two pods ask for and that is charged once: what a reservation holds and pods
// that draw from it use.
//
// Of each resource that a reservation reserves, a node is charged the larger of what is reserved
// and what its owners on the node use. The reserve pod and the owners are charged what they ask
// for, and what they share is taken off again, so that:
//   - nobody else can use what is reserved, be it used or not;
//   - what owners take beyond it, in amount or in kind, is charged to them;
//   - a reservation that was just used up is not counted twice.
// In the same way a reservation keeps one place among the pods of its node.
struct SharedRoom {
  ResourceAmounts amounts;
  int64_t non_zero_cpu = 0;
  int64_t non_zero_memory = 0;
  int64_t places = 0;
};

// What the pods of one node share. The order does not matter, and others may be among them.
SharedRoom SharedBy(std::span<const PodInfo* const> pods);

// Whether a pod can share anything.
inline bool MayShare(const PodInfo& pod) {
  return pod.held != nullptr && (pod.held->reserves || pod.held->draws_from);
}

}  // namespace koord::scheduler
