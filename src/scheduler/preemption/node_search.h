#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "scheduler/framework/plugin_context.h"
#include "scheduler/preemption/dry_run.h"

namespace koord::scheduler {

// How many nodes are tried at least, as a share of those worth trying and as a number.
struct CandidateCount {
  int32_t percent = 100;
  int32_t at_least = 0;

  size_t Of(size_t nodes) const;
};

// Finds the nodes on which evictions make room for a pod.
//
// Starts at a random one and ends when enough were found, one of them without breaking a budget.
// What dry runs have shown is kept for the shapes that ask again and again, until a row changes or
// what the filters, the budgets or the rules know.
class NodeSearch {
 public:
  NodeSearch(const PluginContext& context, PreemptionRules& rules, CandidateCount wanted,
             ReasonId no_victims)
      : context_(context),
        rules_(rules),
        order_(rules.order()),
        wanted_(wanted),
        runs_(context.ledger, context.objects.disruption_budgets, rules, no_victims) {}

  // Which costs are asked for: of all candidates, or of the best one, with others known to be more.
  enum class Costs : uint8_t { kAll, kLeast };
  struct Found {
    std::vector<NodeRow> tried;
    size_t without_victims = 0;       // further ones, on which no pod is less important
    std::vector<NodeRow> candidates;  // of those tried: where evictions help
  };
  // Tries some of the rows; what was found is good until the next run.
  Found Run(const kube::Pod& pod, PodQuery& query, const std::vector<NodeRow>& rows, Costs costs);

  // Of a row that was tried last.
  const PreemptionCost& CostOf(NodeRow row) const { return kept_now_->costs[row]; }
  // Of a candidate: who has to go, the most important first.
  std::vector<const PodInfo*> VictimsOn(NodeRow row) { return runs_.VictimsOn(row); }
  // Of one that is none: why evictions do not help there.
  const RowVerdict& WhyNot(NodeRow row);

  // Whether any pod of a row is less important.
  bool HasVictims(NodeRow row, const PodShape& preemptor) const {
    return context_.nodes().lowest_priority(row) < preemptor.priority;
  }
  size_t remembered() const { return kept_.size(); }

 private:
  // What dry runs of a row have shown.
  enum class Shown : uint8_t { kNothing, kHelps, kHelpsForMore, kHelpsNot, kHelpsNotAndWhy };
  // Dry runs of one shape, by row, as long as rows and what the filters know of the pod stay.
  struct Kept {
    uint64_t log_position = 0;
    uint64_t budgets = 0;
    uint64_t used = 0;
    uint64_t rows_version = 0;
    uint64_t rules_version = 0;
    std::vector<Shown> shown;
    std::vector<PreemptionCost> costs;  // where it helps; for more: part of them
    std::vector<RowVerdict> verdicts;   // why it helps not, where anybody has asked
    // Was promised to the pod that asked last: it looks different to all others of the shape.
    std::optional<NodeRow> promised;
  };

  Kept& KeptFor(PodQuery& query, const kube::Pod& pod);
  Kept& SlotFor(const PodShape& shape);
  void Try(Kept& kept, NodeRow row, const PreemptionCost* least);

  const PluginContext context_;
  PreemptionRules& rules_;
  const PreemptionOrder order_;
  const CandidateCount wanted_;
  DryRuns runs_;
  absl::flat_hash_map<uint32_t, Kept> kept_;  // by shape
  Kept* kept_now_ = nullptr;  // of the last run; null: nobody could be evicted, as mostly
  uint64_t uses_ = 0;
};

}  // namespace koord::scheduler
