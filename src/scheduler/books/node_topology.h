#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/node_annotations.h"
#include "api/node_resource_topology.h"
#include "base/cpu_set.h"
#include "base/string_map.h"
#include "model/cpu/cpu_topology.h"
#include "model/numa/numa_hints.h"
#include "scheduler/cluster/holdings.h"
#include "scheduler/cluster/resource_names.h"

namespace koord::scheduler {

// What a node is made of, as its NodeResourceTopology says. Parts of that which make no sense count
// as absent; the others still apply.
struct NodeTopology {
  std::shared_ptr<const model::CpuTopology> cpus;  // never null; empty: unknown
  CpuSet reserved;  // for the system, or pinned by the kubelet: never given to pods
  // What each NUMA node has, by number, less the reserved CPUs.
  std::vector<Holdings::Zone> zones;
  model::NumaPolicy policy = model::NumaPolicy::kNone;  // the kubelet's
  api::KubeletCpuManagerPolicy kubelet;
  std::optional<api::AmplificationRatios> ratios;  // the amounts of zones are amplified by these
  ResourceHold names;                              // of the amounts

  bool valid() const { return !cpus->empty(); }
};

// Reads them. The nodes of a cluster are of few kinds, so their CPUs are kept once for each kind.
class NodeTopologyReader {
 public:
  explicit NodeTopologyReader(ResourceNames& resources) : resources_(resources) {}

  std::shared_ptr<const NodeTopology> Read(const api::NodeResourceTopology& object);
  size_t kinds() const { return kinds_.size(); }

 private:
  std::shared_ptr<const model::CpuTopology> CpusOf(const kube::Annotations& annotations);

  ResourceNames& resources_;
  StringMap<std::weak_ptr<const model::CpuTopology>> kinds_;  // by annotation
};

}  // namespace koord::scheduler
