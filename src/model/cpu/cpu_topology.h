#pragma once
#include <cstdint>
#include <iterator>
#include <vector>

#include "api/node_annotations.h"
#include "base/cpu_set.h"
#include "base/status.h"

namespace koord::model {

// A logical CPU, and where it is.
struct Processor {
  int32_t cpu = 0;
  int32_t core = 0;  // no two cores of a machine have the same
  int32_t socket = 0;
  int32_t node = 0;  // NUMA
  int32_t l3 = 0;    // the cache that it shares; 0 where nobody tells
  bool operator==(const Processor&) const = default;
};

// The processors of a machine: its sockets, NUMA nodes, cores and threads. koordlet reads them from
// the kernel and publishes them, the scheduler reads what koordlet has published.
class CpuTopology {
 public:
  CpuTopology() = default;  // of a machine of which nothing is known
  // Of processors with the same number the last one counts, and those whose number is no CPU's do
  // not (see CpuSet::kMaxCpus).
  CpuTopology(std::vector<Processor> processors);

  // There the numbers of cores may repeat in each socket; here they do not.
  static StatusOr<CpuTopology> FromAnnotation(const api::CpuTopology& annotation);
  api::CpuTopology ToAnnotation() const;  // by CPU

  bool empty() const { return processors_.empty(); }
  // By node, socket, core and CPU.
  const std::vector<Processor>& processors() const { return processors_; }
  const CpuSet& cpus() const { return cpus_; }
  const Processor* Find(int32_t cpu) const;  // null: there is no such CPU
  CpuSet CpusOfNode(int32_t node) const;

  // A core, a NUMA node or a socket. Those of a kind stand by ascending number, and are known by
  // their place among them.
  struct Unit {
    int32_t id = 0;
    CpuSet cpus;
  };
  struct Place {
    uint32_t core = 0;
    uint32_t node = 0;
    uint32_t socket = 0;
  };
  const std::vector<Unit>& cores() const { return cores_; }
  const std::vector<Unit>& nodes() const { return nodes_; }
  const std::vector<Unit>& sockets() const { return sockets_; }
  // Of a CPU that there is; of any of its CPUs, for where a unit is.
  const Place& PlaceOf(int32_t cpu) const { return places_[index_of_cpu_[cpu]]; }
  const Place& PlaceOf(const Unit& unit) const { return PlaceOf(*unit.cpus.begin()); }

  int64_t core_count() const { return std::ssize(cores_); }
  int64_t node_count() const { return std::ssize(nodes_); }
  int64_t socket_count() const { return std::ssize(sockets_); }
  // On average, rounded down; 0 for a machine of which nothing is known. A NUMA node that spans
  // sockets counts once in each of them.
  int64_t cpus_per_core() const { return PerUnit(core_count()); }
  int64_t cpus_per_node() const { return PerUnit(node_part_count_); }
  int64_t cpus_per_socket() const { return PerUnit(socket_count()); }

  bool operator==(const CpuTopology& other) const { return processors_ == other.processors_; }

 private:
  int64_t PerUnit(int64_t units) const {
    return units == 0 ? 0 : static_cast<int64_t>(processors_.size()) / units;
  }

  std::vector<Processor> processors_;
  std::vector<uint32_t> index_of_cpu_;  // into processors_; beyond them: there is no such CPU
  std::vector<Place> places_;           // of processors_
  std::vector<Unit> cores_;
  std::vector<Unit> nodes_;
  std::vector<Unit> sockets_;
  CpuSet cpus_;
  int64_t node_part_count_ = 0;  // of NUMA nodes in each socket
};

}  // namespace koord::model
