#pragma once
#include <string_view>

#include "base/scope.h"
#include "base/string_map.h"
#include "scheduler/config/elastic_quota_args.h"
#include "scheduler/framework/plugin_context.h"

namespace koord::scheduler {

// Gives back what was borrowed: evicts pods of quotas that have used more than their runtime for
// longer than delayEvictTime without a break. As evictions, so that disruption budgets are
// honoured. Runs if monitorAllQuotas is set, while this process leads.
class OverUseController final : public LeaderPart {
 public:
  static void AddTo(const PluginContext& context, const ElasticQuotaArgs& args);

  std::string_view name() const override { return "ElasticQuotaOverUseController"; }
  void Start() override;
  void Stop(Task done) override;

 private:
  OverUseController(const PluginContext& context, const ElasticQuotaArgs& args);

  void Look();
  bool IsOver(const model::Quota& quota) const;
  void Revoke(const model::Quota& quota);
  void Evict(const kube::Pod& pod, const std::string& quota);
  void Done();

  const PluginContext context_;
  const QuotaBook& book_;
  const ElasticQuotaArgs args_;
  bool running_ = false;
  size_t under_way_ = 0;
  Task when_stopped_;
  StringMap<SteadyTime> over_since_;  // by quota
  Timer timer_;
  Scope scope_;
};

}  // namespace koord::scheduler
