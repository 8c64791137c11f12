#pragma once
#include <cstdint>
#include <string>

#include "base/string_map.h"
#include "kube/objects/pod.h"
#include "kube/selectors.h"
#include "scheduler/framework/cluster_objects.h"

namespace koord::scheduler {

// What a pod belongs to: the services that select it and the controller that made it. Pods that all
// their selectors match are spread together if nobody says otherwise.
class PodOwners {
 public:
  explicit PodOwners(ClusterObjects& objects);

  // All selectors as one; empty if there are none.
  kube::LabelMatcher SelectorFor(const kube::Pod& pod) const;

  // Moves when a selector in any namespace, or in one of them, has changed.
  uint64_t version() const { return version_; }
  uint64_t VersionOf(const std::string& ns) const;

 private:
  template <class Cache, class Selector>
  void Watch(Cache& cache, Selector selector_of);

  const ClusterObjects& objects_;
  uint64_t version_ = 1;
  StringMap<uint64_t> versions_;  // by namespace
};

}  // namespace koord::scheduler
