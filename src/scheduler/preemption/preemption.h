#pragma once
#include <optional>
#include <string>
#include <vector>

#include "scheduler/framework/plugin_context.h"
#include "scheduler/preemption/node_search.h"
#include "scheduler/preemption/victim_eviction.h"

namespace koord::scheduler {

// Makes room for a pod that fits nowhere by evicting less important ones: what the plugins that do
// so have in common.
//
// Only nodes are tried on which the pod was rejected for a reason that evictions may cure. On each,
// the smallest set of victims is found in a dry run; of the nodes tried, the one is taken whose
// victims matter least (broken disruption budgets, then priorities, then numbers, then age). The
// pod is promised that node, its victims are evicted, and it waits until they are gone. A pod whose
// promised node still has victims on their way out is not helped twice, also while the watch does
// not show yet that they are. If a victim could not be told, the pod is tried again after a pause.
//
// Who may be a victim, who is spared, which nodes are tried and in which order they are preferred
// is up to the rules.
class Preemption {
 public:
  // The rules outlive it. `no_victims` is said of nodes with nobody to evict.
  Preemption(const PluginContext& context, PreemptionRules& rules, CandidateCount wanted,
             std::string_view no_victims = "No preemption victims found for incoming pod");

  // What a plugin answers at PostFilter, and where extenders have a say.
  PostFilterResult Run(const Attempt& attempt, PodQuery& query, const Diagnosis& diagnosis);
  bool MightHelp(const PodShape& shape, NodeRow row, Code code) const;
  std::vector<EvictionPlan> Plans(const Attempt& attempt, PodQuery& query,
                                  const Diagnosis& diagnosis);
  PostFilterResult Choose(const Attempt& attempt, const std::vector<EvictionPlan>& plans);
  // At PreEnqueue: keeps a pod out of the queue while its victims are being told.
  Verdict Gate(const kube::Pod& pod) const;
  // Whether an event may help a pod that preemption could not help, or that waits for its victims.
  static bool MightCure(const ClusterEvent& event);

  size_t remembered() const { return search_.remembered() + eviction_.remembered(); }

 private:
  std::optional<std::string> WhyNotEligible(const Attempt& attempt,
                                            const Diagnosis& diagnosis) const;
  bool IsVictimOf(const PodShape& preemptor, const PodInfo& pod) const;
  PostFilterResult Evict(const Attempt& attempt, NodeRow row,
                         const std::vector<const PodInfo*>& victims);
  std::string Explain(const Diagnosis& diagnosis, const NodeSearch::Found& found);

  const PluginContext context_;
  PreemptionRules& rules_;
  const PreemptionOrder order_;
  const ReasonId no_victims_;
  NodeSearch search_;
  VictimEviction eviction_;
};

}  // namespace koord::scheduler
