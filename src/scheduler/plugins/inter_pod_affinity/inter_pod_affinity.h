#pragma once
#include <memory>
#include <string_view>

#include "scheduler/cluster/ledger.h"
#include "scheduler/config/affinity_args.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/framework/plugin_context.h"
#include "scheduler/plugins/inter_pod_affinity/term_groups.h"
#include "scheduler/topology/pod_index.h"
#include "scheduler/topology/seen_counts.h"

namespace koord::scheduler {

// Places pods near others or away from them, as podAffinity and podAntiAffinity say.
//
// A node is refused, in this order, when the pod's required affinity finds no pod that it asks for
// in one of the node's domains (the first pod of a group that only looks for its own kind may go
// anywhere); when its required anti-affinity finds one; when the required anti-affinity of a pod
// that runs in one of the node's domains means the pod. Both sides' preferred terms, and the
// required affinity of pods that run, make nodes better or worse.
//
// Nothing is searched for a pod: running pods are counted per domain as they come and go, both by
// the selectors that incoming pods have (PodIndex) and by the terms that they bring (TermGroups).
class InterPodAffinity final : public PreFilterPlugin,
                               public FilterPlugin,
                               public ScorePlugin,
                               public RequeuePlugin,
                               public LedgerListener {
 public:
  static constexpr std::string_view kName = "InterPodAffinity";

  InterPodAffinity(const PluginContext& context, const InterPodAffinityArgs& args);

  std::string_view name() const override { return kName; }
  std::unique_ptr<PluginState> Compile(const PodShape& shape) override;
  PreFilterResult PreFilter(PodQuery& query) override;

  bool wide() const override { return true; }
  uint64_t WideVersion(const PodQuery& query) override;
  void Filter(const PodQuery& query, RowRange rows, uint8_t* keep) override;
  RowVerdict Check(const PodQuery& query, const RowView& row) override;
  PodsRead Reads(const PodQuery& query) override;

  Verdict PreScore(PodQuery& query, std::span<const uint8_t> feasible) override;
  void Score(const PodQuery& query, RowRange rows, int64_t* scores) override;
  bool normalizes() const override { return true; }
  void Normalize(const PodQuery& query, ScoreRange range, std::span<int64_t> scores) override;

  bool MightCure(const kube::Pod& rejected, const ClusterEvent& event) override;

  void OnPodAdded(const PodInfo& pod) override;
  void OnPodRemoved(const PodInfo& pod) override;

  // How much is remembered.
  size_t groups() const { return groups_.groups().size(); }
  size_t counters() const { return pods_.counters(); }
  size_t remembered() const override { return groups() + counters(); }

 private:
  class State;

  State& Current(const PodQuery& query);  // with everything up to date
  bool FindsRequired(const State& state, const PodQuery& query, const RowView& row) const;
  bool FindsForbidden(const State& state, const PodQuery& query, const RowView& row) const;
  bool IsForbidden(State& state, const PodQuery& query, const RowView& row);

  const NodeTable& nodes_;
  const NamespaceCache& namespaces_;
  const InterPodAffinityArgs args_;
  const ReasonId affinity_reason_;
  const ReasonId anti_affinity_reason_;
  const ReasonId existing_reason_;
  PodIndex pods_;
  TermGroups groups_;
};

}  // namespace koord::scheduler
