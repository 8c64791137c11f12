#include "scheduler/plugins/pod_topology_spread/pod_topology_spread.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::pod_topology_spread_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kMissing =
    "UnschedulableAndUnresolvable: node(s) didn't match pod topology spread constraints (missing "
    "required label)";
constexpr std::string_view kSkew =
    "Unschedulable: node(s) didn't match pod topology spread constraints";

std::string Constraint(std::string_view when, std::string_view key, int max_skew,
                       std::string_view more = ", labelSelector: {matchLabels: {app: web}}") {
  return fmt::format("{{whenUnsatisfiable: {}, topologyKey: {}, maxSkew: {}{}}}", when, key,
                     max_skew, more);
}

std::string Hard(std::string_view key, int max_skew,
                 std::string_view more = ", labelSelector: {matchLabels: {app: web}}") {
  return Constraint("DoNotSchedule", key, max_skew, more);
}

std::string Pod(std::string_view labels, std::string_view constraints, std::string_view more = "") {
  return fmt::format(
      "{{metadata: {{name: p, labels: {}}}, spec: {{topologySpreadConstraints: [{}]{}}}}}", labels,
      constraints, more);
}

class PodTopologySpreadTest : public testing::Test {
 protected:
  void AddNode(std::string_view name, std::string_view labels, std::string_view spec = "{}") {
    bed_.AddNode(
        fmt::format("{{metadata: {{name: {}, labels: {}}}, spec: {}}}", name, labels, spec));
  }
  void AddPods(std::string_view node, int pods, std::string_view labels = "{app: web}",
               std::string_view metadata = "") {
    for (int i = 0; i < pods; ++i) {
      bed_.AddPod(
          fmt::format("{{metadata: {{name: pod-{}, labels: {}{}}}, spec: {{nodeName: {}}}}}",
                      next_++, labels, metadata, node));
    }
  }
  void AddZones() {
    AddNode("a", "{zone: a, host: a}");
    AddNode("b", "{zone: b, host: b}");
  }
  std::string Check(std::string_view pod, std::string_view node) {
    return bed_.Check(plugin_, *bed_.Query(plugin_, pod), node);
  }

  PluginBed bed_;
  PodTopologySpread plugin_{bed_.context, {}};
  int next_ = 0;
};

TEST_F(PodTopologySpreadTest, RefusesDomainsThatWouldBeTooFarAhead) {
  AddZones();
  AddPods("a", 3);
  AddPods("b", 1);
  const std::string pod = Pod("{app: web}", Hard("zone", 1));
  EXPECT_EQ(Check(pod, "a"), kSkew);
  EXPECT_EQ(Check(pod, "b"), "");
  EXPECT_EQ(Check(Pod("{app: web}", Hard("zone", 3)), "a"), "");
  EXPECT_EQ(Check(Pod("{app: other}", Hard("zone", 2)), "a"), "") << "does not count itself";
}

TEST_F(PodTopologySpreadTest, WithTooFewDomainsTheLeastIsNone) {
  AddZones();
  AddPods("a", 3);
  AddPods("b", 1);
  const std::string pod = Pod(
      "{app: web}", Hard("zone", 1, ", minDomains: 3, labelSelector: {matchLabels: {app: web}}"));
  EXPECT_EQ(Check(pod, "a"), kSkew);
  EXPECT_EQ(Check(pod, "b"), kSkew);
  AddNode("c", "{zone: c}");
  EXPECT_EQ(Check(pod, "c"), "");
}

TEST_F(PodTopologySpreadTest, NodesWithoutAKeyTakeNoPods) {
  AddZones();
  AddNode("bare", "{zone: c}");
  AddPods("a", 1);
  AddPods("b", 1);
  EXPECT_EQ(Check(Pod("{app: web}", Hard("host", 1)), "bare"), kMissing);
  const std::string both = Pod("{app: web}", Hard("zone", 1) + ", " + Hard("host", 1));
  EXPECT_EQ(Check(both, "a"), "") << "zone c is not a domain: its node lacks the other key";
  EXPECT_EQ(Check(both, "bare"), kMissing) << "zone c is free, but the host is missing";
}

TEST_F(PodTopologySpreadTest, CountsOnlyPodsThatMatchAndStay) {
  AddZones();
  AddPods("a", 1, "{app: other}");
  AddPods("a", 1, "{app: web}", ", namespace: elsewhere");
  AddPods("a", 1, "{app: web}", ", deletionTimestamp: \"2024-01-01T00:00:00Z\"");
  EXPECT_EQ(Check(Pod("{app: web}", Hard("zone", 1)), "a"), "");
  AddPods("a", 1);
  EXPECT_EQ(Check(Pod("{app: web}", Hard("zone", 1)), "a"), kSkew);
}

