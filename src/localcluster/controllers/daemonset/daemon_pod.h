#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "kube/json.h"
#include "kube/objects/node.h"
#include "kube/objects/pod.h"
#include "kube/objects/workloads.h"

namespace koord::localcluster {

// Whether a node is one for the daemon: a new pod may start there, and one that is there may stay.
struct NodeVerdict {
  bool start = false;
  bool stay = false;
};

// What a daemon asks of nodes: its template's selector and affinity, and its tolerations together
// with those that all daemons have (nodes that are not ready, unreachable, short of something, or
// cordoned do not drive daemons away).
class DaemonRequirements {
 public:
  // A template that cannot be read fits no node.
  explicit DaemonRequirements(const kube::Json& pod_template);
  NodeVerdict Judge(const kube::Node& node) const;

 private:
  bool readable_ = false;
  kube::PodSpec spec_;
};

// The daemon's pod for that node. It names the node in its affinity, so that the scheduler places
// it there and nowhere else.
kube::Json DaemonPod(const kube::DaemonSet& set, const std::string& revision_hash,
                     std::string_view node);

// The node a daemon's pod is on or meant for; empty if neither can be told.
std::string NodeOf(const kube::Pod& pod);

}  // namespace koord::localcluster
