#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "kube/json.h"
#include "kube/objects/node.h"
#include "kube/objects/pod.h"

// What a cluster is doing, on one screen: for `koord up` and `koord status`.
namespace koord::localcluster {

// CPU in thousandths of a core, memory in bytes.
struct Amounts {
  int64_t cpu = 0;
  int64_t memory = 0;
};

struct NodeSummary {
  std::string name;
  bool ready = false;
  bool cordoned = false;
  int pods = 0;
  Amounts allocatable, requested, used;
};

struct PodCounts {
  int pending = 0, running = 0, succeeded = 0, failed = 0, terminating = 0;
  int total() const { return pending + running + succeeded + failed + terminating; }
};

struct Summary {
  std::vector<NodeSummary> nodes;  // by name
  PodCounts pods;
  Amounts allocatable, requested, used;  // of all nodes
  int ready_nodes() const;
};

// NodeMetric objects tell what is used; a node without one counts as using nothing.
class SummaryBuilder {
 public:
  void AddNode(const kube::Node& node);
  void AddPod(const kube::Pod& pod);
  void AddNodeMetric(const kube::Json& node_metric);
  Summary Build() &&;

 private:
  Summary summary_;
  std::vector<std::pair<std::string, Amounts>> requested_, used_;
};

// Lines of at most 80 columns: "nodes 20/20 ready", "cpu ######----  62% requested ...".
std::vector<std::string> FormatSummary(const Summary& summary);
// A table with a row a node.
std::vector<std::string> FormatNodes(const Summary& summary);
kube::Json ToJson(const Summary& summary);

}  // namespace koord::localcluster