TEST_F(PodTopologySpreadTest, SelectorsThatAskForNothingCountNobody) {
  AddZones();
  AddPods("a", 5);
  EXPECT_EQ(Check(Pod("{app: web}", Hard("zone", 1, ", labelSelector: {}")), "a"), "");
  EXPECT_EQ(Check(Pod("{app: web}", Hard("zone", 1, "")), "a"), "");
}

TEST_F(PodTopologySpreadTest, LabelsOfThePodNarrowItsSelector) {
  AddZones();
  AddPods("a", 2, "{app: web, version: old}");
  const std::string_view more =
      ", labelSelector: {matchLabels: {app: web}}, matchLabelKeys: [version, absent]";
  EXPECT_EQ(Check(Pod("{app: web, version: new}", Hard("zone", 1, more)), "a"), "");
  EXPECT_EQ(Check(Pod("{app: web, version: old}", Hard("zone", 1, more)), "a"), kSkew);
}

TEST_F(PodTopologySpreadTest, NodesThatThePodCannotUseAreNoDomainsUnlessItSaysSo) {
  AddNode("a", "{zone: a, disk: ssd}");
  AddNode("b", "{zone: b, disk: hdd}");
  AddNode("c", "{zone: c, disk: ssd}", "{taints: [{key: gone, effect: NoExecute}]}");
  AddPods("a", 1);
  const std::string_view app = ", labelSelector: {matchLabels: {app: web}}";
  const auto check = [&](std::string_view policies) {
    return Check(Pod("{app: web}", Hard("zone", 1, fmt::format("{}{}", app, policies)),
                     ", nodeSelector: {disk: ssd}"),
                 "a");
  };
  EXPECT_EQ(check(""), kSkew) << "zone c is empty";
  EXPECT_EQ(check(", nodeTaintsPolicy: Honor"), "") << "only zone a is left";
  EXPECT_EQ(check(", nodeTaintsPolicy: Honor, nodeAffinityPolicy: Ignore"), kSkew)
      << "zone b is empty";
}

TEST_F(PodTopologySpreadTest, VictimsAndPromisedPodsAreConsidered) {
  AddZones();
  AddPods("a", 2);
  AddPods("b", 1);
  const auto query = bed_.Query(plugin_, Pod("{app: web}", Hard("zone", 1)));
  EXPECT_EQ(bed_.Check(plugin_, *query, "a"), kSkew);
  const RowDelta without{.removed = {bed_.ledger.Find("pod-0")}, .added = {}, .released = {}};
  EXPECT_EQ(bed_.Check(plugin_, *query, "a", &without), "");
  PodInfo promised;
  promised.pod = PodOf("{metadata: {name: q, labels: {app: web}}}");
  promised.shape = bed_.ledger.shapes().Of(promised.pod);
  EXPECT_EQ(bed_.Check(plugin_, *query, "b"), "");
  const RowDelta with{.removed = {}, .added = {&promised}, .released = {}};
  EXPECT_EQ(bed_.Check(plugin_, *query, "b", &with), "");
  const RowDelta with_two{.removed = {}, .added = {&promised, &promised}, .released = {}};
  EXPECT_EQ(bed_.Check(plugin_, *query, "b", &with_two), kSkew);
}

TEST_F(PodTopologySpreadTest, AsksForAnotherLookOnlyWhenADomainFillsUpOrIsFreeAgain) {
  AddZones();
  const auto query = bed_.Query(plugin_, Pod("{app: web}", Hard("zone", 2)));
  const uint64_t empty = plugin_.WideVersion(*query);
  AddPods("a", 1);
  EXPECT_EQ(plugin_.WideVersion(*query), empty);
  AddPods("a", 1);
  EXPECT_NE(plugin_.WideVersion(*query), empty) << "zone a is full";
  EXPECT_EQ(plugin_.WideVersion(*bed_.Query(plugin_, Pod("{}", ""))), 0u);
}

