#pragma once
#include <string>
#include <vector>

#include "base/string_map.h"
#include "kube/events/event_recorder.h"
#include "kube/objects/node.h"
#include "manager/noderesource/node_decision.h"

namespace koord::manager {

// What labels and annotations of the node ask for and cannot be done, a sentence each.
std::vector<std::string> ProblemsOf(const kube::Node& node);
// Of these what is about amplification ratios that can be read.
std::vector<std::string> AmplificationProblemsOf(const kube::Node& node);

// Tells users, in events of the nodes and in the log, why nodes are not as they were asked to be:
// once, until something about it changes. What is wrong with very many nodes has one cause, and is
// told of the first of them.
class NodeProblems {
 public:
  static constexpr int kMostNodes = 20;

  explicit NodeProblems(kube::EventRecorder& events) : events_(events) {}

  // Everything that is wrong with the node now.
  void Set(const kube::Node& node, const std::vector<NodeDecision::Failure>& failures);
  void Forget(const std::string& node);

 private:
  void Tell(const kube::Node& node, const std::string& problem);

  kube::EventRecorder& events_;
  StringMap<std::vector<std::string>> problems_;  // by node
  StringMap<int> nodes_;                          // by problem
};

}  // namespace koord::manager
