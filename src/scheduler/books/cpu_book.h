#pragma once
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "model/cpu/cpu_accumulator.h"
#include "scheduler/books/node_topology.h"
#include "scheduler/cluster/ledger.h"
#include "scheduler/cluster/object_cache.h"

namespace koord::scheduler {

// How a pod would rather not share the CPUs that it holds.
model::CpuExclusivePolicy ExclusivePolicyOf(const kube::Pod& pod);

// What each node is made of, and which CPUs and how much of which NUMA node its pods hold: facts as
// the ledger and the NodeResourceTopologies have them. What pods hold is kept whatever is known of
// their node at the time, so that no CPU is given twice when its topology comes late or comes back.
class CpuBook final : private LedgerListener {
 public:
  // How many CPUs could be given out: any of them; on cores that are wholly free; one of each core.
  struct FreeCounts {
    int64_t any = 0;
    int64_t whole_cores = 0;
    int64_t cores = 0;

    bool operator==(const FreeCounts&) const = default;
  };
  struct Row {
    std::shared_ptr<const NodeTopology> topology;  // null: the node has none
    model::CpuOccupancy occupancy;
    std::vector<Holdings::Zone> held;  // by NUMA node
    FreeCounts free;

    bool valid() const { return topology != nullptr && topology->valid(); }
    // None while it is not known which CPUs there are.
    CpuSet FreeCpus() const;
    void Add(const PodInfo& pod);
    void Remove(const PodInfo& pod);
  };

  // `topologies` are watched only if somebody needs them.
  CpuBook(Ledger& ledger, ObjectCache<api::NodeResourceTopology>& topologies);
  CpuBook(const CpuBook&) = delete;
  CpuBook& operator=(const CpuBook&) = delete;

  const Row& row(NodeRow row) const { return rows_[row]; }
  // The same with pods removed and added.
  Row With(NodeRow row, std::span<const PodInfo* const> removed,
           std::span<const PodInfo* const> added) const;

 private:
  void OnNodeAdded(NodeRow row) override;
  void OnNodeRemoved(NodeRow row) override;
  void OnPodAdded(const PodInfo& pod) override;
  void OnPodRemoved(const PodInfo& pod) override;
  void OnTopology(const std::shared_ptr<const api::NodeResourceTopology>& before,
                  const std::shared_ptr<const api::NodeResourceTopology>& after);
  void SetTopology(NodeRow row, const api::NodeResourceTopology* object);
  void GrowTo(size_t rows);
  static void Count(Row& row);

  Ledger& ledger_;
  const ObjectCache<api::NodeResourceTopology>& topologies_;
  NodeTopologyReader reader_;
  std::vector<Row> rows_;
};

}  // namespace koord::scheduler