TEST_F(PodTopologySpreadTest, BadSelectorsAreErrorsOfTheirPod) {
  AddZones();
  const std::string_view bad = ", labelSelector: {matchExpressions: [{key: app, operator: Maybe}]}";
  bed_.Query(plugin_, Pod("{}", Hard("zone", 1, bad)));
  EXPECT_EQ(bed_.pre_filter.verdict.code, Code::kError);
  EXPECT_THAT(bed_.pre_filter.verdict.Message(),
              testing::StartsWith("obtaining pod's hard topology spread constraints: "));
  const auto soft = bed_.Query(plugin_, Pod("{}", Constraint("ScheduleAnyway", "zone", 1, bad)));
  EXPECT_EQ(bed_.pre_filter.verdict.code, Code::kSkip);
  EXPECT_EQ(plugin_.PreScore(*soft, {}).code, Code::kError);
}

// ---- Score

TEST_F(PodTopologySpreadTest, CrowdedDomainsAreWorse) {
  AddNode("n1", "{zone: a, kubernetes.io/hostname: n1}");
  AddNode("n2", "{zone: a, kubernetes.io/hostname: n2}");
  AddNode("n3", "{zone: b, kubernetes.io/hostname: n3}");
  AddNode("n4", "{zone: b, kubernetes.io/hostname: n4}");
  AddPods("n1", 2);
  AddPods("n2", 1);
  AddPods("n4", 1);
  const auto query = bed_.Query(
      plugin_, Pod("{app: web}", Constraint("ScheduleAnyway", "kubernetes.io/hostname", 1) + ", " +
                                     Constraint("ScheduleAnyway", "zone", 2)));
  EXPECT_EQ(bed_.pre_filter.verdict.code, Code::kSkip) << "there is nothing to filter by";
  const std::vector<uint8_t> feasible = {1, 1, 1, 0};
  ASSERT_TRUE(plugin_.PreScore(*query, feasible).ok());
  std::vector<int64_t> scores(3);
  plugin_.Score(*query, RowRange::First(3), scores.data());
  EXPECT_THAT(scores, ElementsAre(8, 7, 2));
  plugin_.Normalize(*query, {2, 8}, scores);
  EXPECT_THAT(scores, ElementsAre(25, 37, 100));
}

TEST_F(PodTopologySpreadTest, NodesThatLackAKeyEndWithNothing) {
  AddZones();
  AddNode("bare", "{}");
  const auto query = bed_.Query(plugin_, Pod("{}", Constraint("ScheduleAnyway", "zone", 1)));
  EXPECT_THAT(bed_.RawScores(plugin_, *query), ElementsAre(0, 0, kIgnoredRow));
  EXPECT_THAT(bed_.Scores(plugin_, *query), ElementsAre(100, 100, 0)) << "nothing anywhere is fine";
}

TEST_F(PodTopologySpreadTest, HugeSkewsAreCountedExactly) {
  AddZones();
  const auto query = bed_.Query(
      plugin_, Pod("{app: web}", Constraint("ScheduleAnyway", "zone", 2147483647) + ", " +
                                     Constraint("ScheduleAnyway", "host", 2147483647)));
  EXPECT_THAT(bed_.RawScores(plugin_, *query), ElementsAre(4294967292, 4294967292));
  EXPECT_THAT(bed_.Scores(plugin_, *query), ElementsAre(100, 100));
}

// ---- Defaults

class SpreadDefaults : public PodTopologySpreadTest {
 protected:
  SpreadDefaults() {
    for (const auto* name : {"n1", "n2"}) {
      AddNode(name,
              fmt::format("{{topology.kubernetes.io/zone: z, kubernetes.io/hostname: {}}}", name));
    }
    AddNode("bare", "{}");
    AddPods("n1", 1, "{app: web, tier: front}");
  }
  std::vector<int64_t> Raw(std::string_view pod) {
    return bed_.RawScores(plugin_, *bed_.Query(plugin_, pod));
  }
  template <class T>
  void Set(ObjectCache<T>& cache, std::string_view yaml) {
    cache.Set(FromYaml<T>(yaml));
  }
  static std::string OwnedBy(std::string_view api_version, std::string_view kind) {
    return fmt::format(
        "{{metadata: {{name: p, labels: {{app: web, tier: front}}, ownerReferences: "
        "[{{apiVersion: {}, kind: {}, name: owner, uid: u, controller: true}}]}}}}",
        api_version, kind);
  }

  // Hostname: ln(3+2) for a pod, +2 each; zone: two values (one of them none), ln(4), +4.
  const std::vector<int64_t> spread_ = {9, 7, 0};
};

