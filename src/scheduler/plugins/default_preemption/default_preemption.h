#pragma once
#include <absl/container/flat_hash_map.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/scope.h"
#include "base/string_map.h"
#include "scheduler/config/candidate_args.h"
#include "scheduler/framework/plugin_context.h"
#include "scheduler/plugins/default_preemption/dry_run.h"

namespace koord::scheduler {

// Makes room for a pod that fits nowhere by evicting less important ones.
//
// Only nodes are tried on which the pod was rejected for a reason that evictions may cure. On each,
// the smallest set of victims is found in a dry run; of the nodes tried, the one is taken whose
// victims matter least (broken disruption budgets, then priorities, then numbers, then age). The
// pod is promised that node, its victims are evicted, and it waits until they are gone. A pod whose
// promised node still has victims on their way out is not helped twice, also while the watch does
// not show yet that they are. If a victim could not be told, the pod is tried again after a pause.
class DefaultPreemption final : public PostFilterPlugin,
                                public PreEnqueuePlugin,
                                public RequeuePlugin {
 public:
  static constexpr std::string_view kName = "DefaultPreemption";

  DefaultPreemption(const PluginContext& context, DefaultPreemptionArgs args);

  std::string_view name() const override { return kName; }
  PostFilterResult PostFilter(Attempt& attempt, PodQuery& query,
                              const Diagnosis& diagnosis) override;
  std::vector<EvictionPlan> Plans(const Attempt& attempt, PodQuery& query,
                                  const Diagnosis& diagnosis) override;
  PostFilterResult Choose(const Attempt& attempt, const std::vector<EvictionPlan>& plans) override;
  // Keeps a pod out of the queue while its victims are being told.
  Verdict PreEnqueue(const kube::Pod& pod) override;
  bool MightCure(const kube::Pod& rejected, const ClusterEvent& event) override;

 private:
  // Dry runs of one shape, by row, as long as rows and what the filters know of the pod stay.
  struct Kept {
    uint64_t log_position = 0;
    uint64_t budgets = 0;
    uint64_t used = 0;
    uint64_t rows_version = 0;
    std::vector<std::optional<DryRun>> rows;
    // Was promised to the pod that asked last: it looks different to all others of the shape.
    std::optional<NodeRow> promised;
  };

  std::optional<std::string> WhyNotEligible(const Attempt& attempt,
                                            const Diagnosis& diagnosis) const;
  Kept& KeptFor(PodQuery& query, const kube::Pod& pod);
  size_t CandidatesWanted(size_t nodes) const;
  // The nodes that were tried, and those of them where evictions help.
  struct Search {
    std::vector<NodeRow> tried;
    std::vector<NodeRow> candidates;
  };
  Search TryNodes(Kept& kept, PodQuery& query, const Diagnosis& diagnosis);
  PostFilterResult Evict(const Attempt& attempt, NodeRow row, const PreemptionCost& cost);
  // Of victims, those that the API server is told to delete: the others leave already, or wait for
  // their permit and go back to the queue.
  std::vector<std::string> ToBeTold(
      const std::vector<std::shared_ptr<const kube::Pod>>& victims) const;
  void EndEviction(const std::string& uid, const kube::ObjectKey& key);
  void RememberTold(const std::vector<std::string>& victims);
  std::string Explain(const Diagnosis& diagnosis, const std::vector<NodeRow>& tried,
                      const Kept& kept) const;

  const PluginContext context_;
  const DefaultPreemptionArgs args_;
  DisruptionBudgets budgets_;
  ReasonId no_victims_;
  absl::flat_hash_map<uint32_t, Kept> kept_;  // by shape
  uint64_t uses_ = 0;
  StringSet evicting_for_;  // uids of pods whose victims are being told
  StringSet told_;          // uids of victims that leave, seen or not
  Scope scope_;
};

}  // namespace koord::scheduler
