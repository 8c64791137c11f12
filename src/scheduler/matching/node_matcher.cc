#include "scheduler/matching/node_matcher.h"

#include <algorithm>
#include <array>

#include "base/hot.h"

namespace koord::scheduler {
namespace {

KOORD_HOT void KeepEqual(const ValueId* ids, ValueId wanted, size_t n, uint8_t* keep) {
  for (size_t i = 0; i < n; ++i) keep[i] &= ids[i] == wanted ? 1 : 0;
}

}  // namespace

LabelTest::LabelTest(const NodeTable& nodes, kube::NodeSelectorRequirement requirement)
    : requirement_(std::move(requirement)),
      column_(nodes.Label(requirement_.key)),
      wants_one_value_(requirement_.op == "In" && requirement_.values.size() == 1) {}

void LabelTest::LookAtValues() {
  version_ = column_->version();
  if (wants_one_value_) {
    wanted_ = column_->Find(requirement_.values.front());
    return;
  }
  if (NamesValues()) {
    const bool is_in = requirement_.op == "In";
    holds_.assign(column_->values(), is_in ? 0 : 1);
    for (const std::string& value : requirement_.values) {
      const ValueId id = column_->Find(value);
      if (id != kNoValue) holds_[id] = is_in ? 1 : 0;
    }
    return;
  }
  holds_.clear();
  for (ValueId id = 0; id < column_->values(); ++id) {
    kube::Labels labels;
    if (id != kNoValue) labels.emplace(requirement_.key, column_->ValueOf(id));
    holds_.push_back(kube::Matches(requirement_, labels) ? 1 : 0);
  }
}

void LabelTest::Narrow(RowRange rows, uint8_t* keep) {
  if (version_ != column_->version()) LookAtValues();
  const ValueId* ids = column_->data() + rows.begin;
  if (!wants_one_value_) {
    const uint8_t* holds = holds_.data();
    for (size_t i = 0; i < rows.size(); ++i) keep[i] &= holds[ids[i]];
  } else if (wanted_ != kNoValue) {
    KeepEqual(ids, wanted_, rows.size(), keep);
  } else {
    std::fill_n(keep, rows.size(), 0);
  }
}

NameTest::NameTest(const NodeTable& nodes, kube::NodeSelectorRequirement requirement)
    : requirement_(std::move(requirement)), nodes_(&nodes) {}

void NameTest::FindRows() {
  rows_.clear();
  for (const std::string& name : requirement_.values) {
    if (const auto row = nodes_->Find(name)) rows_.push_back(*row);
  }
  std::ranges::sort(rows_);
  found_at_ = nodes_->topology_version();
}

void NameTest::Narrow(RowRange rows, uint8_t* keep) {
  const bool is_in = requirement_.op == "In";
  if (requirement_.key != "metadata.name" || (!is_in && requirement_.op != "NotIn")) {
    std::fill_n(keep, rows.size(), 0);
    return;
  }
  if (found_at_ != nodes_->topology_version()) FindRows();
  auto at = std::ranges::lower_bound(rows_, rows.begin);
  for (NodeRow row = rows.begin; row < rows.end; ++row) {
    const bool named = at != rows_.end() && *at == row;
    while (at != rows_.end() && *at == row) ++at;
    keep[row - rows.begin] &= named == is_in ? 1 : 0;
  }
}

NodeTermMatcher::NodeTermMatcher(const NodeTable& nodes, const kube::NodeSelectorTerm& term) {
  for (const auto& requirement : term.match_expressions) labels_.emplace_back(nodes, requirement);
  for (const auto& requirement : term.match_fields) names_.emplace_back(nodes, requirement);
}

void NodeTermMatcher::Narrow(RowRange rows, uint8_t* keep) {
  if (labels_.empty() && names_.empty()) std::fill_n(keep, rows.size(), 0);
  for (LabelTest& test : labels_) test.Narrow(rows, keep);
  for (NameTest& test : names_) test.Narrow(rows, keep);
}

NodeMatcher::NodeMatcher(const NodeTable& nodes, const kube::Labels& pairs,
                         const kube::NodeSelector* selector) {
  for (const auto& [key, value] : pairs) {
    pairs_.emplace_back(nodes, kube::NodeSelectorRequirement{key, "In", {value}});
  }
  if (selector == nullptr) return;
  terms_.emplace();
  for (const auto& term : selector->node_selector_terms) terms_->emplace_back(nodes, term);
}

NodeMatcher NodeMatcher::OfPod(const NodeTable& nodes, const kube::PodSpec& pod) {
  return {nodes, pod.node_selector, RequiredNodeAffinity(pod)};
}

void NodeMatcher::Narrow(RowRange rows, uint8_t* keep) {
  for (LabelTest& test : pairs_) test.Narrow(rows, keep);
  if (!terms_) return;
  if (terms_->size() == 1) {
    terms_->front().Narrow(rows, keep);
    return;
  }
  constexpr uint32_t kBlock = 512;
  std::array<uint8_t, kBlock> any, one;
  for (NodeRow begin = rows.begin; begin < rows.end; begin += kBlock) {
    const RowRange block{begin, NodeRow(std::min<uint32_t>(rows.end, begin + kBlock))};
    std::fill_n(any.begin(), block.size(), 0);
    for (NodeTermMatcher& term : *terms_) {
      std::fill_n(one.begin(), block.size(), 1);
      term.Narrow(block, one.data());
      for (size_t i = 0; i < block.size(); ++i) any[i] |= one[i];
    }
    for (size_t i = 0; i < block.size(); ++i) keep[begin - rows.begin + i] &= any[i];
  }
}

bool NodeMatcher::Matches(NodeRow row) {
  uint8_t keep = 1;
  Narrow(RowRange::Only(row), &keep);
  return keep == 1;
}

const kube::NodeSelector* RequiredNodeAffinity(const kube::PodSpec& pod) {
  if (!pod.affinity || !pod.affinity->node_affinity) return nullptr;
  const auto& required = pod.affinity->node_affinity->required;
  return required ? &*required : nullptr;
}

}  // namespace koord::scheduler
