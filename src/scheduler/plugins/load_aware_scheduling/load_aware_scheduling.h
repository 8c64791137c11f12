#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <queue>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/json.h"
#include "scheduler/config/load_aware_args.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/framework/plugin_context.h"
#include "scheduler/framework/service_plugin.h"
#include "scheduler/plugins/load_aware_scheduling/load_columns.h"
#include "scheduler/plugins/load_aware_scheduling/load_estimator.h"
#include "scheduler/plugins/load_aware_scheduling/load_thresholds.h"
#include "scheduler/plugins/load_aware_scheduling/node_load.h"

namespace koord::scheduler {

// Places pods by what nodes really use, not by what pods have asked for.
//
// The load of a node is the usage that its NodeMetric reports, plus an estimate for each pod that
// is too young to show in it. A node falls out when its load with the pod's own estimate would
// exceed a threshold; pods of DaemonSets run where they must. Among the rest, nodes with more of
// their capacity unused score higher; a node whose usage is unknown or out of date scores 0. Prod
// pods may be measured against what prod pods use, and others against a percentile of the usage.
// Nodes may state thresholds of their own.
//
// Evicting pods does not lower the usage that was measured, so what-if changes of a row (RowDelta)
// make no difference here.
class LoadAwareScheduling final : public FilterPlugin,
                                  public ScorePlugin,
                                  public ReservePlugin,
                                  public RequeuePlugin,
                                  public ServicePlugin,
                                  public LedgerListener {
 public:
  static constexpr std::string_view kName = "LoadAwareScheduling";

  LoadAwareScheduling(const PluginContext& context, LoadAwareSchedulingArgs args);

  std::string_view name() const override { return kName; }
  std::unique_ptr<PluginState> Compile(const PodShape& shape) override;
  void BeforeCycle(WallTime now) override;  // metrics go out of date

  void Filter(const PodQuery& query, RowRange rows, uint8_t* keep) override;
  RowVerdict Check(const PodQuery& query, const RowView& row) override;
  PodsRead Reads(const PodQuery&) override { return PodsRead::kNone; }
  // Where no node reports anything there is nothing to say.
  uint64_t version() const override { return has_metrics() ? 1 : 0; }
  std::optional<int64_t> SameForAll(const PodQuery&) override {
    if (has_metrics()) return {};
    return 0;
  }
  void Score(const PodQuery& query, RowRange rows, int64_t* scores) override;

  // The ledger tells of assumed pods.
  Verdict Reserve(Attempt&) override { return Verdict::Success(); }
  void Unreserve(Attempt&) override {}

  bool Wants(EventKind kind) const override;
  bool MightCure(const kube::Pod& rejected, const ClusterEvent& event) override;

  void OnNodeAdded(NodeRow row) override;
  void OnNodeChanged(NodeRow row, const NodeChanges& changes) override;
  void OnNodeRemoved(NodeRow row) override;
  void OnPodAdded(const PodInfo& pod) override;
  void OnPodRefreshed(const PodInfo& pod) override;
  void OnPodRemoved(const PodInfo& pod) override;

  // node/{node}: what is known of a node's load; {} if there is no such node.
  std::vector<Endpoint> Endpoints() override;
  kube::Json Describe(std::string_view node) const;

 private:
  bool has_metrics() const { return !context_.objects.node_metrics.objects().empty(); }
  static constexpr WallTime kNever = WallTime::max();

  struct Pod;  // a shape, compiled
  struct Row {
    explicit Row(const LoadResources& tracked) : load(tracked) {}

    NodeLoad load;
    std::shared_ptr<const NodeLimits> limits;
    // The metric's usage of the kind that thresholds and scores are about; nothing where that is
    // not reported: estimates count alone then.
    std::optional<LoadAmounts> filter_usage, score_usage;
    WallTime expires = WallTime::min();
    WallTime awaited = kNever;  // when BeforeCycle looks at the row
    bool expired = true;
    bool exact_score = false;  // some capacity is too large for the columns
  };
  using Expiry = std::pair<WallTime, NodeRow>;

  void GrowTo(size_t rows);
  void OnMetric(const std::shared_ptr<const api::NodeMetric>& before,
                const std::shared_ptr<const api::NodeMetric>& after);
  void SetMetric(NodeRow at, std::shared_ptr<const api::NodeMetric> metric);
  void ReadUsages(Row& row);
  void AwaitExpiry(NodeRow at, WallTime now);
  NodeLoad::Pod Load(const PodInfo& pod) const;
  // When the pod was given its node, or when it was seen there first or changed last, if the object
  // does not say: that is `before` while it looks as it did then.
  WallTime TimestampOf(const kube::Pod& pod, const kube::Pod* seen, WallTime before) const;

  // Bring a row's columns up to date, all of them or those that pods change; whether any changed.
  bool Publish(NodeRow at);
  bool PublishLoad(NodeRow at);
  void SetLimits(NodeRow at);
  double RoomIn(const Row& row, const LoadLimits& limits, size_t resource) const;
  int64_t ExistingLoad(const Row& row, bool of_prod, const std::optional<LoadAmounts>& usage,
                       size_t resource) const;
  bool IsScored(const Row& row) const { return row.load.usage() != nullptr && !row.expired; }
  int64_t ExactScore(const Row& row, const Pod& pod) const;
  LoadColumns::View RoomView(const Pod& pod) const;

  PluginContext context_;
  LoadAwareSchedulingArgs args_;
  LoadResources tracked_;
  LoadEstimator estimator_;
  LoadWeights weights_;
  UsageKind score_usage_;
  Duration expiration_;

  const std::shared_ptr<const NodeLimits> no_limits_;
  std::shared_ptr<const NodeLimits> last_limits_;  // most nodes are like the one before
  std::deque<Row> rows_;                           // thousands of large ones, which never move
  LoadColumns columns_;
  bool prod_rooms_ = false;  // some node has thresholds for prod pods
  size_t exact_rows_ = 0;
  std::priority_queue<Expiry, std::vector<Expiry>, std::greater<>> expiries_;
  // A pod that changes may be removed and added again.
  struct Removed {
    NodeRow row = kNoRow;
    std::shared_ptr<const kube::Pod> seen;
    WallTime timestamp{};
  } last_removed_;

  std::vector<ReasonId> exceeded_, aggregated_exceeded_;  // by tracked resource
  ReasonId expired_reason_;
};

}  // namespace koord::scheduler
