#include "scheduler/plugins/scarce_resource_avoidance/scarce_resource_avoidance.h"

#include <algorithm>

namespace koord::scheduler {
namespace {

struct ScarceState final : PluginState {
  std::vector<int64_t> scores;  // by set of resources
  uint64_t version = 0;         // of the sets
};

}  // namespace

ScarceResourceAvoidance::ScarceResourceAvoidance(const PluginContext& context,
                                                 const ScarceResourceAvoidanceArgs& args)
    : nodes_(context.nodes()) {
  for (const std::string& name : args.resources) {
    scarce_.push_back(context.ledger.resources().Intern(name));
  }
  for (NodeRow row{0}; row < nodes_.rows(); ++row) {
    if (nodes_.IsLive(row)) OnNodeAdded(row);
  }
  context.ledger.AddListener(*this);
}

std::unique_ptr<PluginState> ScarceResourceAvoidance::Compile(const PodShape&) {
  return std::make_unique<ScarceState>();
}

int64_t ScarceResourceAvoidance::ScoreOf(const ResourceSet& set, const PodShape& shape) const {
  int64_t beyond = 0;
  int64_t scarce = 0;
  for (const ResourceId id : set) {
    if (AmountOf(shape.requests, id) > 0) continue;
    ++beyond;
    scarce += std::ranges::find(scarce_, id) != scarce_.end() ? 1 : 0;
  }
  return beyond == 0 ? kMaxScore : (beyond - scarce) * kMaxScore / beyond;
}

const std::vector<int64_t>& ScarceResourceAvoidance::ScoresOfSets(const PodQuery& query) const {
  auto& state = query.state<ScarceState>(slot());
  if (state.version == version_) return state.scores;
  state.version = version_;
  state.scores.clear();
  for (const ResourceSet& set : sets_) state.scores.push_back(ScoreOf(set, query.shape()));
  return state.scores;
}

std::optional<int64_t> ScarceResourceAvoidance::SameForAll(const PodQuery& query) {
  const std::vector<int64_t>& scores = ScoresOfSets(query);
  std::optional<int64_t> same;
  for (size_t set = 0; set < scores.size(); ++set) {
    if (rows_of_set_[set] == 0) continue;
    if (same && *same != scores[set]) return {};
    same = scores[set];
  }
  return same;
}

void ScarceResourceAvoidance::Score(const PodQuery& query, RowRange rows, int64_t* scores) {
  const int64_t* score_of_set = ScoresOfSets(query).data();
  const uint32_t* sets = set_of_row_.data();
  const auto end = std::min(rows.end, static_cast<NodeRow>(set_of_row_.size()));
  for (NodeRow row = rows.begin; row < end; ++row) {
    scores[row - rows.begin] = score_of_set[sets[row]];
  }
  // Rows that never had a node.
  for (NodeRow row = std::max(rows.begin, end); row < rows.end; ++row) scores[row - rows.begin] = 0;
}

uint32_t ScarceResourceAvoidance::Use(ResourceSet set) {
  uint32_t id;
  if (const auto known = ids_.find(set); known != ids_.end()) {
    id = known->second;
  } else if (!free_sets_.empty()) {
    id = free_sets_.back();
    free_sets_.pop_back();
  } else {
    id = static_cast<uint32_t>(sets_.size());
    sets_.emplace_back();
    rows_of_set_.push_back(0);
  }
  if (rows_of_set_[id]++ != 0) return id;
  ids_.emplace(set, id);
  sets_[id] = std::move(set);
  ++version_;
  return id;
}

void ScarceResourceAvoidance::Release(NodeRow row) {
  if (row >= has_set_.size() || !has_set_[row]) return;
  has_set_[row] = 0;
  const uint32_t id = set_of_row_[row];
  if (--rows_of_set_[id] != 0) return;
  ids_.erase(sets_[id]);
  free_sets_.push_back(id);
}

void ScarceResourceAvoidance::OnNodeAdded(NodeRow row) {
  ResourceSet set;
  for (const ResourceAmount& each : nodes_.offers(row)) {
    if (each.amount > 0) set.push_back(each.id);
  }
  const uint32_t id = Use(std::move(set));
  Release(row);
  if (row >= set_of_row_.size()) {
    set_of_row_.resize(row + 1, id);
    has_set_.resize(row + 1, 0);
  }
  set_of_row_[row] = id;
  has_set_[row] = 1;
}

void ScarceResourceAvoidance::OnNodeChanged(NodeRow row, const NodeChanges& changes) {
  if (changes.allocatable) OnNodeAdded(row);
}

void ScarceResourceAvoidance::OnNodeRemoved(NodeRow row) { Release(row); }

}  // namespace koord::scheduler
