#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "scheduler/reference/choose.h"
#include "scheduler/reference/random_objects.h"

namespace koord::scheduler::reference {
namespace {

std::string FitStrategy(Random& random) {
  return TextOf(
      random,
      {R"({type: LeastAllocated, resources: [{name: cpu, weight: 1}, {name: memory, weight: 1}]})",
       R"({type: MostAllocated, resources: [{name: cpu, weight: 3}, {name: nvidia.com/gpu, weight: 5}]})",
       R"({type: LeastAllocated, resources: [{name: cpu, weight: 1}, {name: memory, weight: 1}, )"
       R"({name: kubernetes.io/batch-cpu, weight: 1}, {name: kubernetes.io/batch-memory, weight: 2}]})",
       R"({type: MostAllocated, resources: [{name: memory, weight: 1}, {name: ephemeral-storage, weight: 2}]})",
       R"({type: RequestedToCapacityRatio, resources: [{name: cpu, weight: 3}, {name: memory, weight: 2}, )"
       R"({name: nvidia.com/gpu, weight: 7}], requestedToCapacityRatio: {shape: [{utilization: 0, score: 0}, )"
       R"({utilization: 60, score: 10}, {utilization: 100, score: 4}]}})",
       R"({type: RequestedToCapacityRatio, resources: [{name: cpu, weight: 1}], )"
       R"(requestedToCapacityRatio: {shape: [{utilization: 20, score: 9}, {utilization: 90, score: 1}]}})"});
}

std::string SpreadArgs(Random& random) {
  return TextOf(random,
                {"{defaultingType: System}",
                 "{defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: "
                 "topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule}, {maxSkew: 2, "
                 "topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway}]}",
                 "{defaultingType: List, defaultConstraints: [{maxSkew: 2, topologyKey: rack, "
                 "whenUnsatisfiable: ScheduleAnyway}]}"});
}

std::string AddedAffinity(Random& random) {
  return TextOf(random,
                {"{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
                 "[{matchExpressions: [{key: disk, operator: Exists}]}, {matchExpressions: "
                 "[{key: cores, operator: Gt, values: ['3']}]}]}}",
                 "{preferredDuringSchedulingIgnoredDuringExecution: [{weight: 7, preference: "
                 "{matchExpressions: [{key: rack, operator: In, values: [r1]}]}}]}"});
}

std::string LoadArgs(Random& random) {
  std::vector<std::string> args;
  const auto maybe = [&](double chance, std::string text) {
    if (random.Chance(chance)) args.push_back(std::move(text));
  };
  maybe(0.5, fmt::format("filterExpiredNodeMetrics: {}", random.Chance(0.5)));
  maybe(0.5, fmt::format("nodeMetricExpirationSeconds: {}", Between(random, 30, 300)));
  maybe(0.3, "enableScheduleWhenNodeMetricsExpired: true");
  maybe(0.4, TextOf(random, {"usageThresholds: {cpu: 0, memory: 0}",
                             "usageThresholds: {cpu: 50, memory: 60}", "usageThresholds: {cpu: 30}",
                             "usageThresholds: {cpu: 90, ephemeral-storage: 50}"}));
  maybe(0.3, TextOf(random, {"prodUsageThresholds: {cpu: 40}", "prodUsageThresholds: {cpu: 0}",
                             "prodUsageThresholds: {memory: 35, cpu: 60}"}));
  maybe(0.4, TextOf(random, {"resourceWeights: {cpu: 3}", "resourceWeights: {cpu: 1, memory: 7}"}));
  maybe(0.4, fmt::format("dominantResourceWeight: {}", Between(random, 0, 5)));
  maybe(0.3, "prodUsageIncludeSys: true");
  maybe(0.3, "scoreAccordingProdUsage: true");
  maybe(0.3, TextOf(random, {"estimatedScalingFactors: {cpu: 100, memory: 100}",
                             "estimatedScalingFactors: {cpu: 33, memory: 77}"}));
  maybe(0.3, "estimatedSecondsAfterPodScheduled: 60");
  maybe(0.3, "estimatedSecondsAfterInitialized: 90");
  maybe(0.5, "allowCustomizeEstimation: true");
  maybe(0.4, TextOf(random, {"aggregated: {usageThresholds: {cpu: 55}, usageAggregationType: p95}",
                             "aggregated: {usageThresholds: {cpu: 55, memory: 70}, "
                             "usageAggregationType: p99, usageAggregatedDuration: 5m, "
                             "scoreAggregationType: avg}",
                             "aggregated: {scoreAggregationType: p95, scoreAggregatedDuration: "
                             "10m, usageAggregationType: p95}"}));
  maybe(0.2, "supportedResources: [ephemeral-storage]");
  return fmt::format("{{{}}}", fmt::join(args, ", "));
}

}  // namespace

std::string RandomConfiguration(Random& random, bool reservations) {
  std::vector<std::string> enabled;
  if (reservations) {
    enabled.push_back(
        fmt::format("{{name: Reservation, weight: {}}}", OneOf<int64_t>(random, {1, 2, 9, 5000})));
  }
  for (const char* name : {"LoadAwareScheduling", "NodeResourcesFitPlus", "ScarceResourceAvoidance",
                           "SchedulingHint"}) {
    if (random.Chance(0.75)) {
      enabled.push_back(fmt::format("{{name: {}, weight: {}}}", name, Between(random, 1, 3)));
    }
  }
  for (const char* name :
       {"TaintToleration", "NodeAffinity", "NodeResourcesFit", "PodTopologySpread",
        "InterPodAffinity", "ImageLocality", "NodeResourcesBalancedAllocation"}) {
    if (random.Chance(0.15)) {
      enabled.push_back(fmt::format("{{name: {}, weight: {}}}", name, Between(random, 1, 9)));
    }
  }
  std::string points;
  if (random.Chance(0.15)) {
    points +=
        fmt::format(", score: {{disabled: [{{name: {}}}]}}",
                    TextOf(random, {"ImageLocality", "NodeResourcesFit", "InterPodAffinity"}));
  }
  if (reservations && random.Chance(0.4)) {
    // Before all others.
    points += ", filter: {enabled: [{name: Reservation}]}";
  } else if (random.Chance(0.1)) {
    points += fmt::format(", filter: {{disabled: [{{name: {}}}]}}",
                          TextOf(random, {"NodePorts", "TaintToleration", "PodTopologySpread"}));
  }
  std::vector<std::string> args;
  const auto maybe = [&](double chance, std::string_view plugin, std::string text) {
    if (!random.Chance(chance)) return;
    args.push_back(fmt::format("  - {{name: {}, args: {}}}\n", plugin, text));
  };
  maybe(0.6, "NodeResourcesFit",
        fmt::format("{{scoringStrategy: {}{}}}", FitStrategy(random),
                    TextOf(random, {"", "", ", ignoredResources: [example.com/fpga]",
                                    ", ignoredResourceGroups: [nvidia.com, kubernetes.io]"})));
  maybe(0.4, "NodeResourcesBalancedAllocation",
        TextOf(random, {"{resources: [{name: cpu, weight: 1}, {name: memory, weight: 1}, "
                        "{name: nvidia.com/gpu, weight: 1}]}",
                        "{resources: [{name: ephemeral-storage, weight: 1}, {name: memory, "
                        "weight: 1}, {name: cpu, weight: 1}]}"}));
  maybe(0.5, "InterPodAffinity",
        fmt::format("{{hardPodAffinityWeight: {}, ignorePreferredTermsOfExistingPods: {}}}",
                    OneOf<int64_t>(random, {0, 1, 50}), random.Chance(0.4)));
  maybe(0.6, "PodTopologySpread", SpreadArgs(random));
  maybe(0.2, "NodeAffinity", fmt::format("{{addedAffinity: {}}}", AddedAffinity(random)));
  maybe(0.8, "LoadAwareScheduling", LoadArgs(random));
  maybe(0.8, "NodeResourcesFitPlus",
        "{resources: {nvidia.com/gpu: {type: MostAllocated, weight: 2}, cpu: {type: "
        "LeastAllocated, weight: 1}, memory: {type: MostAllocated, weight: 1}}}");
  if (reservations) {
    maybe(0.2, "Reservation",
          TextOf(random, {"{ignoredResources: [example.com/fpga, nvidia.com/gpu]}",
                          "{ignoredResourceGroups: [nvidia.com]}"}));
  }
  maybe(0.8, "ScarceResourceAvoidance", "{resources: [nvidia.com/gpu, example.com/fpga]}");
  return fmt::format(
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
      "profiles:\n- schedulerName: koord-scheduler\n"
      "  plugins: {{multiPoint: {{enabled: [{}]}}{}}}\n  pluginConfig:{}\n{}",
      fmt::join(enabled, ", "), points, args.empty() ? " []" : "", fmt::join(args, ""));
}

}  // namespace koord::scheduler::reference
