#pragma once
#include <cstdint>
#include <optional>

#include "api/node_annotations.h"
#include "kube/objects/node.h"
#include "model/cpu/cpu_accumulator.h"
#include "model/numa/numa_hints.h"
#include "scheduler/books/node_topology.h"

namespace koord::scheduler {

// What a node demands of all pods that come to it, from its labels and annotations and from its
// kubelet.
struct NodeRules {
  std::optional<model::CpuBindPolicy> bind;  // required of every pod that asks for cpu
  model::NumaPolicy policy = model::NumaPolicy::kNone;
  std::optional<model::NumaAllocateStrategy> strategy;
  double node_cpu_ratio = 1;             // of the Node
  double cpu_ratio = 1;                  // of the topology if that has one, else of the Node
  bool ratios_are_bad = false;           // of the Node
  api::AmplificationRatios zone_ratios;  // by which the amounts of zones are to be amplified

  // Pods that ask for nothing special need not be looked at.
  bool plain() const {
    return !bind && policy == model::NumaPolicy::kNone && node_cpu_ratio <= 1 && cpu_ratio <= 1 &&
           !ratios_are_bad;
  }
};

NodeRules NodeRulesOf(const kube::Node& node, const NodeTopology* topology);

// Rounded up; ratios up to 1 change nothing.
int64_t Amplified(int64_t amount, double ratio);

}  // namespace koord::scheduler
