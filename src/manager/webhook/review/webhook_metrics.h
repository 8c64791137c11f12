#pragma once
#include <string_view>

#include "base/clock.h"
#include "base/metrics/metrics.h"
#include "manager/webhook/review/review.h"

namespace koord::manager::webhook {

// What webhooks measure of themselves.
class WebhookMetrics {
 public:
  explicit WebhookMetrics(metrics::Registry& registry);

  metrics::Histograms& duration;  // webhook_type, object_type, operation, plugin_name, status
  metrics::Counters& binding_decisions;  // decision
  metrics::Gauges& quota_shared_weight;  // elasticquota_name, resource_name
  metrics::Counters& untrusted_keys;     // key, action: refused or warned
};

// Times the steps of one request.
class StepTimer {
 public:
  // Null metrics: nothing is measured.
  StepTimer(WebhookMetrics* metrics, const Clock& clock, std::string_view type,
            std::string_view object, Operation operation)
      : metrics_(metrics), clock_(clock), type_(type), object_(object), operation_(operation) {}

  // Runs `step`, which gives something with ok().
  template <class Step>
  auto Run(std::string_view plugin, Step step) const {
    const SteadyTime start = clock_.Steady();
    auto result = step();
    Observe(plugin, result.ok(), start);
    return result;
  }
  void Observe(std::string_view plugin, bool allowed, SteadyTime start) const;

 private:
  WebhookMetrics* metrics_;
  const Clock& clock_;
  std::string_view type_, object_;
  Operation operation_;
};

}  // namespace koord::manager::webhook
