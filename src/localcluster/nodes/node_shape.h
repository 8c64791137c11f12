#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace koord::localcluster {

// What a simulated machine is made of, as a user writes it on the command line:
//
//   cpu=32,memory=128Gi,numa=2,smt=2,gpu=0
//
//   cpu       logical processors, spread evenly over the NUMA nodes
//   memory    a quantity, likewise
//   smt       hardware threads a core (default 2 where the processors allow it)
//   numa      NUMA nodes in all (default 2 for 16 processors and more)
//   sockets   processor packages (default: one per NUMA node)
//   gpu       cards; gpu-memory (a quantity) and gpu-model say which
//   pods      how many pods the node takes
//   zone      topology.kubernetes.io/zone; several as a;b;c take turns
//   labels    further labels as key=value;key=value
//   taints    as key=value:Effect;key:Effect
//   count     how many nodes have this shape (default: shapes without a count share the rest)
struct NodeShape {
  struct Taint {
    std::string key, value, effect;
    bool operator==(const Taint&) const = default;
  };

  int64_t cpus = 32;
  int64_t memory = int64_t{128} << 30;  // bytes
  int64_t smt = 2;
  int64_t numa = 2;
  int64_t sockets = 2;
  int64_t gpus = 0;
  int64_t gpu_memory = int64_t{80} << 30;  // bytes a card
  std::string gpu_model = "A100-SXM4-80GB";
  int64_t pods = 110;
  std::vector<std::string> zones;
  std::map<std::string, std::string> labels;
  std::vector<Taint> taints;
  int64_t count = 0;  // 0: its share of the rest

  bool operator==(const NodeShape&) const = default;
};

// An error names the key and says what was expected.
StatusOr<NodeShape> ParseNodeShape(std::string_view text);

// One machine of the cluster to be.
struct PlannedNode {
  std::string name;
  NodeShape shape;
  std::string zone;  // empty if the shape has none

  bool operator==(const PlannedNode&) const = default;
};

// `total` nodes called node-0, node-1, ... (all numbers of the same width, so that they sort):
// shapes with a count first take theirs, the others share the rest in turn. No shapes means the
// default one. An error if the counts exceed the total.
StatusOr<std::vector<PlannedNode>> PlanNodes(int64_t total, std::span<const NodeShape> shapes);

}  // namespace koord::localcluster
