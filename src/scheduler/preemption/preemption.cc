#include "scheduler/preemption/preemption.h"

#include <fmt/format.h>

#include <algorithm>

#include "scheduler/pipeline/pipeline.h"

namespace koord::scheduler {
namespace {

constexpr std::string_view kNever = "Never";

// Of a row: its own, that of all, or that of rows that were not looked at.
Code CodeOf(NodeRow row, const Diagnosis& diagnosis) {
  if (diagnosis.pre_filter.rejected()) return diagnosis.pre_filter.code;
  const Code own = row < diagnosis.rows.size() ? diagnosis.rows[row].verdict.code : Code::kSuccess;
  if (own != Code::kSuccess || diagnosis.absent_reason.empty()) return own;
  return Code::kUnschedulableAndUnresolvable;
}

}  // namespace

Preemption::Preemption(const PluginContext& context, PreemptionRules& rules, CandidateCount wanted,
                       std::string_view no_victims)
    : context_(context),
      rules_(rules),
      order_(rules.order()),
      no_victims_(context.reasons.Intern(no_victims)),
      search_(context, rules, wanted, no_victims_),
      eviction_(context) {}

Verdict Preemption::Gate(const kube::Pod& pod) const {
  if (!eviction_.IsUnderWayFor(pod)) return Verdict::Success();
  return Verdict::Unresolvable("waiting for the preemption for this pod to be finished");
}

bool Preemption::MightCure(const ClusterEvent& event) {
  return event.kind == EventKind::kAssignedPodRemoved || event.kind == EventKind::kForced;
}

bool Preemption::IsVictimOf(const PodShape& preemptor, const PodInfo& pod) const {
  return pod.shape->priority < preemptor.priority && rules_.MayBeEvicted(pod) &&
         rules_.MayEvict(preemptor, pod);
}

std::optional<std::string> Preemption::WhyNotEligible(const Attempt& attempt,
                                                      const Diagnosis& diagnosis) const {
  if (attempt.pod->spec.preemption_policy == kNever) {
    return "not eligible due to preemptionPolicy=Never.";
  }
  const std::string node = context_.handle->NominatedNodeOf(*attempt.pod);
  const auto row = context_.nodes().Find(node);
  if (!row) return {};
  if (CodeOf(*row, diagnosis) == Code::kUnschedulableAndUnresolvable) {
    return {};  // the promise is worth nothing; look for another node
  }
  for (const PodInfo* pod : context_.nodes().pods(*row)) {
    if (IsVictimOf(*attempt.shape, *pod) && eviction_.IsLeaving(*pod)) {
      return "not eligible due to a terminating pod on the nominated node.";
    }
  }
  return {};
}

PostFilterResult Preemption::Run(const Attempt& attempt, PodQuery& query,
                                 const Diagnosis& diagnosis) {
  if (context_.handle == nullptr) return {.verdict = Verdict::Unschedulable(""), .of_shape = true};
  if (const auto why = WhyNotEligible(attempt, diagnosis)) {
    return {.verdict = Verdict::Unschedulable(fmt::format("preemption: {}", *why)),
            .of_shape = attempt.pod->spec.preemption_policy == kNever};
  }
  const NodeSearch::Found found =
      search_.Run(*attempt.pod, query, rules_.RowsToTry(diagnosis), NodeSearch::Costs::kLeast);
  if (found.candidates.empty()) {
    return {Verdict::Unschedulable(Explain(diagnosis, found)), "", true};
  }
  const NodeRow best = *std::ranges::min_element(found.candidates, [&](NodeRow a, NodeRow b) {
    return order_.is_cheaper(search_.CostOf(a), search_.CostOf(b));
  });
  return Evict(attempt, best, search_.VictimsOn(best));
}

bool Preemption::MightHelp(const PodShape& shape, NodeRow row, Code code) const {
  if (code != Code::kUnschedulable || shape.spec().preemption_policy == kNever) return false;
  return search_.HasVictims(row, shape);
}

std::vector<EvictionPlan> Preemption::Plans(const Attempt& attempt, PodQuery& query,
                                            const Diagnosis& diagnosis) {
  std::vector<EvictionPlan> plans;
  if (context_.handle == nullptr || WhyNotEligible(attempt, diagnosis)) return plans;
  const NodeSearch::Found found =
      search_.Run(*attempt.pod, query, rules_.RowsToTry(diagnosis), NodeSearch::Costs::kAll);
  for (const NodeRow row : found.candidates) {
    EvictionPlan& plan = plans.emplace_back(EvictionPlan{
        .node = context_.nodes().name(row), .violations = search_.CostOf(row).violations});
    for (const PodInfo* victim : search_.VictimsOn(row)) plan.victims.push_back(victim->pod);
  }
  return plans;
}

PostFilterResult Preemption::Choose(const Attempt& attempt,
                                    const std::vector<EvictionPlan>& plans) {
  NodeRow best = kNoRow;
  PreemptionCost least;
  std::vector<const PodInfo*> least_victims;
  for (const EvictionPlan& plan : plans) {
    const auto row = context_.nodes().Find(plan.node);
    if (!row) continue;
    std::vector<const PodInfo*> victims;
    for (const auto& pod : plan.victims) {
      const PodInfo* victim = context_.ledger.Find(pod->metadata.uid);
      if (victim != nullptr && victim->row == *row) victims.push_back(victim);
    }
    if (victims.empty()) continue;  // they have left by themselves
    const PreemptionCost cost = CostOf(victims, static_cast<int>(plan.violations));
    if (best != kNoRow && !order_.is_cheaper(cost, least)) continue;
    best = *row;
    least = cost;
    least_victims = std::move(victims);
  }
  if (best == kNoRow) return {Verdict::Unschedulable("no candidate node for preemption")};
  std::ranges::sort(least_victims,
                    [](const PodInfo* a, const PodInfo* b) { return IsMoreImportant(*a, *b); });
  return Evict(attempt, best, least_victims);
}

PostFilterResult Preemption::Evict(const Attempt& attempt, NodeRow row,
                                   const std::vector<const PodInfo*>& victims) {
  eviction_.Evict(attempt, row, victims);
  return {Verdict::Success(), context_.nodes().name(row)};
}

std::string Preemption::Explain(const Diagnosis& diagnosis, const NodeSearch::Found& found) {
  DiagnosisTable rows;
  rows.Reset(found.tried.size() + found.without_victims);
  const auto none = rows.KindOf({.verdict = RowVerdict::Unresolvable(no_victims_)});
  NodeRow next{0};  // which rows they are makes no difference here
  for (const NodeRow row : found.tried) {
    rows.Set(next, {.verdict = search_.WhyNot(row)});
    ++next;
  }
  for (; next < rows.rows(); ++next) rows.Set(next, none);
  const Diagnosis why{.nodes = diagnosis.nodes,
                      .rows = rows,
                      .absent_reason = "Preemption is not helpful for scheduling"};
  return fmt::format("preemption: {}", FitErrorMessage(why, context_.reasons, ""));
}

}  // namespace koord::scheduler
