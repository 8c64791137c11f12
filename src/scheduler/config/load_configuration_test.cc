#include "scheduler/config/load_configuration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/source_dir/source_dir.h"
#include "kube/yaml.h"

namespace koord::scheduler::load_configuration_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string Configuration(std::string_view rest) {
  return fmt::format("apiVersion: {}\nkind: {}\n{}\n", kConfigApiVersion, kConfigKind, rest);
}

SchedulerConfiguration Load(std::string_view rest) {
  return LoadConfiguration(Configuration(rest), "s.yaml").value().configuration;
}

std::string ErrorOf(std::string_view text) {
  const auto loaded = LoadConfiguration(text, "s.yaml");
  return loaded.ok() ? "" : std::string(Message(loaded.status()));
}

std::string ReadTestFile(std::string_view name) {
  return ReadFile(SourcePath("src/scheduler/config/testdata") / name).value();
}

TEST(LoadConfigurationTest, DefaultsAreThoseOfKubernetes) {
  const kube::Json written = ToJson(Load(""));
  EXPECT_TRUE(kube::Equal(written, ToJson(DefaultConfiguration())));
  kube::Json rest = written;
  rest.as_object().erase("profiles");
  EXPECT_TRUE(kube::Equal(rest, kube::ParseYaml(R"(
apiVersion: kubescheduler.config.k8s.io/v1
clientConnection:
  acceptContentTypes: ""
  burst: 100
  contentType: application/vnd.kubernetes.protobuf
  kubeconfig: ""
  qps: 50
enableContentionProfiling: true
enableProfiling: true
kind: KubeSchedulerConfiguration
leaderElection:
  leaderElect: true
  leaseDuration: 15s
  renewDeadline: 10s
  resourceLock: leases
  resourceName: kube-scheduler
  resourceNamespace: kube-system
  retryPeriod: 2s
parallelism: 16
percentageOfNodesToScore: 0
podInitialBackoffSeconds: 1
podMaxBackoffSeconds: 10
)")
                                    .value()))
      << kube::Serialize(rest);
  const kube::Json& profile = written.at("profiles").at(0);
  EXPECT_EQ(profile.at("schedulerName"), "default-scheduler");
  EXPECT_TRUE(kube::Equal(profile.at("pluginConfig"), kube::ParseYaml(R"(
- args:
    apiVersion: kubescheduler.config.k8s.io/v1
    kind: DefaultPreemptionArgs
    minCandidateNodesAbsolute: 100
    minCandidateNodesPercentage: 10
  name: DefaultPreemption
- args:
    apiVersion: kubescheduler.config.k8s.io/v1
    filterTimeout: 10s
    kind: DynamicResourcesArgs
  name: DynamicResources
- args:
    apiVersion: kubescheduler.config.k8s.io/v1
    hardPodAffinityWeight: 1
    ignorePreferredTermsOfExistingPods: false
    kind: InterPodAffinityArgs
  name: InterPodAffinity
- args:
    apiVersion: kubescheduler.config.k8s.io/v1
    kind: NodeAffinityArgs
  name: NodeAffinity
- args:
    apiVersion: kubescheduler.config.k8s.io/v1
    kind: NodeResourcesBalancedAllocationArgs
    resources:
    - {name: cpu, weight: 1}
    - {name: memory, weight: 1}
  name: NodeResourcesBalancedAllocation
- args:
    apiVersion: kubescheduler.config.k8s.io/v1
    kind: NodeResourcesFitArgs
    scoringStrategy:
      resources:
      - {name: cpu, weight: 1}
      - {name: memory, weight: 1}
      type: LeastAllocated
  name: NodeResourcesFit
- args:
    apiVersion: kubescheduler.config.k8s.io/v1
    defaultingType: System
    kind: PodTopologySpreadArgs
  name: PodTopologySpread
- args:
    apiVersion: kubescheduler.config.k8s.io/v1
    bindTimeoutSeconds: 600
    kind: VolumeBindingArgs
  name: VolumeBinding
)")
                                                          .value()))
      << kube::Serialize(profile.at("pluginConfig"));
}

TEST(LoadConfigurationTest, EmptyStandsForTheDefaultWhereKubernetesSaysSo) {
  const SchedulerConfiguration configuration = Load(
      "leaderElection: {leaseDuration: 0s, resourceName: '', leaderElect: false}\n"
      "clientConnection: {qps: 0, burst: 0, kubeconfig: /k}\n"
      "extenders: [{urlPrefix: 'http://a'}]\n");
  EXPECT_EQ(configuration.leader_election.lease_duration, 15s);
  EXPECT_EQ(configuration.leader_election.resource_name, "kube-scheduler");
  EXPECT_FALSE(configuration.leader_election.leader_elect);
  EXPECT_EQ(configuration.client_connection.qps, 50);
  EXPECT_EQ(configuration.client_connection.burst, 100);
  EXPECT_EQ(configuration.client_connection.kubeconfig, "/k");
  EXPECT_EQ(configuration.extenders.at(0).http_timeout, 5s);
}

