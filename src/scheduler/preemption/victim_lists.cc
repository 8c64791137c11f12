#include "scheduler/preemption/victim_lists.h"

#include <algorithm>
#include <iterator>

namespace koord::scheduler {

WallTime StartOf(const kube::Pod& pod) { return pod.status.start_time.value_or(WallTime::max()); }

namespace {

// Kept for every pod of a row: what nearly everybody asks for.
constexpr size_t kCommon = kFirstScalarId;

bool Precedes(const Victim& a, const Victim& b) {
  if (a.priority != b.priority) return a.priority > b.priority;
  if (a.start != b.start) return a.start < b.start;
  return a.pod->uid() < b.pod->uid();
}

Victim VictimOf(const PodInfo& pod) {
  return {.pod = &pod, .start = StartOf(*pod.pod), .priority = pod.shape->priority};
}

}  // namespace

bool IsMoreImportant(const PodInfo& a, const PodInfo& b) {
  return Precedes(VictimOf(a), VictimOf(b));
}

const int64_t* VictimLists::Potential::Requests(ResourceId id, std::vector<int64_t>& buffer) const {
  if (id < kCommon) return common_ + id * stride_;
  buffer.clear();
  for (const Victim& victim : pods_) buffer.push_back(AmountOf(victim.pod->requests(), id));
  return buffer.data();
}

VictimLists::VictimLists(Ledger& ledger, DisruptionBudgets& budgets, const PreemptionRules& rules)
    : nodes_(ledger.nodes()), budgets_(budgets), rules_(rules) {
  ledger.AddListener(*this);
}

void VictimLists::Refresh(const PodQuery& preemptor) {
  query_ = &preemptor;
  preemptor_ = &preemptor.shape();
  is_choosy_ = rules_.IsChoosy(*preemptor_);
  const auto changed = nodes_.ChangedSince(position_);
  position_ = nodes_.log_end();
  rows_.resize(nodes_.rows());
  if (changed) {
    for (const NodeRow row : *changed) rows_[row].is_current = false;
  } else {
    for (Row& row : rows_) row.is_current = false;
  }
  budgets_.Refresh();
  charged_.resize(std::max(charged_.size(), budgets_.size()), 0);
}

void VictimLists::Prefetch(NodeRow at) const {
  constexpr size_t kLine = 64;
  const auto prefetch = [](const auto& list, size_t n) {
    const auto* const begin = reinterpret_cast<const char*>(list.data());
    for (size_t at = 0; at < n * sizeof(list[0]); at += kLine) __builtin_prefetch(begin + at);
  };
  const Row& row = rows_[at];
  prefetch(row.violating, row.violating.size());
  prefetch(row.common, row.pods.size() * (kMemoryId + 1));
  prefetch(row.pods, row.pods.size());
}

VictimLists::Potential VictimLists::LessImportant(NodeRow at) {
  Row& row = rows_[at];
  if (!row.is_current) Sort(at);
  if (row.pods.empty()) return {};
  size_t begin = 0;
  const int32_t priority = preemptor_->priority;
  if (row.highest_priority >= priority) {
    begin = static_cast<size_t>(
        std::ranges::partition_point(row.pods,
                                     [&](const Victim& pod) { return pod.priority >= priority; }) -
        row.pods.begin());
  }
  if (is_choosy_ || nodes_.sharing(at) != nullptr) {
    return PotentialOf(Choose(at, std::span(row.pods).subspan(begin)), 0);
  }
  return PotentialOf(row, begin);
}

bool VictimLists::IsInsideOfAnothers(const PodInfo& pod, NodeRow row) const {
  if (pod.held == nullptr || !pod.held->draws_from) return false;
  return std::ranges::any_of(nodes_.sharing(row)->pods, [&](const PodInfo* other) {
    return other->held->reserves && other->held->reserves->uid == pod.held->draws_from->uid &&
           !query_->IsAbsent(*other);
  });
}

VictimLists::Row& VictimLists::Choose(NodeRow row, std::span<const Victim> potential) {
  chosen_.pods.clear();
  const bool has_insiders = nodes_.sharing(row) != nullptr;
  std::ranges::copy_if(potential, std::back_inserter(chosen_.pods), [&](const Victim& victim) {
    if (has_insiders && IsInsideOfAnothers(*victim.pod, row)) return false;
    return !is_choosy_ || rules_.MayEvict(*preemptor_, *victim.pod);
  });
  KeepRequests(chosen_);
  chosen_.selectors_version = 0;
  return chosen_;
}

VictimLists::Potential VictimLists::PotentialOf(Row& row, size_t begin) {
  Potential potential;
  potential.pods_ = std::span(row.pods).subspan(begin);
  potential.common_ = row.common.data() + begin;
  potential.stride_ = row.pods.size();
  if (budgets_.empty()) return potential;
  if (row.selectors_version != budgets_.selectors_version()) FindGuards(row);
  if (row.guards.empty()) return potential;
  if (row.budgets_version != budgets_.version() || row.violating.size() != potential.size()) {
    FindViolations(row, potential.pods_);
  }
  if (row.any_violating) potential.violating_ = row.violating.data();
  return potential;
}

void VictimLists::Sort(NodeRow at) {
  Row& row = rows_[at];
  row.pods.clear();
  for (const PodInfo* pod : nodes_.pods(at)) {
    if (rules_.MayBeEvicted(*pod)) row.pods.push_back(VictimOf(*pod));
  }
  std::ranges::sort(row.pods, Precedes);
  KeepRequests(row);
  row.highest_priority = row.pods.empty() ? 0 : row.pods.front().priority;
  row.selectors_version = row.budgets_version = 0;
  row.is_current = true;
}

void VictimLists::KeepRequests(Row& row) {
  row.common.assign(kCommon * row.pods.size(), 0);
  for (size_t i = 0; i < row.pods.size(); ++i) {
    for (const ResourceAmount& each : row.pods[i].pod->requests()) {
      if (each.id < kCommon) row.common[each.id * row.pods.size() + i] = each.amount;
    }
  }
}

void VictimLists::FindGuards(Row& row) {
  row.selectors_version = budgets_.selectors_version();
  row.budgets_version = 0;
  row.guards.clear();
  for (Victim& victim : row.pods) {
    victim.guards = static_cast<uint32_t>(row.guards.size());
    const auto guards = budgets_.GuardsOf(*victim.pod->shape);
    row.guards.insert(row.guards.end(), guards.begin(), guards.end());
    victim.guards_end = static_cast<uint32_t>(row.guards.size());
  }
}

// Each pod in turn, the most important first, uses up what its budgets allow.
void VictimLists::FindViolations(Row& row, std::span<const Victim> potential) {
  row.budgets_version = budgets_.version();
  row.violating.assign(potential.size(), 0);
  row.any_violating = false;
  const auto guards_of = [&](const Victim& victim) {
    return std::span(row.guards).subspan(victim.guards, victim.guards_end - victim.guards);
  };
  for (size_t i = 0; i < potential.size(); ++i) {
    for (const DisruptionBudgets::Id id : guards_of(potential[i])) {
      if (budgets_.IsCharged(id, *potential[i].pod->pod)) continue;
      if (++charged_[id] <= budgets_.Allowed(id)) continue;
      row.violating[i] = 1;
      row.any_violating = true;
    }
  }
  for (const Victim& victim : potential) {
    for (const DisruptionBudgets::Id id : guards_of(victim)) charged_[id] = 0;
  }
}

void VictimLists::OnPodRefreshed(const PodInfo& pod) {
  if (pod.row >= rows_.size() || !rows_[pod.row].is_current) return;
  const auto known = std::ranges::find(rows_[pod.row].pods, &pod, &Victim::pod);
  // Whoever has kept a dry run of the row must hear of it too.
  if (known != rows_[pod.row].pods.end() && known->start != StartOf(*pod.pod)) {
    nodes_.Touch(pod.row);
  }
}

}  // namespace koord::scheduler
