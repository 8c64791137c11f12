#include "manager/noderesource/node_decision.h"

#include "api/extended_resources.h"
#include "api/keys.h"
#include "api/node_annotations.h"
#include "manager/noderesource/amplification/amplification.h"
#include "manager/noderesource/cpu_normalization/cpu_normalization.h"
#include "manager/noderesource/gpu/gpu.h"
#include "manager/noderesource/rdma/rdma.h"

namespace koord::manager {
namespace {

class Decider {
 public:
  Decider(const NodeFacts& facts, const SloConfig& config, const NodeResourceOptions& options)
      : facts_(facts), config_(config), options_(options) {}

  NodeDecision Decide() && {
    decision_.colocation = ColocationOf(*config_.colocation, facts_.node);
    if (options_.cpu_normalization) DecideNormalization();
    if (options_.amplification) DecideAmplification();
    if (enabled()) {
      const NodePods pods = JoinPods(facts_.pods, facts_.metric);
      if (options_.mid) DecideMid(pods);
      if (options_.batch) DecideBatch(pods);
    } else {
      Reset();
    }
    if (options_.gpu) Add(PlanGpu(facts_.device, options_.share_gpus));
    if (options_.rdma) Add(PlanRdma(facts_.device));
    return std::move(decision_);
  }

 private:
  bool enabled() const { return decision_.colocation.enabled; }
  const ColocationStrategy& strategy() const { return decision_.colocation.strategy; }

  void Add(NodePlan plan) {
    decision_.plan.resources.merge(plan.resources);
    decision_.plan.annotations.merge(plan.annotations);
    decision_.plan.labels.merge(plan.labels);
  }
  void Fail(std::string_view plugin, Status why) {
    decision_.failures.push_back({plugin, std::move(why)});
  }
  void Annotate(std::string_view key, std::optional<std::string> value) {
    decision_.plan.annotations.insert_or_assign(std::string(key), std::move(value));
  }

  void DecideNormalization() {
    if (!config_.cpu_normalization) {
      return Fail(kCpuNormalization, FailedPrecondition("the configuration is not readable"));
    }
    const auto wanted = IsNormalizationEnabled(facts_.node, *config_.cpu_normalization);
    normalization_wanted_ = wanted.ok() && *wanted;
    if (!enabled() && !normalization_wanted_) return;
    auto ratio = NormalizationRatio(facts_.node, facts_.topology, *config_.cpu_normalization);
    if (!ratio.ok()) return Fail(kCpuNormalization, ratio.status());
    const auto parsed = api::CpuNormalizationRatioOf(
        {{std::string(api::kAnnotationCpuNormalizationRatio), *ratio}});
    if (parsed.ok()) cpu_ratio_ = *parsed;
    Annotate(api::kAnnotationCpuNormalizationRatio, *std::move(ratio));
  }

  void DecideAmplification() {
    Annotate(api::kAnnotationResourceAmplificationRatio, std::nullopt);
    if (!config_.amplification) {
      return Fail(kResourceAmplification, FailedPrecondition("the configuration is not readable"));
    }
    const bool wanted =
        config_.amplification->For(facts_.node.metadata.labels).enable.value_or(false);
    if (!enabled() && !wanted && !normalization_wanted_) return;
    auto ratio = AmplificationRatio(facts_.node, *config_.amplification);
    if (!ratio.ok()) return Fail(kResourceAmplification, ratio.status());
    Annotate(api::kAnnotationResourceAmplificationRatio, *std::move(ratio));
  }

  void DecideMid(const NodePods& pods) {
    decision_.mid = CalculateMid({.node = facts_.node,
                                  .metric = facts_.metric,
                                  .pods = pods,
                                  .strategy = strategy(),
                                  .now = facts_.now});
    Add(PlanMid(*decision_.mid));
  }

  void DecideBatch(const NodePods& pods) {
    decision_.batch = CalculateBatch({.node = facts_.node,
                                      .metric = facts_.metric,
                                      .pods = pods,
                                      .topology = facts_.topology,
                                      .strategy = strategy(),
                                      .now = facts_.now});
    auto plan = PlanBatch(*decision_.batch, facts_.node, cpu_ratio_);
    if (!plan.ok()) return Fail(kBatchResource, plan.status());
    Add(*std::move(plan));
    if (facts_.topology != nullptr) {
      decision_.zones =
          PlanZones(*decision_.batch, *facts_.topology, cpu_ratio_, DiffThreshold(strategy()));
    }
  }

  void Reset() {
    const std::string off = "co-location is off";
    if (options_.mid) Add(PlanMid({.degraded = off, .node = {}}));
    if (!options_.batch) return;
    if (auto plan = PlanBatch({.degraded = off}, facts_.node, {}); plan.ok()) Add(*std::move(plan));
  }

  const NodeFacts& facts_;
  const SloConfig& config_;
  const NodeResourceOptions& options_;
  bool normalization_wanted_ = false;
  std::optional<double> cpu_ratio_;  // produced just now
  NodeDecision decision_;
};

}  // namespace

NodeDecision DecideNode(const NodeFacts& facts, const SloConfig& config,
                        const NodeResourceOptions& options) {
  return Decider(facts, config, options).Decide();
}

}  // namespace koord::manager
