#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/cluster/ledger.h"
#include "scheduler/config/affinity_args.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/framework/plugin_context.h"
#include "scheduler/plugins/pod_topology_spread/pod_owners.h"
#include "scheduler/plugins/pod_topology_spread/spread_constraint.h"
#include "scheduler/topology/pod_index.h"
#include "scheduler/topology/row_set.h"

namespace koord::scheduler {

// Spreads pods that belong together over zones, nodes, or whatever label names a domain.
//
// A node is refused when a DoNotSchedule constraint of the pod would be violated: its domain would
// hold more than maxSkew matching pods more than the domain with the fewest. ScheduleAnyway
// constraints make crowded domains worse. Pods without constraints get the configured defaults, or
// a mild spreading over nodes and zones, with the pods of the same services and controller.
//
// Matching pods are counted per domain as they come and go (PodIndex); which domains are full is
// found once a shape and change, so a row costs one lookup a constraint.
class PodTopologySpread final : public PreFilterPlugin,
                                public FilterPlugin,
                                public ScorePlugin,
                                public RequeuePlugin,
                                public LedgerListener {
 public:
  static constexpr std::string_view kName = "PodTopologySpread";

  PodTopologySpread(const PluginContext& context, const PodTopologySpreadArgs& args);

  std::string_view name() const override { return kName; }
  std::unique_ptr<PluginState> Compile(const PodShape& shape) override;
  PreFilterResult PreFilter(PodQuery& query) override;

  bool wide() const override { return true; }
  uint64_t WideVersion(const PodQuery& query) override;
  void Filter(const PodQuery& query, RowRange rows, uint8_t* keep) override;
  RowVerdict Check(const PodQuery& query, const RowView& row) override;

  Verdict PreScore(PodQuery& query, std::span<const uint8_t> feasible) override;
  void Score(const PodQuery& query, RowRange rows, int64_t* scores) override;
  bool normalizes() const override { return true; }
  void Normalize(const PodQuery& query, ScoreRange range, std::span<int64_t> scores) override;

  bool MightCure(const kube::Pod& rejected, const ClusterEvent& event) override;

  size_t remembered() const override { return pods_.counters() + row_sets_.size(); }

  void OnPodAdded(const PodInfo& pod) override { pods_.Add(pod); }
  void OnPodRemoved(const PodInfo& pod) override { pods_.Remove(pod); }

 private:
  class State;

  State& Current(const PodQuery& query);  // with everything up to date
  void Derive(const PodShape& shape, State& state);
  void SetConstraints(const PodShape& shape, const std::vector<SpreadConstraint>& hard,
                      const std::vector<SpreadConstraint>& soft, State& state);
  std::shared_ptr<DomainCounts> CountsFor(const PodShape& shape, const SpreadConstraint& constraint,
                                          const std::vector<std::string>& keys, bool by_row);
  bool Concerns(const kube::Pod& rejected, const ClusterEvent& event) const;

  const NodeTable& nodes_;
  const bool system_defaults_;
  const std::vector<kube::TopologySpreadConstraint> defaults_;
  const bool has_hard_defaults_;
  const ReasonId missing_reason_;
  const ReasonId skew_reason_;
  PodIndex pods_;
  RowSets row_sets_;
  PodOwners owners_;
};

}  // namespace koord::scheduler
