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
//
// Rows are what a stranger sees: of a NUMA node the larger of what is reserved and what owners use,
// and a reserved CPU once, whether an owner has it by now or not.
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
    // Those that hold CPUs or shares of NUMA nodes and reserve or draw from reservations.
    std::vector<const PodInfo*> sharing;

    bool valid() const { return topology != nullptr && topology->valid(); }
    // None while it is not known which CPUs there are.
    CpuSet FreeCpus() const;
    // What a reservation of this row has left for further owners.
    struct Left {
      CpuSet cpus;
      std::vector<Holdings::Zone> zones;
    };
    Left LeftOf(const PodInfo& reserve_pod) const;

    // `free` is counted by Count().
    void Add(const PodInfo& pod);
    void Remove(const PodInfo& pod);
    void Count();

   private:
    void AddSharing(const PodInfo& pod, int sign);
    void Charge(const CpuSet& cpus, const std::vector<Holdings::Zone>& zones,
                model::CpuExclusivePolicy policy, int sign);
  };

  // Whether a pod holds anything that is in the book.
  static bool Holds(const PodInfo& pod) {
    return pod.held != nullptr && !(pod.held->cpus.empty() && pod.held->zones.empty());
  }

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

  Ledger& ledger_;
  const ObjectCache<api::NodeResourceTopology>& topologies_;
  NodeTopologyReader reader_;
  std::vector<Row> rows_;
};

}  // namespace koord::scheduler
