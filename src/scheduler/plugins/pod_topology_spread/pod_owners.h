#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <string_view>

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

  // Moves when a selector in any namespace, or in one of them, has changed; the latter also when
  // one of a few others has.
  uint64_t version() const { return version_; }
  uint64_t VersionOf(std::string_view ns) const { return versions_[PlaceOf(ns)]; }

 private:
  template <class Cache, class Selector>
  void Watch(Cache& cache, Selector selector_of);

  static constexpr size_t kPlaces = 1024;
  static size_t PlaceOf(std::string_view ns) { return std::hash<std::string_view>{}(ns) % kPlaces; }

  const ClusterObjects& objects_;
  uint64_t version_ = 1;
  std::array<uint64_t, kPlaces> versions_{};  // namespaces come and go: by hash
};

}  // namespace koord::scheduler