TEST(LoadConfigurationTest, WhatIsWrittenReadsBackAsTheSame) {
  const std::string texts[] = {
      Configuration(""),
      ReadTestFile("chart.yaml"),
      ReadTestFile("manifest.yaml"),
      Configuration("enableProfiling: false\nenableContentionProfiling: false\n"
                    "leaderElection: {leaderElect: false}\nparallelism: 3\n"
                    "clientConnection: {qps: -1}\n"
                    "extenders: [{urlPrefix: 'http://a', filterVerb: f, httpTimeout: 1m30s, "
                    "managedResources: [{name: a.com/b, ignoredByScheduler: true}]}]\n"
                    "profiles: [{percentageOfNodesToScore: 0, plugins: {multiPoint: {disabled: "
                    "[{name: NodeName}], enabled: [{name: NodeName}, {name: NodeAffinity, weight: "
                    "9}]}, preBind: {disabled: [{name: '*'}]}}, pluginConfig: [{name: "
                    "LoadAwareScheduling, args: {filterExpiredNodeMetrics: false, "
                    "dominantResourceWeight: 1, aggregated: {usageAggregationType: p95}}}, {name: "
                    "NodeAffinity, args: {addedAffinity: {}}}, {name: Unheard}]}]"),
  };
  for (const std::string& text : texts) {
    const auto first = LoadConfiguration(text, "a");
    ASSERT_TRUE(first.ok()) << first.status();
    const std::string written = ToYaml(first->configuration);
    const auto second = LoadConfiguration(written, "b");
    ASSERT_TRUE(second.ok()) << second.status() << written;
    EXPECT_EQ(ToYaml(second->configuration), written);
    EXPECT_EQ(second->configuration.profiles, first->configuration.profiles);
    EXPECT_EQ(second->configuration.extenders, first->configuration.extenders);
  }
}

TEST(LoadConfigurationTest, ShippedProfilesLoadAsTheyAre) {
  const auto chart = LoadConfiguration(ReadTestFile("chart.yaml"), "chart.yaml");
  ASSERT_TRUE(chart.ok()) << chart.status();
  EXPECT_THAT(chart->warnings, IsEmpty());
  EXPECT_EQ(chart->configuration.leader_election.resource_name, "koord-scheduler");
  EXPECT_EQ(chart->configuration.leader_election.resource_namespace, "koordinator-system");
  const Profile& profile = chart->configuration.profiles.at(0);
  const auto load_aware = ArgsFor<LoadAwareSchedulingArgs>(profile);
  EXPECT_FALSE(load_aware.filter_expired_node_metrics);
  EXPECT_EQ(load_aware.node_metric_expiration_seconds, 300);
  EXPECT_EQ(load_aware.usage_thresholds, (ResourceNumbers{{"cpu", 65}, {"memory", 95}}));
  const auto fit = ArgsFor<NodeResourcesFitArgs>(profile);
  EXPECT_EQ(fit.scoring_strategy->resources.size(), 4u);
  EXPECT_TRUE(ArgsFor<CoschedulingArgs>(profile).aware_network_topology);
  EXPECT_EQ(RawArgsFor(profile, "Reservation"), nullptr);

  const auto manifest = LoadConfiguration(ReadTestFile("manifest.yaml"), "manifest.yaml");
  ASSERT_TRUE(manifest.ok()) << manifest.status();
  EXPECT_THAT(manifest->warnings, IsEmpty());
  const auto thresholds =
      ArgsFor<LoadAwareSchedulingArgs>(manifest->configuration.profiles.at(0)).usage_thresholds;
  EXPECT_EQ(thresholds, (ResourceNumbers{{"cpu", 0}, {"memory", 0}}));
}

TEST(LoadConfigurationTest, OlderSpellings) {
  std::string text = ReadTestFile("chart.yaml");
  const auto current = LoadConfiguration(text, "s.yaml");
  ASSERT_TRUE(current.ok());
  for (const char* version : {"v1beta3", "v1beta2"}) {
    std::string old = text;
    for (size_t at = 0; (at = old.find("k8s.io/v1\n", at)) != std::string::npos;) {
      old.replace(at, 9, fmt::format("k8s.io/{}", version));
    }
    const auto loaded = LoadConfiguration(old, "s.yaml");
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    EXPECT_THAT(loaded->warnings,
                ElementsAre(fmt::format("s.yaml:1: apiVersion: kubescheduler.config.k8s.io/{} is "
                                        "read as kubescheduler.config.k8s.io/v1",
                                        version)));
    EXPECT_EQ(loaded->configuration.api_version, kConfigApiVersion);
    ASSERT_EQ(loaded->configuration.profiles.size(), 1u);
    EXPECT_EQ(loaded->configuration.profiles[0].plugins,
              current->configuration.profiles[0].plugins);
    EXPECT_EQ(ArgsFor<LoadAwareSchedulingArgs>(loaded->configuration.profiles[0]),
              ArgsFor<LoadAwareSchedulingArgs>(current->configuration.profiles[0]));
  }
  const auto retired = LoadConfiguration(
      "apiVersion: kubescheduler.config.k8s.io/v1beta2\nkind: KubeSchedulerConfiguration\n"
      "healthzBindAddress: 0.0.0.0:10251\n",
      "s.yaml");
  ASSERT_TRUE(retired.ok()) << retired.status();
  EXPECT_THAT(retired->warnings,
              ElementsAre(testing::_,
                          "s.yaml:3: healthzBindAddress: has no effect: --address and "
                          "--port decide"));
  EXPECT_EQ(ErrorOf(Configuration("healthzBindAddress: x")).substr(0, 49),
            "s.yaml:3: healthzBindAddress: unknown field; know");
}