TEST_F(SpreadDefaults, PodsOfOneServiceAreSpreadMildly) {
  constexpr std::string_view kPod = "{metadata: {name: p, labels: {app: web, tier: front}}}";
  const auto query = bed_.Query(plugin_, kPod);
  EXPECT_EQ(plugin_.WideVersion(*query), 0u) << "it belongs to nothing";
  Set(bed_.objects.services,
      "{metadata: {name: s, namespace: elsewhere}, "
      "spec: {selector: {app: web}}}");
  Set(bed_.objects.services,
      "{metadata: {name: s, namespace: default}, "
      "spec: {selector: {app: other}}}");
  Set(bed_.objects.services, "{metadata: {name: all, namespace: default}, spec: {}}");
  EXPECT_THAT(bed_.RawScores(plugin_, *query), IsEmpty());
  Set(bed_.objects.services,
      "{metadata: {name: web, namespace: default}, "
      "spec: {selector: {app: web}}}");
  EXPECT_EQ(bed_.RawScores(plugin_, *query), spread_);
  EXPECT_NE(plugin_.WideVersion(*query), 0u);
  EXPECT_EQ(bed_.Check(plugin_, *query, "bare"), "");
  bed_.objects.services.Remove({"default", "web"});
  EXPECT_THAT(bed_.RawScores(plugin_, *query), IsEmpty());
}

TEST_F(SpreadDefaults, PodsOfOneControllerAreSpreadMildly) {
  Set(bed_.objects.replica_sets,
      "{metadata: {name: owner, namespace: default}, spec: {selector: "
      "{matchExpressions: [{key: app, operator: In, values: [web]}]}}}");
  Set(bed_.objects.stateful_sets,
      "{metadata: {name: owner, namespace: default}, "
      "spec: {selector: {matchLabels: {app: web}}}}");
  Set(bed_.objects.replication_controllers,
      "{metadata: {name: owner, namespace: default}, "
      "spec: {selector: {app: web}}}");
  EXPECT_EQ(Raw(OwnedBy("apps/v1", "ReplicaSet")), spread_);
  EXPECT_EQ(Raw(OwnedBy("apps/v1", "StatefulSet")), spread_);
  EXPECT_EQ(Raw(OwnedBy("v1", "ReplicationController")), spread_);
  EXPECT_THAT(Raw(OwnedBy("batch/v1", "Job")), IsEmpty());
}

TEST_F(SpreadDefaults, SelectorsOfServicesAndControllerMustAllMatch) {
  Set(bed_.objects.services,
      "{metadata: {name: web, namespace: default}, "
      "spec: {selector: {app: web}}}");
  Set(bed_.objects.replica_sets,
      "{metadata: {name: owner, namespace: default}, "
      "spec: {selector: {matchLabels: {tier: front}}}}");
  AddPods("n2", 3, "{app: web}");
  EXPECT_EQ(Raw(OwnedBy("apps/v1", "ReplicaSet")), spread_);
}

TEST_F(SpreadDefaults, ConstraintsOfItsOwnReplaceThem) {
  Set(bed_.objects.services,
      "{metadata: {name: web, namespace: default}, "
      "spec: {selector: {app: web}}}");
  EXPECT_THAT(Raw(Pod("{app: web}", Hard("kubernetes.io/hostname", 1))), IsEmpty());
}

TEST_F(SpreadDefaults, AListOfDefaultsMayForbid) {
  PodTopologySpreadArgs args{.default_constraints = {}, .defaulting_type = "List"};
  args.default_constraints.push_back(*FromYaml<kube::TopologySpreadConstraint>(
      Constraint("DoNotSchedule", "kubernetes.io/hostname", 1, "")));
  PodTopologySpread plugin(bed_.context, args);
  const auto query = bed_.Query(plugin, "{metadata: {name: p, labels: {app: web}}}");
  EXPECT_TRUE(bed_.pre_filter.verdict.ok()) << "a service may come";
  EXPECT_EQ(bed_.Check(plugin, *query, "n1"), "");
  Set(bed_.objects.services,
      "{metadata: {name: web, namespace: default}, "
      "spec: {selector: {app: web}}}");
  EXPECT_EQ(bed_.Check(plugin, *query, "n1"), kSkew);
  EXPECT_EQ(bed_.Check(plugin, *query, "n2"), "");
  EXPECT_EQ(bed_.Check(plugin, *query, "bare"), kMissing);
}

