#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kube/objects/node.h"
#include "kube/objects/pod.h"
#include "kube/objects/resource_list.h"

namespace koord::localcluster {

// What is taken on a node.
struct NodeUse {
  kube::ResourceList requested;
  int64_t pods = 0;
};

using NodeUses = std::map<std::string, NodeUse, std::less<>>;

struct NodeChoice {
  std::string node;     // empty: none fits
  std::string message;  // then: "0/3 nodes are available: 1 Insufficient cpu, ..."
};

// Of the nodes that a pod may run on (its selector and affinity, their taints, what is free), the
// one with the largest free share of CPU and memory afterwards; then with the fewest pods; then the
// first by name.
NodeChoice ChooseNode(const kube::Pod& pod,
                      const std::vector<std::shared_ptr<const kube::Node>>& nodes,
                      const NodeUses& uses);

}  // namespace koord::localcluster