TEST(LoadConfigurationTest, JsonIsReadToo) {
  const auto loaded = LoadConfiguration(kube::Serialize(ToJson(DefaultConfiguration())), "s.json");
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->configuration.profiles, DefaultConfiguration().profiles);
}

TEST(LoadConfigurationTest, NotAConfiguration) {
  EXPECT_EQ(ErrorOf("[]"), "s.yaml:1: expected a KubeSchedulerConfiguration");
  EXPECT_EQ(ErrorOf(""),
            "s.yaml:1: apiVersion: \"\" is not one of kubescheduler.config.k8s.io/v1, "
            "kubescheduler.config.k8s.io/v1beta3, kubescheduler.config.k8s.io/v1beta2\n"
            "s.yaml:1: kind: \"\" is not one of KubeSchedulerConfiguration");
  EXPECT_EQ(ErrorOf("apiVersion: kubescheduler.config.k8s.io/v1\nkind: Pod\n"),
            "s.yaml:2: kind: \"Pod\" is not one of KubeSchedulerConfiguration");
  EXPECT_EQ(ErrorOf("a: [").substr(0, 9), "s.yaml:1:");
}

TEST(LoadConfigurationTest, AllMistakesAtOnce) {
  EXPECT_EQ(ErrorOf(Configuration(R"(paralelism: 3
parallelism: 0
enableProfiling: "no"
percentageOfNodesToScore: 101
podInitialBackoffSeconds: -1
podMaxBackoffSeconds: -2
clientConnection: {burst: -5}
leaderElection: {leaseDuration: 10s, renewDeadline: 10s, retryPeriod: 20, resourceLock: endpoints}
profiles:
- schedulerName: a
  percentageOfNodesToScore: -1
  plugins: {filters: {}}
- schedulerName: a
- {}
extenders:
- {urlPrefix: "http://x", prioritizeVerb: x, bindVerb: b, managedResources: [{name: cpu}]}
- {bindVerb: b, managedResources: [{name: a.com/b}, {name: a.com/b}], tlsConfig: {caData: "a-"}}
)")),
            R"(s.yaml:3: paralelism: unknown field (did you mean parallelism?)
s.yaml:4: parallelism: 0 is too small: must be at least 1
s.yaml:5: enableProfiling: expected a boolean, found "no"
s.yaml:6: percentageOfNodesToScore: 101 is not between 0 and 100
s.yaml:7: podInitialBackoffSeconds: -1 is too small: must be at least 1
s.yaml:8: podMaxBackoffSeconds: -2 is too small: must be at least podInitialBackoffSeconds (-1)
s.yaml:9: clientConnection.burst: -5 is too small: must be at least 0
s.yaml:10: leaderElection.retryPeriod: expected a duration, found a number
s.yaml:10: leaderElection.leaseDuration: 10s is too short: must be longer than renewDeadline (10s)
s.yaml:10: leaderElection.resourceLock: "endpoints" is not supported: must be leases
s.yaml:13: profiles[0].percentageOfNodesToScore: -1 is not between 0 and 100
s.yaml:14: profiles[0].plugins.filters: unknown field (did you mean filter?)
s.yaml:15: profiles[1].schedulerName: "a" is the name of another profile too
s.yaml:16: profiles[2].schedulerName: must not be empty where there are several profiles
s.yaml:18: extenders[0].weight: 0 is too small: must be at least 1
s.yaml:18: extenders[0].managedResources[0].name: "cpu" is no extended resource like example.com/gpu
s.yaml:19: extenders[1].managedResources[1].name: "a.com/b" is managed twice
s.yaml:19: extenders[1].tlsConfig.caData: is not base64
s.yaml:19: extenders[1].bindVerb: only one extender may bind pods)");
}

TEST(LoadConfigurationTest, OddButAllowed) {
  const auto loaded = LoadConfiguration(
      Configuration("profiles:\n- plugins: {filter: {disabled: [{name: NodeNames}]}}\n"
                    "  pluginConfig:\n  - name: LoadAware\n  - name: NodePorts\n"),
      "s.yaml");
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_THAT(
      loaded->warnings,
      ElementsAre("s.yaml:4: profiles[0].plugins.filter.disabled[0].name: there is no plugin "
                  "\"NodeNames\" (did you mean NodeName?)",
                  "s.yaml:6: profiles[0].pluginConfig[0].name: there is no plugin \"LoadAware\""));
}

}  // namespace
}  // namespace koord::scheduler::load_configuration_test
