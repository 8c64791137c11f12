#pragma once
#include "kube/objects/pod.h"

namespace koord::scheduler {

// Whether an update of a pod without node may change anything for the scheduler. What it writes
// itself, conditions and nominations, must not count: a pod would wake itself for ever.
inline bool ChangedForScheduling(const kube::Pod& before, const kube::Pod& after) {
  const kube::ObjectMeta& a = before.metadata;
  const kube::ObjectMeta& b = after.metadata;
  return a.labels != b.labels || a.annotations != b.annotations ||
         a.deletion_timestamp != b.deletion_timestamp || a.owner_references != b.owner_references ||
         before.spec != after.spec;
}

}  // namespace koord::scheduler
