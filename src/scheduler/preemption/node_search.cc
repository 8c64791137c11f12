#include "scheduler/preemption/node_search.h"

#include <algorithm>

namespace koord::scheduler {
namespace {

constexpr size_t kKeptShapes = 16;

}  // namespace

size_t CandidateCount::Of(size_t nodes) const {
  const size_t share = nodes * static_cast<size_t>(percent) / 100;
  return std::min(nodes, std::max(share, static_cast<size_t>(at_least)));
}

NodeSearch::Kept& NodeSearch::SlotFor(const PodShape& shape) {
  if (kept_.size() >= kKeptShapes && !kept_.contains(shape.id)) {  // its buffers are used again
    const auto oldest =
        std::ranges::min_element(kept_, {}, [](const auto& entry) { return entry.second.used; });
    Kept reused = std::move(oldest->second);
    reused.shown.clear();
    kept_.erase(oldest);
    kept_.emplace(shape.id, std::move(reused));
  }
  return kept_[shape.id];
}

NodeSearch::Kept& NodeSearch::KeptFor(PodQuery& query, const kube::Pod& pod) {
  Kept& kept = SlotFor(query.shape());
  kept.used = ++uses_;
  const NodeTable& nodes = context_.nodes();
  const auto changed = nodes.ChangedSince(kept.log_position);
  const uint64_t rows_version = context_.handle->RowsVersion(query);
  const uint64_t rules_version = rules_.VersionFor(query.shape());
  const bool known = changed && !kept.shown.empty() && kept.budgets == runs_.budgets_version() &&
                     rows_version != 0 && kept.rows_version == rows_version && rules_version != 0 &&
                     kept.rules_version == rules_version;
  if (known) {
    kept.shown.resize(nodes.rows(), Shown::kNothing);
    for (const NodeRow row : *changed) kept.shown[row] = Shown::kNothing;
  } else {
    kept.shown.assign(nodes.rows(), Shown::kNothing);
  }
  kept.costs.resize(nodes.rows());
  if (kept.promised) kept.shown[*kept.promised] = Shown::kNothing;
  kept.promised = nodes.Find(context_.handle->NominatedNodeOf(pod));
  if (kept.promised) kept.shown[*kept.promised] = Shown::kNothing;
  kept.log_position = nodes.log_end();
  kept.budgets = runs_.budgets_version();
  kept.rows_version = rows_version;
  kept.rules_version = rules_version;
  runs_.Begin(query, *context_.handle);
  return kept;
}

// What was shown before stands; that a row costs more than the least, while it does.
void NodeSearch::Try(Kept& kept, NodeRow row, const PreemptionCost* least) {
  const bool known = kept.shown[row] == Shown::kHelpsForMore
                         ? least != nullptr && order_.stays_dearer(kept.costs[row], *least)
                         : kept.shown[row] != Shown::kNothing;
  if (known) return;
  const std::optional<DryRuns::Trial> trial = runs_.Try(row, least);
  kept.shown[row] = Shown::kHelpsNot;
  if (!trial) return;
  kept.shown[row] = trial->is_part ? Shown::kHelpsForMore : Shown::kHelps;
  kept.costs[row] = trial->cost;
}

NodeSearch::Found NodeSearch::Run(const kube::Pod& pod, PodQuery& query,
                                  const std::vector<NodeRow>& rows, Costs costs) {
  Found found;
  kept_now_ = nullptr;
  const size_t wanted = wanted_.Of(rows.size());
  const size_t start = rows.empty() ? 0 : context_.random.Below(rows.size());
  const auto row_at = [&](size_t i) { return rows[(start + i) % rows.size()]; };
  bool keeps_budgets = false;
  const PreemptionCost* least = nullptr;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (found.candidates.size() >= wanted && keeps_budgets) break;
    const NodeRow row = row_at(i);
    if (!HasVictims(row, query.shape())) {
      ++found.without_victims;
      continue;
    }
    if (kept_now_ == nullptr) kept_now_ = &KeptFor(query, pod);
    Kept& kept = *kept_now_;
    constexpr size_t kSoon = 4;
    if (kept.shown[row_at(i + kSoon)] == Shown::kNothing) runs_.Prefetch(row_at(i + kSoon));
    Try(kept, row, costs == Costs::kLeast ? least : nullptr);
    found.tried.push_back(row);
    if (kept.shown[row] != Shown::kHelps && kept.shown[row] != Shown::kHelpsForMore) continue;
    found.candidates.push_back(row);
    const PreemptionCost& cost = kept.costs[row];
    if (kept.shown[row] == Shown::kHelps && (least == nullptr || order_.is_cheaper(cost, *least))) {
      least = &cost;
    }
    keeps_budgets = keeps_budgets || cost.violations == 0;
  }
  return found;
}

const RowVerdict& NodeSearch::WhyNot(NodeRow row) {
  Kept& kept = *kept_now_;
  kept.verdicts.resize(context_.nodes().rows());
  if (kept.shown[row] != Shown::kHelpsNotAndWhy) kept.verdicts[row] = runs_.WhyNot(row);
  kept.shown[row] = Shown::kHelpsNotAndWhy;
  return kept.verdicts[row];
}

}  // namespace koord::scheduler
