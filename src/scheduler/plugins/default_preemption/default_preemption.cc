#include "scheduler/plugins/default_preemption/default_preemption.h"

#include <fmt/format.h>

#include <algorithm>

#include "scheduler/pipeline/pipeline.h"

namespace koord::scheduler {
namespace {

constexpr size_t kKeptShapes = 16;
constexpr Duration kPauseAfterError = 1s;

bool IsLeavingByPreemption(const kube::Pod& pod) {
  const kube::PodCondition* condition = FindCondition(pod.status.conditions, "DisruptionTarget");
  return IsBeingDeleted(pod.metadata) && condition != nullptr && condition->status == "True" &&
         condition->reason == "PreemptionByScheduler";
}

// Of a row: its own, that of all, or that of rows that were not looked at.
Code CodeOf(NodeRow row, const Diagnosis& diagnosis) {
  if (diagnosis.pre_filter.rejected()) return diagnosis.pre_filter.code;
  const Code own = row < diagnosis.rows.size() ? diagnosis.rows[row].verdict.code : Code::kSuccess;
  if (own != Code::kSuccess || diagnosis.absent_reason.empty()) return own;
  return Code::kUnschedulableAndUnresolvable;
}

}  // namespace

DefaultPreemption::DefaultPreemption(const PluginContext& context, DefaultPreemptionArgs args)
    : context_(context),
      args_(args),
      budgets_(context.objects.disruption_budgets),
      no_victims_(context.reasons.Intern("No preemption victims found for incoming pod")) {}

Verdict DefaultPreemption::PreEnqueue(const kube::Pod& pod) {
  if (!evicting_for_.contains(pod.metadata.uid)) return Verdict::Success();
  return Verdict::Unresolvable("waiting for the preemption for this pod to be finished");
}

bool DefaultPreemption::MightCure(const kube::Pod&, const ClusterEvent& event) {
  return event.kind == EventKind::kAssignedPodRemoved || event.kind == EventKind::kForced;
}

std::optional<std::string> DefaultPreemption::WhyNotEligible(const Attempt& attempt,
                                                             const Diagnosis& diagnosis) const {
  if (attempt.pod->spec.preemption_policy == "Never") {
    return "not eligible due to preemptionPolicy=Never.";
  }
  const std::string node = context_.handle->NominatedNodeOf(*attempt.pod);
  const auto row = context_.nodes().Find(node);
  if (!row) return {};
  if (CodeOf(*row, diagnosis) == Code::kUnschedulableAndUnresolvable) {
    return {};  // the promise is worth nothing; look for another node
  }
  for (const PodInfo* pod : context_.nodes().pods(*row)) {
    if (pod->shape->priority >= attempt.shape->priority) continue;
    const bool unseen = told_.contains(pod->uid()) && !IsBeingDeleted(pod->pod->metadata);
    if (unseen || IsLeavingByPreemption(*pod->pod)) {
      return "not eligible due to a terminating pod on the nominated node.";
    }
  }
  return {};
}

DefaultPreemption::Kept& DefaultPreemption::KeptFor(PodQuery& query, const kube::Pod& pod) {
  if (kept_.size() >= kKeptShapes && !kept_.contains(query.shape().id)) {
    kept_.erase(
        std::ranges::min_element(kept_, {}, [](const auto& entry) { return entry.second.used; }));
  }
  Kept& kept = kept_[query.shape().id];
  kept.used = ++uses_;
  const NodeTable& nodes = context_.nodes();
  const auto changed = nodes.ChangedSince(kept.log_position);
  const uint64_t rows_version = context_.handle->RowsVersion(query);
  if (!changed || kept.budgets != budgets_.version() || kept.rows.empty() || rows_version == 0 ||
      rows_version != kept.rows_version) {
    kept.rows.assign(nodes.rows(), std::nullopt);
  } else {
    kept.rows.resize(nodes.rows());
    for (const NodeRow row : *changed) kept.rows[row].reset();
  }
  if (kept.promised) kept.rows[*kept.promised].reset();
  kept.promised = nodes.Find(context_.handle->NominatedNodeOf(pod));
  if (kept.promised) kept.rows[*kept.promised].reset();
  kept.log_position = nodes.log_end();
  kept.budgets = budgets_.version();
  kept.rows_version = rows_version;
  return kept;
}

size_t DefaultPreemption::CandidatesWanted(size_t nodes) const {
  const size_t percent = nodes * static_cast<size_t>(args_.min_candidate_nodes_percentage) / 100;
  return std::min(nodes,
                  std::max(percent, static_cast<size_t>(args_.min_candidate_nodes_absolute)));
}

DefaultPreemption::Search DefaultPreemption::TryNodes(Kept& kept, PodQuery& query,
                                                      const Diagnosis& diagnosis) {
  std::vector<NodeRow> potential;
  for (NodeRow row = 0; row < diagnosis.rows.size(); ++row) {
    if (diagnosis.rows[row].verdict.code == Code::kUnschedulable) potential.push_back(row);
  }
  Search search;
  const size_t wanted = CandidatesWanted(potential.size());
  const size_t start = potential.empty() ? 0 : context_.random.Below(potential.size());
  bool keeps_budgets = false;
  for (size_t i = 0; i < potential.size(); ++i) {
    if (search.candidates.size() >= wanted && keeps_budgets) break;
    const NodeRow row = potential[(start + i) % potential.size()];
    std::optional<DryRun>& run = kept.rows[row];
    if (!run) run = TryNode(query, row, context_.nodes(), budgets_, *context_.handle, no_victims_);
    search.tried.push_back(row);
    if (!run->cost) continue;
    search.candidates.push_back(row);
    keeps_budgets = keeps_budgets || run->cost->violations == 0;
  }
  return search;
}

PostFilterResult DefaultPreemption::PostFilter(Attempt& attempt, PodQuery& query,
                                               const Diagnosis& diagnosis) {
  if (context_.handle == nullptr) return {Verdict::Unschedulable("")};
  if (const auto why = WhyNotEligible(attempt, diagnosis)) {
    return {Verdict::Unschedulable(fmt::format("preemption: {}", *why))};
  }
  Kept& kept = KeptFor(query, *attempt.pod);
  const Search search = TryNodes(kept, query, diagnosis);
  if (search.candidates.empty()) {
    return {Verdict::Unschedulable(Explain(diagnosis, search.tried, kept)), ""};
  }
  const NodeRow best = *std::ranges::min_element(search.candidates, [&](NodeRow a, NodeRow b) {
    return IsCheaper(*kept.rows[a]->cost, *kept.rows[b]->cost);
  });
  return Evict(attempt, best, *kept.rows[best]->cost);
}

std::vector<EvictionPlan> DefaultPreemption::Plans(const Attempt& attempt, PodQuery& query,
                                                   const Diagnosis& diagnosis) {
  std::vector<EvictionPlan> plans;
  if (context_.handle == nullptr || WhyNotEligible(attempt, diagnosis)) return plans;
  Kept& kept = KeptFor(query, *attempt.pod);
  for (const NodeRow row : TryNodes(kept, query, diagnosis).candidates) {
    const PreemptionCost& cost = *kept.rows[row]->cost;
    EvictionPlan& plan = plans.emplace_back(
        EvictionPlan{.node = context_.nodes().name(row), .violations = cost.violations});
    for (const PodInfo* victim : cost.victims) plan.victims.push_back(victim->pod);
  }
  return plans;
}

PostFilterResult DefaultPreemption::Choose(const Attempt& attempt,
                                           const std::vector<EvictionPlan>& plans) {
  NodeRow best = kNoRow;
  PreemptionCost least;
  for (const EvictionPlan& plan : plans) {
    const auto row = context_.nodes().Find(plan.node);
    if (!row) continue;
    std::vector<const PodInfo*> victims;
    for (const auto& pod : plan.victims) {
      const PodInfo* victim = context_.ledger.Find(pod->metadata.uid);
      if (victim != nullptr && victim->row == *row) victims.push_back(victim);
    }
    if (victims.empty()) continue;  // they have left by themselves
    PreemptionCost cost = CostOf(std::move(victims), static_cast<int>(plan.violations));
    if (best != kNoRow && !IsCheaper(cost, least)) continue;
    best = *row;
    least = std::move(cost);
  }
  if (best == kNoRow) return {Verdict::Unschedulable("no candidate node for preemption")};
  return Evict(attempt, best, least);
}

PostFilterResult DefaultPreemption::Evict(const Attempt& attempt, NodeRow row,
                                          const PreemptionCost& cost) {
  const std::string node = context_.nodes().name(row);
  // Less important pods that were promised this node must find another.
  for (const auto& pod : context_.handle->NominatedTo(node)) {
    if (pod->spec.priority.value_or(0) < attempt.shape->priority) {
      context_.handle->ClearNomination(*pod);
    }
  }
  std::vector<std::shared_ptr<const kube::Pod>> victims;
  for (const PodInfo* victim : cost.victims) victims.push_back(victim->pod);
  if (std::ranges::all_of(victims, [](const auto& pod) { return IsBeingDeleted(pod->metadata); })) {
    // Nobody is told anything, so there is nothing to wait for but their end.
    context_.handle->Preempt(attempt, node, std::move(victims), [](bool) {});
    return {Verdict::Success(), node};
  }
  const std::string uid = attempt.pod->metadata.uid;
  evicting_for_.insert(uid);
  std::vector<std::string> told = ToBeTold(victims);
  context_.handle->Preempt(
      attempt, node, std::move(victims),
      [this, uid, told = std::move(told), key = KeyOf(attempt.pod->metadata)](bool all_leave) {
        if (all_leave) {
          RememberTold(told);
          return EndEviction(uid, key);
        }
        context_.loop.Schedule(kPauseAfterError,
                               scope_.Wrap([this, uid, key] { EndEviction(uid, key); }));
      });
  return {Verdict::Success(), node};
}

std::vector<std::string> DefaultPreemption::ToBeTold(
    const std::vector<std::shared_ptr<const kube::Pod>>& victims) const {
  StringSet waiting;
  context_.handle->ForEachWaiting(
      [&](const Attempt& attempt) { waiting.insert(attempt.pod->metadata.uid); });
  std::vector<std::string> told;
  for (const auto& victim : victims) {
    const kube::ObjectMeta& meta = victim->metadata;
    if (!IsBeingDeleted(meta) && !waiting.contains(meta.uid)) told.push_back(meta.uid);
  }
  return told;
}

void DefaultPreemption::EndEviction(const std::string& uid, const kube::ObjectKey& key) {
  evicting_for_.erase(uid);
  context_.handle->Activate({key});
}

void DefaultPreemption::RememberTold(const std::vector<std::string>& victims) {
  absl::erase_if(told_,
                 [&](const std::string& uid) { return context_.ledger.Find(uid) == nullptr; });
  told_.insert(victims.begin(), victims.end());
}

std::string DefaultPreemption::Explain(const Diagnosis& diagnosis,
                                       const std::vector<NodeRow>& tried, const Kept& kept) const {
  std::vector<RowDiagnosis> rows(diagnosis.rows.size());
  for (const NodeRow row : tried) rows[row].verdict = kept.rows[row]->verdict;
  const Diagnosis why{.nodes = diagnosis.nodes,
                      .rows = rows,
                      .explicit_rows = tried.size(),
                      .absent_reason = "Preemption is not helpful for scheduling"};
  return fmt::format("preemption: {}", FitErrorMessage(why, context_.reasons, ""));
}

}  // namespace koord::scheduler
