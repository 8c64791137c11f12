#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "base/strong_index.h"
#include "kube/objects/pod.h"
#include "scheduler/cluster/holdings.h"
#include "scheduler/cluster/pod_shape.h"

namespace koord::scheduler {

// A node by its place in the table. Stays the same while the node exists.
//
// Columns are plain arrays, and a row is the index into all of them; but no number is a row unless
// somebody says so. Inside of a pass over a block of rows plain offsets from its begin are as good.
using NodeRow = StrongIndex<struct NodeRowTag>;
inline constexpr NodeRow kNoRow(~uint32_t{0});

// Rows that stand together: [begin, end).
struct RowRange {
  NodeRow begin{0};
  NodeRow end{0};

  static RowRange Only(NodeRow row) { return {row, NodeRow(row + 1)}; }
  static RowRange First(size_t rows) { return {NodeRow(0), NodeRow(rows)}; }

  size_t size() const { return end - begin; }
};

// A pod that holds room on a node: it runs there, or it was given the node and is being bound. A
// pod whose node does not exist holds no room: it has the name of a node instead of a row.
struct PodInfo {
  struct Resized {
    ResourceHold names;
    ResourceAmounts requests;
    int64_t non_zero_cpu = 0;
    int64_t non_zero_memory = 0;
  };

  std::shared_ptr<const kube::Pod> pod;
  ShapePtr shape;
  // What it is charged instead of what its shape says, while it is being resized in place.
  std::unique_ptr<const Resized> resized;
  std::unique_ptr<const Holdings> held;  // beyond amounts; null: nothing
  NodeRow row = kNoRow;
  uint32_t place = 0;  // in the list of pods of its row, or of its missing node
  std::unique_ptr<const std::string> missing_node;
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
