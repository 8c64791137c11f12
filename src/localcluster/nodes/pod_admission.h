#pragma once
#include <optional>
#include <string>

#include "base/clock.h"
#include "kube/json.h"
#include "kube/objects/node.h"
#include "kube/objects/pod.h"
#include "kube/objects/resource_list.h"

namespace koord::localcluster {

// Why a node does not take a pod that was assigned to it.
struct Rejection {
  std::string reason;  // OutOfcpu, NodeAffinity, ...
  std::string message;

  bool operator==(const Rejection&) const = default;
};

// The node's own check, as the kubelet makes it: the pod must match by selector and affinity, there
// must be room for one more, and what it asks for must be free. Vendors' resources that the node
// does not have at all are not its business.
std::optional<Rejection> CheckAdmission(const kube::Node& node, const kube::ResourceList& used,
                                        size_t pods, const kube::Pod& pod);

kube::Json RejectedStatus(const Rejection& rejection, WallTime now);

}  // namespace koord::localcluster
