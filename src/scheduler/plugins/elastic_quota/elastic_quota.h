#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/quota/quota_admission.h"
#include "model/quota/quota_explanation.h"
#include "scheduler/config/elastic_quota_args.h"
#include "scheduler/framework/plugin_context.h"
#include "scheduler/framework/service_plugin.h"
#include "scheduler/plugins/elastic_quota/quota_eviction_rules.h"
#include "scheduler/plugins/elastic_quota/quota_waiters.h"
#include "scheduler/preemption/preemption.h"

namespace koord::scheduler {

// Lets pods run as far as their team's quota goes.
//
// A pod belongs to the quota that its label names, else to that of its namespace, else to the
// default quota. It may run while what its quota uses, with the pod, is within the quota's runtime:
// its share of the cluster at present, never less than its min if that is asked for, and more while
// others do not use theirs. Pods that say they may not be preempted must fit into the min.
//
// A pod that its quota has no room for may evict less important ones of the same quota. Otherwise
// it waits until there is room, and is tried in the moment in which there is.
//
// What is used is what the ledger has charged: a pod counts from the moment that it is given a
// node, whoever has given it, until it is gone.
class ElasticQuotaPlugin final : public AdmitPlugin,
                                 public PostFilterPlugin,
                                 public AfterPostFilterPlugin,
                                 public ReservePlugin,
                                 public RequeuePlugin,
                                 public ServicePlugin {
 public:
  static constexpr std::string_view kName = ElasticQuotaArgs::kPlugin;

  ElasticQuotaPlugin(const PluginContext& context, const ElasticQuotaArgs& args);

  std::string_view name() const override { return kName; }
  std::unique_ptr<PluginState> Compile(const PodShape& shape) override;
  size_t remembered() const override { return waiters_.size() + preemption_.remembered(); }

  Verdict Admit(const kube::Pod& pod, const PodQuery& query) override;
  std::string WhatItWaitsFor(const kube::Pod& pod, const PodQuery& query) override;

  PostFilterResult PostFilter(Attempt& attempt, PodQuery& query,
                              const Diagnosis& diagnosis) override;
  bool MightHelp(const PodShape& shape, NodeRow row, Code code) const override;
  std::vector<EvictionPlan> Plans(const Attempt& attempt, PodQuery& query,
                                  const Diagnosis& diagnosis) override;
  PostFilterResult Choose(const Attempt& attempt, const std::vector<EvictionPlan>& plans) override;
  void AfterPostFilter(const Attempt& attempt, const Diagnosis& diagnosis,
                       const PostFilterResult& result) override;

  // The ledger's charge is the quota's: there is nothing to add to it.
  Verdict Reserve(Attempt&) override { return Verdict::Success(); }
  void Unreserve(Attempt&) override {}

  // Room in quotas is looked after by QuotaWaiters; what else may help is that the pod or the
  // quotas are others.
  bool Wants(EventKind kind) const override {
    return kind == EventKind::kPodUpdated || kind == EventKind::kElasticQuotaChanged;
  }
  bool MightCure(const kube::Pod& rejected, const ClusterEvent& event) override;

  std::vector<Endpoint> Endpoints() override;

 private:
  struct State;
  std::optional<model::QuotaShortfall> Check(const kube::Pod& pod) const;
  StatusOr<model::QuotaExplanation> ExplainQuota(std::string_view name) const;
  // Whether quota preemption has anything to do with a pod that was rejected like this.
  bool MayPreempt(const kube::Pod& pod, const Diagnosis& diagnosis);

  const PluginContext context_;
  QuotaBook& book_;
  const model::AdmissionRules rules_;
  QuotaEvictionRules eviction_rules_;
  Preemption preemption_;
  QuotaWaiters waiters_;
};

}  // namespace koord::scheduler
