#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/container/inlined_vector.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/string_map.h"
#include "scheduler/cluster/node_table.h"
#include "scheduler/topology/domain_counts.h"
#include "scheduler/topology/pod_selector.h"

namespace koord::scheduler {

// How many pods of one kind a row has.
struct RowPods {
  int32_t all = 0;
  int32_t terminating = 0;  // of these
};
using PodsByRow = absl::flat_hash_map<NodeRow, RowPods>;

// The pods that all of some selectors match, wherever they run.
class PodCounter {
 public:
  explicit PodCounter(std::vector<PodSelector> selectors) : selectors_(std::move(selectors)) {}

  bool Matches(const PodShape& pod, const NamespaceCache& namespaces) const;
  bool reads_namespaces() const;
  const PodsByRow& rows() const { return rows_; }

 private:
  friend class PodIndex;

  void Add(NodeRow row, int32_t pods, int32_t terminating);
  void AddAll(const PodsByRow& rows, int sign);

  const std::vector<PodSelector> selectors_;
  PodsByRow rows_;
  std::vector<std::shared_ptr<DomainCounts>> counts_;
};

// Who runs where, by shape, and the counts that anybody has asked for.
//
// Counts are made by looking once at the shapes that have a label that a selector asks for, then
// follow what the ledger books. Equal questions share their answer; answers that nobody holds any
// more are dropped.
class PodIndex {
 public:
  PodIndex(const NodeTable& nodes, const NamespaceCache& namespaces);

  void Add(const PodInfo& pod) { Change(pod, 1); }
  void Remove(const PodInfo& pod) { Change(pod, -1); }
  // The labels of a namespace are different now.
  void NamespaceChanged(const std::string& ns);

  // Of the pods that all selectors match; there must be one at least.
  std::shared_ptr<DomainCounts> Counts(std::vector<PodSelector> selectors, CountingRule rule);
  // Whether they count a pod of this shape.
  bool Matches(const DomainCounts& counts, const PodShape& pod) const;

  const NamespaceCache& namespaces() const { return namespaces_; }
  size_t shapes() const { return shapes_.size(); }
  size_t counters() const { return counters_.size(); }

 private:
  struct ShapePods {
    ShapePtr shape;
    size_t pods = 0;
    // Where it is filed, and as which of the shapes there.
    struct Filed {
      LabelPlaceId place;
      size_t position;
    };
    absl::InlinedVector<Filed, 8> filed;
    PodsByRow rows;
    absl::InlinedVector<PodCounter*, 2> counters;  // that count it
  };

  struct FiledShape {
    ShapePods* shape;
    size_t filing;  // its number among those of the shape
  };
  using Place = absl::InlinedVector<FiledShape, 1>;

  void Change(const PodInfo& pod, int sign);
  void File(ShapePods& shape);
  void Unfile(ShapePods& shape);
  ShapePods& ShapeOf(const PodInfo& pod);
  void DropShape(ShapePods& shape);
  PodCounter& CounterFor(std::vector<PodSelector> selectors);
  void CountExisting(PodCounter& counter);
  void DropUnused();

  const NodeTable& nodes_;
  const NamespaceCache& namespaces_;
  absl::flat_hash_map<uint32_t, std::unique_ptr<ShapePods>> shapes_;  // by shape id
  absl::flat_hash_map<LabelPlaceId, Place> places_;
  std::vector<std::unique_ptr<PodCounter>> counters_;
  StringMap<PodCounter*> counters_by_key_;
  SelectorIndex selectors_;  // ids are places in counters_
  size_t counts_ = 0;        // of all counters
  size_t drop_at_ = 256;
};

}  // namespace koord::scheduler
