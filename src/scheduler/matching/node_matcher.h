#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kube/objects/node_affinity.h"
#include "kube/objects/pod.h"
#include "scheduler/cluster/node_table.h"

// Selectors of nodes, compiled for the table: what a label's value must be is looked up once a
// value, not once a node. They mean what kube::Matches means, and notice by themselves when values
// or nodes come along that were not there when they were compiled.
namespace koord::scheduler {

// A requirement about one label.
class LabelTest {
 public:
  LabelTest(const NodeTable& nodes, kube::NodeSelectorRequirement requirement);

  // keep[i] &= whether it holds for row rows.begin + i.
  void Narrow(RowRange rows, uint8_t* keep);

 private:
  bool NamesValues() const { return requirement_.op == "In" || requirement_.op == "NotIn"; }
  void LookAtValues();

  kube::NodeSelectorRequirement requirement_;
  LabelPtr column_;
  bool wants_one_value_;  // In, with a single one
  ValueId wanted_ = kNoValue;
  std::vector<uint8_t> holds_;  // by value; kNoValue: the label is not there
  uint64_t version_ = 0;        // of the column's values
};

// A requirement about metadata.name, the only field that may be asked for.
class NameTest {
 public:
  NameTest(const NodeTable& nodes, kube::NodeSelectorRequirement requirement);

  void Narrow(RowRange rows, uint8_t* keep);

 private:
  void FindRows();

  kube::NodeSelectorRequirement requirement_;
  const NodeTable* nodes_;
  uint64_t found_at_ = 0;      // the table's topology version
  std::vector<NodeRow> rows_;  // ascending
};

// All requirements of a term hold; one without any holds nowhere.
class NodeTermMatcher {
 public:
  NodeTermMatcher(const NodeTable& nodes, const kube::NodeSelectorTerm& term);

  void Narrow(RowRange rows, uint8_t* keep);

 private:
  std::vector<LabelTest> labels_;
  std::vector<NameTest> names_;
};

// What a pod requires of its node: every pair of its nodeSelector, and one of the terms of its
// required node affinity.
class NodeMatcher {
 public:
  // Without pairs and selector it matches every node.
  NodeMatcher(const NodeTable& nodes, const kube::Labels& pairs,
              const kube::NodeSelector* selector);
  static NodeMatcher OfPod(const NodeTable& nodes, const kube::PodSpec& pod);

  void Narrow(RowRange rows, uint8_t* keep);
  bool Matches(NodeRow row);
  bool matches_all() const { return pairs_.empty() && !terms_; }

 private:
  std::vector<LabelTest> pairs_;
  std::optional<std::vector<NodeTermMatcher>> terms_;
};

// Its required node affinity; null if it has none.
const kube::NodeSelector* RequiredNodeAffinity(const kube::PodSpec& pod);

}  // namespace koord::scheduler
