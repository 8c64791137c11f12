#include "manager/webhook/review/webhook_metrics.h"

namespace koord::manager::webhook {

WebhookMetrics::WebhookMetrics(metrics::Registry& registry)
    : duration(registry.AddHistograms(
          "koord_manager_webhook_webhook_duration_milliseconds",
          "How long the steps of webhooks take.",
          {"webhook_type", "object_type", "operation", "plugin_name", "status"},
          metrics::ExponentialBuckets(0.001, 2, 20))),
      binding_decisions(
          registry.AddCounters("koord_manager_webhook_binding_admission_decisions_total",
                               "What was decided about bindings, and why.", {"decision"})),
      quota_shared_weight(registry.AddGauges("koord_manager_webhook_quota_shared_weight",
                                             "Shared weights that quotas were given.",
                                             {"elasticquota_name", "resource_name"})),
      untrusted_keys(registry.AddCounters(
          "koord_manager_webhook_untrusted_keys_total",
          "Labels and annotations of pods that were set by those who should not.",
          {"key", "action"})) {}

void StepTimer::Observe(std::string_view plugin, bool allowed, SteadyTime start) const {
  if (metrics_ == nullptr) return;
  const double milliseconds =
      std::chrono::duration<double, std::milli>(clock_.Steady() - start).count();
  metrics_->duration
      .With({type_, object_, ToString(operation_), plugin, allowed ? "allowed" : "rejected"})
      .Observe(milliseconds);
}

}  // namespace koord::manager::webhook
