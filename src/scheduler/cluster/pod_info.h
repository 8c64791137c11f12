#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "kube/objects/pod.h"
#include "scheduler/cluster/pod_shape.h"

namespace koord::scheduler {

// A node by its place in the table. Stays the same while the node exists.
using NodeRow = uint32_t;
inline constexpr NodeRow kNoRow = ~NodeRow{0};

// A pod that holds room on a node: it runs there, or it was given the node and is being bound.
struct PodInfo {
  struct Resized {
    ResourceAmounts requests;
    int64_t non_zero_cpu = 0;
    int64_t non_zero_memory = 0;
  };

  std::shared_ptr<const kube::Pod> pod;
  ShapePtr shape;
  // What it is charged instead of what its shape says, while it is being resized in place.
  std::unique_ptr<const Resized> resized;
  NodeRow row = kNoRow;
  uint32_t place = 0;    // in the row's list of pods
  bool assumed = false;  // given the node here, not yet seen there

  const ResourceAmounts& requests() const { return resized ? resized->requests : shape->requests; }
  int64_t non_zero_cpu() const { return resized ? resized->non_zero_cpu : shape->non_zero_cpu; }
  int64_t non_zero_memory() const {
    return resized ? resized->non_zero_memory : shape->non_zero_memory;
  }
  const std::string& uid() const { return pod->metadata.uid; }
  bool terminating() const { return pod->metadata.deletion_timestamp.has_value(); }
};

}  // namespace koord::scheduler
