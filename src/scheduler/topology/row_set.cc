#include "scheduler/topology/row_set.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "scheduler/topology/row_passes.h"

namespace koord::scheduler {
namespace {

const std::optional<kube::NodeSelector>& RequiredAffinity(const kube::PodSpec& pod) {
  static const std::optional<kube::NodeSelector> kNone;
  if (!pod.affinity || !pod.affinity->node_affinity) return kNone;
  return pod.affinity->node_affinity->required;
}

std::string TextOf(const std::vector<kube::NodeSelectorRequirement>& requirements) {
  std::string text;
  for (const auto& each : requirements) {
    text += fmt::format("{:?} {:?}", each.key, each.op);
    for (const std::string& value : each.values) text += fmt::format(" {:?}", value);
    text += ",";
  }
  return text;
}

}  // namespace

bool NodeCriteria::empty() const {
  return keys.empty() && tolerated_by == nullptr &&
         (selected_by == nullptr ||
          (selected_by->node_selector.empty() && !RequiredAffinity(*selected_by)));
}

std::string NodeCriteria::Key() const {
  std::string text = fmt::format("{}\n", fmt::join(keys, "\n"));
  if (selected_by != nullptr) {
    for (const auto& [key, value] : selected_by->node_selector) {
      text += fmt::format("{:?}={:?},", key, value);
    }
    if (const auto& required = RequiredAffinity(*selected_by)) {
      text += "affinity ";
      for (const kube::NodeSelectorTerm& term : required->node_selector_terms) {
        text +=
            fmt::format("({}fields {})", TextOf(term.match_expressions), TextOf(term.match_fields));
      }
    }
  }
  if (tolerated_by != nullptr) {
    text += "\ntolerations ";
    for (const kube::Toleration& each : tolerated_by->tolerations) {
      text += fmt::format("{:?} {:?} {:?} {:?},", each.key, each.op, each.value, each.effect);
    }
  }
  return text;
}

RowSet::RowSet(const NodeTable& nodes, const NodeCriteria& criteria)
    : nodes_(nodes), keys_(criteria.keys) {
  if (criteria.selected_by != nullptr) {
    node_selector_ = criteria.selected_by->node_selector;
    affinity_ = RequiredAffinity(*criteria.selected_by);
  }
  if (criteria.tolerated_by != nullptr) tolerations_ = criteria.tolerated_by->tolerations;
}

void RowSet::Refresh() {
  if (topology_version_ == nodes_.topology_version()) {
    rows_.resize(nodes_.rows(), 0);  // rows without a node come without further notice
    return;
  }
  topology_version_ = nodes_.topology_version();
  rows_.assign(nodes_.live(), nodes_.live() + nodes_.rows());
  for (const std::string& key : keys_) {
    DropWhereMissing(nodes_.Label(key)->data(), rows_.size(), rows_.data());
  }
  DropUnselected();
  if (tolerations_) DropUntolerated();
}

void RowSet::DropUnselected() {
  for (const auto& [key, value] : node_selector_) {
    DropUnmatched({.key = key, .op = "In", .values = {value}}, rows_);
  }
  if (!affinity_) return;
  Flags any(rows_.size(), 0);
  for (const kube::NodeSelectorTerm& term : affinity_->node_selector_terms) {
    const Flags rows = RowsOf(term);
    for (size_t row = 0; row < any.size(); ++row) any[row] |= rows[row];
  }
  for (size_t row = 0; row < any.size(); ++row) rows_[row] &= any[row];
}

RowSet::Flags RowSet::RowsOf(const kube::NodeSelectorTerm& term) const {
  const bool says_nothing = term.match_expressions.empty() && term.match_fields.empty();
  Flags rows(rows_.size(), says_nothing ? 0 : 1);
  for (const auto& each : term.match_expressions) DropUnmatched(each, rows);
  for (const auto& each : term.match_fields) DropUnnamed(each, rows);
  return rows;
}

// What holds depends on the label's value alone, and nodes share values.
void RowSet::DropUnmatched(const kube::NodeSelectorRequirement& requirement, Flags& rows) const {
  const LabelPtr held = nodes_.Label(requirement.key);
  const LabelColumn& column = *held;
  std::vector<int32_t> holds(column.values(), 0);
  if (requirement.op == "In" || requirement.op == "NotIn") {
    const int32_t listed = requirement.op == "In" ? 1 : 0;
    std::ranges::fill(holds, 1 - listed);
    for (const std::string& value : requirement.values) {
      if (const ValueId id = column.Find(value); id != kNoValue) holds[id] = listed;
    }
  } else {
    holds[kNoValue] = kube::Matches(requirement, kube::Labels()) ? 1 : 0;
    for (ValueId id = 1; id < holds.size(); ++id) {
      holds[id] = kube::Matches(requirement, {{requirement.key, column.ValueOf(id)}}) ? 1 : 0;
    }
  }
  DropWhereZero(column.data(), holds.data(), rows.size(), rows.data());
}

void RowSet::DropUnnamed(const kube::NodeSelectorRequirement& field, Flags& rows) const {
  const bool in = field.op == "In";
  if (field.key != "metadata.name" || (!in && field.op != "NotIn")) {
    std::ranges::fill(rows, 0);
    return;
  }
  Flags named(rows.size(), in ? 0 : 1);
  for (const std::string& name : field.values) {
    if (const auto row = nodes_.Find(name)) named[*row] = in ? 1 : 0;
  }
  for (size_t row = 0; row < rows.size(); ++row) rows[row] &= named[row];
}

void RowSet::DropUntolerated() {
  Flags tolerated(nodes_.taint_set_count());
  for (TaintSetId set = 0; set < tolerated.size(); ++set) {
    tolerated[set] = kube::FindUntolerated(nodes_.taints(set), *tolerations_) == nullptr ? 1 : 0;
  }
  for (size_t row = 0; row < rows_.size(); ++row) rows_[row] &= tolerated[nodes_.taint_sets()[row]];
}

std::shared_ptr<RowSet> RowSets::For(const NodeCriteria& criteria) {
  if (criteria.empty()) return nullptr;
  if (sets_.size() >= drop_at_) {
    absl::erase_if(sets_, [](const auto& entry) { return entry.second.use_count() == 1; });
    drop_at_ = std::max<size_t>(64, 2 * sets_.size());
  }
  std::shared_ptr<RowSet>& set = sets_[criteria.Key()];
  if (set == nullptr) set = std::make_shared<RowSet>(nodes_, criteria);
  return set;
}

}  // namespace koord::scheduler