TEST_F(SpreadDefaults, AnEmptyListMeansNone) {
  Set(bed_.objects.services,
      "{metadata: {name: web, namespace: default}, "
      "spec: {selector: {app: web}}}");
  PodTopologySpread plugin(bed_.context, {.default_constraints = {}, .defaulting_type = "List"});
  const auto query = bed_.Query(plugin, "{metadata: {name: p, labels: {app: web}}}");
  EXPECT_EQ(plugin.WideVersion(*query), 0u);
}

// ---- What may help

TEST_F(PodTopologySpreadTest, WakesPodsForEventsThatMayHelp) {
  const auto rejected = PodOf(Pod("{app: web}", Hard("zone", 1)));
  const auto web = PodOf("{metadata: {name: w, labels: {app: web}}}");
  const auto other = PodOf("{metadata: {name: o, labels: {app: other}}}");
  const auto elsewhere = PodOf("{metadata: {name: e, namespace: x, labels: {app: web}}}");
  const auto might = [&](const ClusterEvent& event) { return plugin_.MightCure(*rejected, event); };
  EXPECT_TRUE(might({.kind = EventKind::kAssignedPodAdded, .pod_after = web}));
  EXPECT_TRUE(might({.kind = EventKind::kAssignedPodRemoved, .pod_before = web}));
  EXPECT_TRUE(
      might({.kind = EventKind::kAssignedPodUpdated, .pod_before = other, .pod_after = web}));
  EXPECT_FALSE(might({.kind = EventKind::kAssignedPodAdded, .pod_after = other}));
  EXPECT_FALSE(might({.kind = EventKind::kAssignedPodRemoved, .pod_before = elsewhere}));
  EXPECT_TRUE(might({.kind = EventKind::kNodeAdded}));
  EXPECT_TRUE(might({.kind = EventKind::kNodeRemoved}));
  EXPECT_TRUE(might({.kind = EventKind::kNodeUpdated, .node_changes = {.taints = true}}));
  EXPECT_FALSE(might({.kind = EventKind::kNodeUpdated, .node_changes = {.allocatable = true}}));
  EXPECT_FALSE(might({.kind = EventKind::kServiceChanged}));
}

// A reserve pod whose place the pod may take.
TEST_F(PodTopologySpreadTest, PodsThatAreAbsentForAShapeAreNotCounted) {
  AddZones();
  AddPods("a", 2);  // pod-0 and pod-1
  AddPods("b", 1);
  const std::string pod = Pod("{app: web}", Hard("zone", 1));
  const auto query = bed_.Query(plugin_, pod);
  EXPECT_EQ(bed_.Check(plugin_, *query, "a"), kSkew);
  const uint64_t version = plugin_.WideVersion(*query);
  const std::vector<const PodInfo*> absent{bed_.ledger.Find("pod-0")};
  query->SetAbsent(absent, 1);
  EXPECT_NE(plugin_.WideVersion(*query), version);
  EXPECT_EQ(bed_.Check(plugin_, *query, "a"), "") << "1 and 1";
  RowDelta delta;
  delta.removed = absent;
  EXPECT_EQ(bed_.Check(plugin_, *query, "b", &delta), "") << "not taken off twice";
  AddPods("a", 1);
  EXPECT_EQ(bed_.Check(plugin_, *query, "a"), kSkew) << "2 and 1";
  EXPECT_EQ(bed_.Check(plugin_, *query, "a", &delta), kSkew) << "that one is gone already";
  query->SetAbsent({}, 2);
  EXPECT_EQ(bed_.Check(plugin_, *query, "b"), "");
  EXPECT_EQ(bed_.Check(plugin_, *bed_.Query(plugin_, pod), "a"), kSkew) << "others see it";
}

TEST_F(PodTopologySpreadTest, PodsThatAreAbsentForAShapeMakeNoDomainCrowded) {
  AddZones();
  AddPods("a", 1);
  const auto query = bed_.Query(
      plugin_, Pod("{app: web}", Constraint("ScheduleAnyway", "zone", 1) + ", " +
                                     Constraint("ScheduleAnyway", "kubernetes.io/hostname", 1)));
  for (const char* node : {"a", "b"}) {
    AddNode(node, fmt::format("{{zone: {0}, kubernetes.io/hostname: {0}}}", node));
  }
  const auto scores = bed_.Scores(plugin_, *query);
  EXPECT_LT(scores[0], scores[1]);
  query->SetAbsent(std::vector<const PodInfo*>{bed_.ledger.Find("pod-0")}, 1);
  const auto without = bed_.Scores(plugin_, *query);
  EXPECT_EQ(without[0], without[1]);
}

}  // namespace
}  // namespace koord::scheduler::pod_topology_spread_test
