#include "localcluster/scheduler/local_scheduler.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/log.h"
#include "scheduler/config/scheduler_gates.h"

namespace koord::localcluster {
namespace {

constexpr std::string_view kHeader = R"(apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
)";

constexpr std::string_view kProfile = R"(- schedulerName: {}
  pluginConfig:
  - name: NodeResourcesFit
    args:
      ignoredResources: [koordinator.sh/gpu.shared]
      scoringStrategy:
        type: LeastAllocated
        resources:
        - {{name: cpu, weight: 1}}
        - {{name: memory, weight: 1}}
        - {{name: kubernetes.io/batch-cpu, weight: 1}}
        - {{name: kubernetes.io/batch-memory, weight: 1}}
  - name: LoadAwareScheduling
    args:
      filterExpiredNodeMetrics: false
      nodeMetricExpirationSeconds: 300
      usageThresholds: {{cpu: 65, memory: 95}}
  plugins:
    preFilter: {{enabled: [{{name: SchedulingHint}}, {{name: Reservation}}, {{name: NodeNUMAResource}}, {{name: DeviceShare}}, {{name: ElasticQuota}}]}}
    filter: {{enabled: [{{name: LoadAwareScheduling}}, {{name: NodeNUMAResource}}, {{name: DeviceShare}}, {{name: Reservation}}]}}
    postFilter:
      disabled: [{{name: "*"}}]
      enabled: [{{name: Reservation}}, {{name: ElasticQuota}}, {{name: DefaultPreemption}}]
    preScore: {{enabled: [{{name: Reservation}}]}}
    score:
      enabled:
      - {{name: LoadAwareScheduling, weight: 1}}
      - {{name: NodeNUMAResource, weight: 1}}
      - {{name: DeviceShare, weight: 1}}
      - {{name: Reservation, weight: 5000}}
    reserve: {{enabled: [{{name: LoadAwareScheduling}}, {{name: NodeNUMAResource}}, {{name: DeviceShare}}, {{name: Reservation}}, {{name: ElasticQuota}}]}}
    preBind: {{enabled: [{{name: NodeNUMAResource}}, {{name: DeviceShare}}, {{name: Reservation}}, {{name: DefaultPreBind}}]}}
    bind:
      disabled: [{{name: "*"}}]
      enabled: [{{name: Reservation}}, {{name: DefaultBinder}}]
)";

}  // namespace

scheduler::SchedulerConfiguration LocalSchedulerConfiguration() {
  const std::string text = std::string(kHeader) + fmt::format(kProfile, "default-scheduler") +
                           fmt::format(kProfile, "koord-scheduler");
  auto loaded = scheduler::LoadConfiguration(text, "local cluster");
  if (!loaded.ok()) {
    LOG_ERROR("The local cluster's scheduler configuration is wrong", {"err", loaded.status()});
    return scheduler::DefaultConfiguration();
  }
  return std::move(loaded->configuration);
}

StatusOr<std::unique_ptr<scheduler::SchedulerApp>> MakeLocalScheduler(
    EventLoop& loop, kube::Client& client, program::ComponentApi& api, uint64_t seed,
    std::optional<scheduler::SchedulerConfiguration> configuration, kube::InformerSet* lender) {
  auto app = scheduler::SchedulerApp::Make(
      loop, client,
      {.configuration = configuration ? std::move(*configuration) : LocalSchedulerConfiguration(),
       .gates = scheduler::SchedulerFeatureGates(),
       .seed = seed,
       .api = &api,
       .lender = lender});
  if (!app.ok()) return app;
  for (const std::string& warning : (*app)->warnings()) LOG_WARNING(warning);
  return app;
}

}  // namespace koord::localcluster
