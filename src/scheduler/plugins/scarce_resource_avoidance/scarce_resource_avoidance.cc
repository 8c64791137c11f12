#include "scheduler/plugins/scarce_resource_avoidance/scarce_resource_avoidance.h"

#include <algorithm>

namespace koord::scheduler {
namespace {

struct ScarceState final : PluginState {
  std::vector<int64_t> scores;  // by set of resources
};

}  // namespace

ScarceResourceAvoidance::ScarceResourceAvoidance(const PluginContext& context,
                                                 const ScarceResourceAvoidanceArgs& args)
    : nodes_(context.nodes()), resources_(context.ledger.resources()) {
  for (const std::string& name : args.resources) {
    scarce_.push_back(context.ledger.resources().Intern(name));
  }
  for (NodeRow row = 0; row < nodes_.rows(); ++row) {
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
  auto& known = query.state<ScarceState>(slot()).scores;
  while (known.size() < sets_.size()) {
    known.push_back(ScoreOf(sets_[known.size()], query.shape()));
  }
  return known;
}

std::optional<int64_t> ScarceResourceAvoidance::SameForAll(const PodQuery& query) {
  const std::vector<int64_t>& scores = ScoresOfSets(query);
  if (scores.empty() ||
      std::ranges::count(scores, scores.front()) != static_cast<ptrdiff_t>(scores.size())) {
    return {};
  }
  return scores.front();
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

void ScarceResourceAvoidance::OnNodeAdded(NodeRow row) {
  ResourceSet set;
  for (size_t id = 0; id < resources_.size(); ++id) {
    const auto resource = static_cast<ResourceId>(id);
    if (nodes_.allocatable(resource)[row] > 0) set.push_back(resource);
  }
  const auto [at, is_new] = ids_.try_emplace(set, static_cast<uint32_t>(sets_.size()));
  if (is_new) sets_.push_back(std::move(set));
  if (row >= set_of_row_.size()) set_of_row_.resize(row + 1, at->second);
  set_of_row_[row] = at->second;
}

void ScarceResourceAvoidance::OnNodeChanged(NodeRow row, const NodeChanges& changes) {
  if (changes.allocatable) OnNodeAdded(row);
}

}  // namespace koord::scheduler
