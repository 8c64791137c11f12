#pragma once
#include <absl/container/flat_hash_set.h>

#include <memory>
#include <string_view>

#include "base/string_map.h"
#include "kube/objects/pod.h"

namespace koord::scheduler {

struct HashOfUid {
  using is_transparent = void;
  size_t operator()(std::string_view uid) const { return StringHash()(uid); }
  size_t operator()(const std::shared_ptr<const kube::Pod>& pod) const {
    return StringHash()(pod->metadata.uid);
  }
};

struct SameUid {
  using is_transparent = void;
  static std::string_view UidOf(std::string_view uid) { return uid; }
  static std::string_view UidOf(const std::shared_ptr<const kube::Pod>& pod) {
    return pod->metadata.uid;
  }
  bool operator()(const auto& a, const auto& b) const { return UidOf(a) == UidOf(b); }
};

// Pods that are found by their uid, of which no second copy is made.
using PodSet = absl::flat_hash_set<std::shared_ptr<const kube::Pod>, HashOfUid, SameUid>;

// Puts the pod in the place of the one with its uid, and returns that; null if there was none.
inline std::shared_ptr<const kube::Pod> Put(PodSet& pods, std::shared_ptr<const kube::Pod> pod) {
  std::shared_ptr<const kube::Pod> last;
  if (auto known = pods.extract(std::string_view(pod->metadata.uid))) {
    last = std::move(known.value());
  }
  pods.insert(std::move(pod));
  return last;
}

}  // namespace koord::scheduler
