#include "scheduler/config/plugin_args.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/yaml.h"
#include "scheduler/config/load_configuration.h"

namespace koord::scheduler::plugin_args_test {
namespace {

using testing::ElementsAre;

// A profile whose only pluginConfig entry is for `plugin`, all on line 4.
std::string WithArgs(std::string_view plugin, std::string_view args) {
  return fmt::format(
      "apiVersion: {}\nkind: {}\nprofiles:\n- pluginConfig: [{{name: {}, args: {}}}]\n",
      kConfigApiVersion, kConfigKind, plugin, args);
}

template <class Args>
Args Read(std::string_view args) {
  const auto loaded = LoadConfiguration(WithArgs(Args::kPlugin, args), "");
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  return loaded.ok() ? ArgsFor<Args>(loaded->configuration.profiles.front()) : Args();
}

// Without the place, which is the same for all: one a line.
std::string ErrorsOf(std::string_view plugin, std::string_view args) {
  const auto loaded = LoadConfiguration(WithArgs(plugin, args), "");
  if (loaded.ok()) return "";
  std::string text(Message(loaded.status()));
  const std::string_view place = "line 4: profiles[0].pluginConfig[0].args";
  for (size_t at = 0; (at = text.find(place, at)) != std::string::npos;) {
    text.erase(at, place.size());
    if (text.compare(at, 1, ".") == 0) text.erase(at, 1);
  }
  return text;
}

TEST(PluginArgsTest, KindAndVersionMustFit) {
  EXPECT_EQ(ErrorsOf("NodeAffinity",
                     "{apiVersion: kubescheduler.config.k8s.io/v1beta3, "
                     "kind: NodeAffinityArgs}"),
            "");
  EXPECT_EQ(ErrorsOf("NodeAffinity", "{kind: NodeResourcesFitArgs}"),
            "kind: \"NodeResourcesFitArgs\" is not one of NodeAffinityArgs");
  EXPECT_EQ(ErrorsOf("Reservation", "{apiVersion: v1, kind: CoschedulingArgs}"),
            "apiVersion: \"v1\" is not one of kubescheduler.config.k8s.io/v1, "
            "kubescheduler.config.k8s.io/v1beta3, kubescheduler.config.k8s.io/v1beta2\n"
            "kind: \"CoschedulingArgs\" is not one of ReservationArgs");
  EXPECT_EQ(ErrorsOf("NodeAffinity", "{kind: 5}"), "kind: expected a string, found a number");
  EXPECT_EQ(ErrorsOf("Coscheduling", "[1]"), ": expected an object");
  EXPECT_EQ(ErrorsOf("NodeAffinity", "null"), "");
}

TEST(PluginArgsTest, RepeatedConfig) {
  const auto loaded = LoadConfiguration(
      fmt::format("apiVersion: {}\nkind: {}\nprofiles:\n- pluginConfig:\n  - name: NodeAffinity\n"
                  "  - name: NodeAffinity\n",
                  kConfigApiVersion, kConfigKind),
      "s.yaml");
  EXPECT_EQ(Message(loaded.status()),
            "s.yaml:6: profiles[0].pluginConfig[1].name: repeated config for plugin "
            "\"NodeAffinity\"");
}

TEST(PluginArgsTest, EveryTypeReadsBackWhatItWrites) {
  for (const char* plugin :
       {"Coscheduling", "DefaultPreemption", "DynamicResources", "InterPodAffinity",
        "LoadAwareScheduling", "NodeAffinity", "NodeResourcesBalancedAllocation",
        "NodeResourcesFit", "NodeResourcesFitPlus", "PodTopologySpread", "Reservation",
        "ScarceResourceAvoidance", "SchedulingHint", "VolumeBinding"}) {
    const std::optional<PluginArgs> args = DefaultArgsOf(plugin);
    ASSERT_TRUE(args.has_value()) << plugin;
    EXPECT_EQ(ErrorsOf(plugin, kube::Serialize(kube::Encode(*args))), "") << plugin;
  }
  EXPECT_FALSE(DefaultArgsOf("ElasticQuota").has_value());
}

TEST(PluginArgsTest, Coscheduling) {
  const auto defaults = Read<CoschedulingArgs>("{}");
  EXPECT_EQ(defaults.default_timeout, std::chrono::seconds(600));
  EXPECT_EQ(defaults.controller_workers, 1);
  EXPECT_FALSE(defaults.enable_preemption);
  EXPECT_FALSE(defaults.aware_network_topology);
  EXPECT_EQ(defaults.default_match_policy, "once-satisfied");
  const auto written = Read<CoschedulingArgs>(
      "{defaultTimeout: 5m, controllerWorkers: 2, skipCheckScheduleCycle: true, "
      "defaultMatchPolicy: only-waiting}");
  EXPECT_EQ(written.default_timeout, std::chrono::minutes(5));
  EXPECT_EQ(written.default_match_policy, "only-waiting");
  EXPECT_EQ(ErrorsOf("Coscheduling", "{defaultTimeout: -1s}"),
            "defaultTimeout: -1s: coeSchedulingArgs DefaultTimeoutSeconds invalid: must be at "
            "least 0");
  EXPECT_EQ(
      ErrorsOf("Coscheduling", "{controllerWorkers: 0}"),
      "controllerWorkers: 0: coeSchedulingArgs ControllerWorkers invalid: must be at least 1");
  EXPECT_EQ(ErrorsOf("Coscheduling", "{defaultMatchPolicy: always}"),
            "defaultMatchPolicy: \"always\" is not one of only-waiting, waiting-and-running, "
            "once-satisfied");
}

TEST(PluginArgsTest, NodeAffinity) {
  const auto args = Read<NodeAffinityArgs>(
      "{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
      "[{matchExpressions: [{key: zone, operator: In, values: [a]}]}]}}}");
  ASSERT_TRUE(args.added_affinity && args.added_affinity->required);
  EXPECT_EQ(args.added_affinity->required->node_selector_terms.size(), 1u);
  EXPECT_EQ(
      ErrorsOf("NodeAffinity",
               "{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
               "{nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Is}, {key: b, "
               "operator: In}, {key: c, operator: Exists, values: [x]}, {key: d, operator: Gt, "
               "values: [x]}, {key: '-', operator: Exists}], matchFields: [{key: spec.x, operator: "
               "Gt, values: [a, b]}], matchLabels: {}}]}, "
               "preferredDuringSchedulingIgnoredDuringExecution: [{weight: 0, preference: "
               "{matchExpressions: [{key: a, operator: Foo}]}}, {weight: 1, preference: "
               "{matchExpressions: [{key: a, operator: NotIn}]}}]}}"),
      [] {
        const std::string term =
            "addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].";
        return term + "matchLabels: unknown field; known here are matchExpressions, matchFields\n" +
               term +
               "matchExpressions[0].operator: \"Is\" is not one of In, NotIn, Exists, "
               "DoesNotExist, Gt, Lt\n" +
               term +
               "matchExpressions[1].values: must have at least one value with the operator In\n" +
               term + "matchExpressions[2].values: must be empty with the operator Exists\n" +
               term + "matchExpressions[3].values: must be one integer with the operator Gt\n" +
               term +
               "matchExpressions[4].key: \"-\" is no label: name part must consist of alphanumeric "
               "characters, '-', '_' or '.', and must start and end with an alphanumeric character "
               "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
               "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')\n" +
               term + "matchFields[0].operator: \"Gt\" is not one of In, NotIn\n" + term +
               "matchFields[0].key: \"spec.x\" cannot be selected by: must be metadata.name\n" +
               term + "matchFields[0].values: must be one node name\n" +
               "addedAffinity.preferredDuringSchedulingIgnoredDuringExecution[1].preference."
               "matchExpressions[0].values: must have at least one value with the operator NotIn";
      }());
}

TEST(PluginArgsTest, Reservation) {
  const auto defaults = Read<ReservationArgs>("{gcDurationSeconds: 0, gcIntervalSeconds: 0}");
  EXPECT_FALSE(defaults.enable_preemption);
  EXPECT_EQ(defaults.min_candidate_nodes_percentage, 10);
  EXPECT_EQ(defaults.min_candidate_nodes_absolute, 100);
  EXPECT_EQ(defaults.controller_workers, 1);
  EXPECT_EQ(defaults.gc_duration(), 24h);
  EXPECT_EQ(defaults.gc_interval(), 1min);
  EXPECT_EQ(defaults.resync_interval(), 1min);
  EXPECT_FALSE(defaults.disable_garbage_collection);
  EXPECT_EQ(defaults.pre_allocation_config, std::nullopt);

  const auto modes = Read<ReservationArgs>("{preAllocationConfig: {enableClusterMode: true}}");
  EXPECT_EQ(modes.pre_allocation_config->cluster_label_key,
            "pod.koordinator.sh/is-pre-allocatable");
  EXPECT_EQ(modes.pre_allocation_config->cluster_priority_annotation_key,
            "pod.koordinator.sh/pre-allocatable-priority");

  EXPECT_EQ(ErrorsOf("Reservation",
                     "{minCandidateNodesPercentage: 101, minCandidateNodesAbsolute: -1, "
                     "controllerWorkers: 0, gcDurationSeconds: -1, gcIntervalSeconds: -2, "
                     "resyncIntervalSeconds: 9000000000000000}"),
            "minCandidateNodesPercentage: 101: must be in the range [0, 100]\n"
            "minCandidateNodesAbsolute: -1: must be non-negative\n"
            "controllerWorkers: 0 is too small: must be at least 1\n"
            "gcDurationSeconds: -1: must be non-negative\n"
            "gcIntervalSeconds: -2: must be non-negative\n"
            "resyncIntervalSeconds: 9000000000000000: must be at most 3153600000");
  EXPECT_EQ(ErrorsOf("Reservation",
                     "{ignoredResources: [example.com/gpu, cpu, kubernetes.io/batch-cpu], "
                     "ignoredResourceGroups: [example.com, a/b, kubernetes.io, '']}"),
            "ignoredResources[1]: \"cpu\": must be an extended resource name (e.g. "
            "example.com/gpu); native resources cannot be ignored\n"
            "ignoredResources[2]: \"kubernetes.io/batch-cpu\": must be an extended resource name "
            "(e.g. example.com/gpu); native resources cannot be ignored\n"
            "ignoredResourceGroups[1]: \"a/b\": resource group name can't contain '/'\n"
            "ignoredResourceGroups[2]: \"kubernetes.io\": must be usable as an extended resource "
            "prefix (a valid DNS subdomain and not the reserved \"kubernetes.io\" namespace)\n"
            "ignoredResourceGroups[3]: \"\": must be usable as an extended resource prefix (a "
            "valid DNS subdomain and not the reserved \"kubernetes.io\" namespace)");
}

TEST(PluginArgsTest, ReservationIgnoresResourcesByNameAndGroup) {
  const auto args = Read<ReservationArgs>(
      "{ignoredResources: [example.com/gpu], ignoredResourceGroups: [nvidia.com]}");
  EXPECT_TRUE(args.Ignores("example.com/gpu"));
  EXPECT_FALSE(args.Ignores("example.com/fpga"));
  EXPECT_TRUE(args.Ignores("nvidia.com/gpu"));
  EXPECT_FALSE(args.Ignores("nvidia.com"));
  EXPECT_FALSE(args.Ignores("cpu"));
}

TEST(PluginArgsTest, NodeResourcesFit) {
  const auto defaults = DefaultArgs<NodeResourcesFitArgs>();
  ASSERT_TRUE(defaults.scoring_strategy.has_value());
  EXPECT_EQ(defaults.scoring_strategy->type, kLeastAllocated);
  EXPECT_THAT(defaults.scoring_strategy->resources,
              ElementsAre(ResourceWeight{"cpu", 1}, ResourceWeight{"memory", 1}));
  const auto weights = Read<NodeResourcesFitArgs>(
      "{scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 0}, {name: a/b, "
      "weight: 100}]}}");
  EXPECT_THAT(weights.scoring_strategy->resources,
              ElementsAre(ResourceWeight{"cpu", 1}, ResourceWeight{"a/b", 100}));
  const auto shape = Read<NodeResourcesFitArgs>(
      "{scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: "
      "[{utilization: 0, score: 0}, {utilization: 60, score: 10}]}}}");
  EXPECT_THAT(shape.scoring_strategy->resources,
              ElementsAre(ResourceWeight{"cpu", 1}, ResourceWeight{"memory", 1}));
  EXPECT_EQ(shape.scoring_strategy->requested_to_capacity_ratio->shape.size(), 2u);

  EXPECT_EQ(ErrorsOf("NodeResourcesFit", "{scoringStrategy: {resources: [{name: cpu}]}}"),
            "scoringStrategy.type: \"\" is not one of LeastAllocated, MostAllocated, "
            "RequestedToCapacityRatio");
  EXPECT_EQ(ErrorsOf("NodeResourcesFit",
                     "{ignoredResourceGroups: [a/b], scoringStrategy: {type: LeastAllocated, "
                     "resources: [{name: cpu, weight: 101}, {name: memory, weight: -1}]}}"),
            "ignoredResourceGroups[0]: \"a/b\" is no resource group: it must not contain a slash\n"
            "scoringStrategy.resources[0].weight: 101 is not between 1 and 100\n"
            "scoringStrategy.resources[1].weight: -1 is not between 1 and 100");
  EXPECT_THAT(ErrorsOf("NodeResourcesFit", "{ignoredResources: [cpu, -x/y]}"),
              testing::StartsWith("ignoredResources[1]: \"-x/y\" is no resource: prefix part"));
  EXPECT_EQ(ErrorsOf("NodeResourcesFit",
                     "{scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: "
                     "{shape: [{utilization: 10, score: 11}, {utilization: 10, score: -1}, "
                     "{utilization: 101, score: 1}]}}}"),
            "scoringStrategy.requestedToCapacityRatio.shape[0].score: 11 is not between 0 and 10\n"
            "scoringStrategy.requestedToCapacityRatio.shape[1].score: -1 is not between 0 and 10\n"
            "scoringStrategy.requestedToCapacityRatio.shape[1].utilization: 10 is not greater than "
            "10, the one before it\n"
            "scoringStrategy.requestedToCapacityRatio.shape[2].utilization: 101 is not between 0 "
            "and 100");
  EXPECT_EQ(ErrorsOf("NodeResourcesFit", "{scoringStrategy: {type: RequestedToCapacityRatio}}"),
            "scoringStrategy.requestedToCapacityRatio.shape: must have at least one point");
}

TEST(PluginArgsTest, NodeResourcesBalancedAllocation) {
  EXPECT_THAT(DefaultArgs<NodeResourcesBalancedAllocationArgs>().resources,
              ElementsAre(ResourceWeight{"cpu", 1}, ResourceWeight{"memory", 1}));
  EXPECT_THAT(Read<NodeResourcesBalancedAllocationArgs>("{resources: [{name: a/b}]}").resources,
              ElementsAre(ResourceWeight{"a/b", 1}));
  EXPECT_EQ(ErrorsOf("NodeResourcesBalancedAllocation",
                     "{resources: [{name: cpu, weight: 5}, {name: cpu, weight: 1}]}"),
            "resources[0].weight: 5 is not allowed: must be 1\n"
            "resources[1].name: \"cpu\" is listed twice");
}

TEST(PluginArgsTest, InterPodAffinity) {
  EXPECT_EQ(DefaultArgs<InterPodAffinityArgs>().hard_pod_affinity_weight, 1);
  EXPECT_EQ(Read<InterPodAffinityArgs>("{hardPodAffinityWeight: 0}").hard_pod_affinity_weight, 0);
  EXPECT_EQ(ErrorsOf("InterPodAffinity", "{hardPodAffinityWeight: 101}"),
            "hardPodAffinityWeight: 101 is not between 0 and 100");
  EXPECT_EQ(ErrorsOf("InterPodAffinity", "{hardPodAffinityWeight: -1, hardPodAffinityWeigth: 2}"),
            "hardPodAffinityWeigth: unknown field (did you mean hardPodAffinityWeight?)\n"
            "hardPodAffinityWeight: -1 is not between 0 and 100");
}

TEST(PluginArgsTest, PodTopologySpread) {
  EXPECT_EQ(DefaultArgs<PodTopologySpreadArgs>().defaulting_type, "System");
  EXPECT_EQ(Read<PodTopologySpreadArgs>("{defaultingType: List, defaultConstraints: [{maxSkew: 1, "
                                        "topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}, "
                                        "{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: "
                                        "DoNotSchedule}]}")
                .default_constraints.size(),
            2u);
  EXPECT_EQ(ErrorsOf("PodTopologySpread",
                     "{defaultingType: List, defaultConstraints: [{maxSkew: 0, topologyKey: '', "
                     "whenUnsatisfiable: X, labelSelector: {matchLabels: {a: b}}}, {maxSkew: 1, "
                     "topologyKey: '', whenUnsatisfiable: X}]}"),
            "defaultConstraints[0].maxSkew: 0 is too small: must be at least 1\n"
            "defaultConstraints[0].topologyKey: must not be empty\n"
            "defaultConstraints[0].whenUnsatisfiable: \"X\" is not one of DoNotSchedule, "
            "ScheduleAnyway\n"
            "defaultConstraints[0].labelSelector: must not be set: it follows from what owns each "
            "pod\n"
            "defaultConstraints[1].topologyKey: must not be empty\n"
            "defaultConstraints[1].whenUnsatisfiable: \"X\" is not one of DoNotSchedule, "
            "ScheduleAnyway\n"
            "defaultConstraints[1]: repeats topologyKey \"\" with whenUnsatisfiable \"X\"");
  EXPECT_EQ(ErrorsOf("PodTopologySpread", "{defaultingType: Lists}"),
            "defaultingType: \"Lists\" is not one of System, List");
  EXPECT_EQ(ErrorsOf("PodTopologySpread",
                     "{defaultConstraints: [{maxSkew: 1, topologyKey: a, "
                     "whenUnsatisfiable: ScheduleAnyway}]}"),
            "defaultingType: must be List where defaultConstraints are given");
}

TEST(PluginArgsTest, VolumeBindingAndDynamicResources) {
  EXPECT_EQ(DefaultArgs<VolumeBindingArgs>().bind_timeout_seconds, 600);
  EXPECT_EQ(Read<VolumeBindingArgs>("{bindTimeoutSeconds: 0}").bind_timeout_seconds, 0);
  EXPECT_EQ(
      ErrorsOf("VolumeBinding", "{bindTimeoutSeconds: -1, shape: [{utilization: 0, score: 0}]}"),
      "bindTimeoutSeconds: -1 is too small: must be at least 0\n"
      "shape: must be absent: StorageCapacityScoring is not available");
  EXPECT_EQ(DefaultArgs<DynamicResourcesArgs>().filter_timeout, Duration(10s));
  EXPECT_EQ(ErrorsOf("DynamicResources", "{filterTimeout: -1s}"),
            "filterTimeout: -1s is negative: must be at least 0s");
}

TEST(PluginArgsTest, DefaultPreemption) {
  const auto args = Read<DefaultPreemptionArgs>("{minCandidateNodesPercentage: 0}");
  EXPECT_EQ(args.min_candidate_nodes_percentage, 0);
  EXPECT_EQ(args.min_candidate_nodes_absolute, 100);
  EXPECT_EQ(ErrorsOf("DefaultPreemption",
                     "{minCandidateNodesPercentage: 101, minCandidateNodesAbsolute: -1}"),
            "minCandidateNodesPercentage: 101 is not between 0 and 100\n"
            "minCandidateNodesAbsolute: -1 is too small: must be at least 0");
  EXPECT_EQ(ErrorsOf("DefaultPreemption",
                     "{minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 0}"),
            ": minCandidateNodesPercentage and minCandidateNodesAbsolute cannot both be 0");
}

TEST(PluginArgsTest, LoadAwareDefaults) {
  const auto args = DefaultArgs<LoadAwareSchedulingArgs>();
  EXPECT_TRUE(args.filter_expired_node_metrics);
  EXPECT_EQ(args.node_metric_expiration_seconds, 180);
  EXPECT_EQ(args.resource_weights, (ResourceNumbers{{"cpu", 1}, {"memory", 1}}));
  EXPECT_EQ(args.usage_thresholds, (ResourceNumbers{{"cpu", 65}, {"memory", 95}}));
  EXPECT_EQ(args.prod_usage_thresholds, ResourceNumbers());
  EXPECT_EQ(args.estimated_scaling_factors, (ResourceNumbers{{"cpu", 85}, {"memory", 70}}));
  EXPECT_FALSE(args.aggregated.has_value());
  EXPECT_FALSE(args.estimated_seconds_after_initialized.has_value());
  EXPECT_THAT(TrackedResources(args), ElementsAre("cpu", "memory"));
}

TEST(PluginArgsTest, LoadAwareDependentDefaults) {
  const auto dominant = Read<LoadAwareSchedulingArgs>("{dominantResourceWeight: 1}");
  EXPECT_EQ(dominant.resource_weights, ResourceNumbers()) << "the dominant resource is a weight";
  const auto factors =
      Read<LoadAwareSchedulingArgs>("{estimatedScalingFactors: {cpu: 80, example.com/x: 5}}");
  EXPECT_EQ(factors.estimated_scaling_factors,
            (ResourceNumbers{{"cpu", 80}, {"example.com/x", 5}, {"memory", 70}}));
  const auto thresholds = Read<LoadAwareSchedulingArgs>("{usageThresholds: {cpu: 10}}");
  EXPECT_EQ(thresholds.usage_thresholds, (ResourceNumbers{{"cpu", 10}}));
  const auto tracked = Read<LoadAwareSchedulingArgs>(
      "{prodUsageThresholds: {b: 1}, supportedResources: [a, z], aggregated: {usageThresholds: {c: "
      "1}, usageAggregationType: p95, usageAggregatedDuration: 5m}}");
  EXPECT_THAT(TrackedResources(tracked), ElementsAre("a", "b", "c", "cpu", "memory", "z"));
  EXPECT_EQ(tracked.aggregated->usage_aggregated_duration, 5min);
}

TEST(PluginArgsTest, LoadAwareMistakes) {
  EXPECT_EQ(
      ErrorsOf("LoadAwareScheduling",
               "{nodeMetricExpirationSeconds: 0, resourceWeights: {cpu: 0, gpu: 101}, "
               "dominantResourceWeight: 101, usageThresholds: {cpu: -1}, prodUsageThresholds: "
               "{cpu: 101}, estimatedScalingFactors: {cpu: 0, memory: 101}, aggregated: "
               "{usageThresholds: {cpu: 101}, usageAggregationType: p42, usageAggregatedDuration: "
               "-1s, scoreAggregationType: max, scoreAggregatedDuration: -1m}}"),
      "nodeMetricExpirationSeconds: 0 is too small: must be at least 1\n"
      "resourceWeights.cpu: 0 is not between 1 and 100\n"
      "resourceWeights.gpu: 101 is not between 1 and 100\n"
      "dominantResourceWeight: 101 is not between 0 and 100\n"
      "usageThresholds.cpu: -1 is not between 0 and 100\n"
      "prodUsageThresholds.cpu: 101 is not between 0 and 100\n"
      "estimatedScalingFactors.cpu: 0 is not between 1 and 100\n"
      "estimatedScalingFactors.memory: 101 is not between 1 and 100\n"
      "resourceWeights.gpu: \"gpu\" has a weight but no entry in estimatedScalingFactors\n"
      "aggregated.usageThresholds.cpu: 101 is not between 0 and 100\n"
      "aggregated.usageAggregationType: \"p42\" is not one of avg, p50, p90, p95, p99\n"
      "aggregated.usageAggregatedDuration: -1s is negative: must be at least 0s\n"
      "aggregated.scoreAggregationType: \"max\" is not one of avg, p50, p90, p95, p99\n"
      "aggregated.scoreAggregatedDuration: -1m0s is negative: must be at least 0s");
}

TEST(PluginArgsTest, KoordinatorsScorers) {
  const auto plus = Read<NodeResourcesFitPlusArgs>(
      "{resources: {nvidia.com/gpu: {type: MostAllocated, weight: 2}, cpu: {type: LeastAllocated, "
      "weight: 1}}}");
  EXPECT_EQ(plus.resources.at("nvidia.com/gpu"), (ResourceStrategy{"MostAllocated", 2}));
  EXPECT_EQ(
      ErrorsOf("NodeResourcesFitPlus", "{resources: {cpu: {type: LeastAllocated, weight: -1}}}"),
      "resources.cpu.weight: -1 is too small: must be at least 0");
  const auto odd =
      LoadConfiguration(WithArgs("NodeResourcesFitPlus", "{resources: {cpu: {type: Foo}}}"), "");
  ASSERT_TRUE(odd.ok()) << odd.status();
  EXPECT_THAT(odd->warnings,
              ElementsAre("line 4: profiles[0].pluginConfig[0].args.resources.cpu.type: \"Foo\" is "
                          "neither LeastAllocated nor MostAllocated: every node scores 0 for it"));
  EXPECT_THAT(Read<ScarceResourceAvoidanceArgs>("{resources: [nvidia.com/gpu]}").resources,
              ElementsAre("nvidia.com/gpu"));
  EXPECT_EQ(DefaultArgs<SchedulingHintArgs>().max_hint_nodes, 100);
  EXPECT_EQ(ErrorsOf("SchedulingHint", "{maxHintNodes: 0}"),
            "maxHintNodes: 0 is too small: must be at least 1");
}

}  // namespace
}  // namespace koord::scheduler::plugin_args_test
