#include "scheduler/plugins/inter_pod_affinity/inter_pod_affinity.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::inter_pod_affinity_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kNoAffinity =
    "UnschedulableAndUnresolvable: node(s) didn't match pod affinity rules";
constexpr std::string_view kAntiAffinity =
    "Unschedulable: node(s) didn't match pod anti-affinity rules";
constexpr std::string_view kExisting =
    "Unschedulable: node(s) didn't satisfy existing pods anti-affinity rules";

// Terms in short: "{app: web}" near or apart in `key`.
std::string Required(std::string_view kind, std::string_view labels, std::string_view key,
                     std::string_view more = "") {
  return fmt::format(
      "{{{}: {{requiredDuringSchedulingIgnoredDuringExecution: "
      "[{{labelSelector: {{matchLabels: {}}}, topologyKey: {}{}}}]}}}}",
      kind, labels, key, more);
}

std::string Preferred(std::string_view kind, int weight, std::string_view labels,
                      std::string_view key) {
  return fmt::format(
      "{{{}: {{preferredDuringSchedulingIgnoredDuringExecution: [{{weight: {}, podAffinityTerm: "
      "{{labelSelector: {{matchLabels: {}}}, topologyKey: {}}}}}]}}}}",
      kind, weight, labels, key);
}

std::string Pod(std::string_view name, std::string_view labels, std::string_view affinity = "{}",
                std::string_view node = "", std::string_view ns = "default") {
  return fmt::format(
      "{{metadata: {{name: {}, namespace: {}, labels: {}}}, "
      "spec: {{affinity: {}, nodeName: \"{}\"}}}}",
      name, ns, labels, affinity, node);
}

class InterPodAffinityTest : public testing::Test {
 protected:
  InterPodAffinityTest() {
    bed_.AddNode("{metadata: {name: a1, labels: {host: a1, zone: a}}}");
    bed_.AddNode("{metadata: {name: a2, labels: {host: a2, zone: a}}}");
    bed_.AddNode("{metadata: {name: b1, labels: {host: b1, zone: b}}}");
    bed_.AddNode("{metadata: {name: bare}}");
  }

  // What is said of each node, in the order above.
  std::vector<std::string> Verdicts(std::string_view pod) {
    const auto query = bed_.Query(plugin_, pod);
    std::vector<std::string> verdicts;
    for (const auto* node : {"a1", "a2", "b1", "bare"}) {
      verdicts.push_back(bed_.Check(plugin_, *query, node));
    }
    return verdicts;
  }
  std::vector<int64_t> Raw(std::string_view pod) {
    return bed_.RawScores(plugin_, *bed_.Query(plugin_, pod));
  }
  void SetNamespace(std::string_view yaml) {
    bed_.objects.namespaces.Set(FromYaml<kube::Namespace>(yaml));
  }

  PluginBed bed_;
  InterPodAffinity plugin_{bed_.context, {}};
};

TEST_F(InterPodAffinityTest, TheFirstPodOfAGroupThatLooksForItsOwnKindGoesWhereTheKeyIs) {
  const std::string first = Pod("p", "{app: web}", Required("podAffinity", "{app: web}", "zone"));
  EXPECT_THAT(Verdicts(first), ElementsAre("", "", "", kNoAffinity));
  bed_.AddPod(Pod("other", "{app: web}", "{}", "a1"));
  EXPECT_THAT(Verdicts(first), ElementsAre("", "", kNoAffinity, kNoAffinity));
}

TEST_F(InterPodAffinityTest, APodThatLooksForOthersWaitsForThem) {
  const std::string pod = Pod("p", "{app: web}", Required("podAffinity", "{app: db}", "zone"));
  EXPECT_THAT(Verdicts(pod), ElementsAre(kNoAffinity, kNoAffinity, kNoAffinity, kNoAffinity));
  bed_.AddPod(Pod("db", "{app: db}", "{}", "b1"));
  EXPECT_THAT(Verdicts(pod), ElementsAre(kNoAffinity, kNoAffinity, "", kNoAffinity));
}

TEST_F(InterPodAffinityTest, OnePodMustMatchAllRequiredTerms) {
  constexpr std::string_view kBoth =
      "{podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: ["
      "{labelSelector: {matchLabels: {app: db}}, topologyKey: zone},"
      "{labelSelector: {matchLabels: {tier: back}}, topologyKey: host}]}}";
  bed_.AddPod(Pod("one", "{app: db}", "{}", "a1"));
  bed_.AddPod(Pod("two", "{tier: back}", "{}", "a1"));
  EXPECT_THAT(Verdicts(Pod("p", "{}", kBoth)),
              ElementsAre(kNoAffinity, kNoAffinity, kNoAffinity, kNoAffinity));
  bed_.AddPod(Pod("both", "{app: db, tier: back}", "{}", "a2"));
  EXPECT_THAT(Verdicts(Pod("p", "{}", kBoth)),
              ElementsAre(kNoAffinity, "", kNoAffinity, kNoAffinity));
}

TEST_F(InterPodAffinityTest, AntiAffinityKeepsPodsApart) {
  bed_.AddPod(Pod("one", "{app: web}", "{}", "a1"));
  EXPECT_THAT(Verdicts(Pod("p", "{app: web}", Required("podAntiAffinity", "{app: web}", "host"))),
              ElementsAre(kAntiAffinity, "", "", ""));
  EXPECT_THAT(Verdicts(Pod("p", "{app: web}", Required("podAntiAffinity", "{app: web}", "zone"))),
              ElementsAre(kAntiAffinity, kAntiAffinity, "", ""));
}

TEST_F(InterPodAffinityTest, RunningPodsKeepOthersAway) {
  bed_.AddPod(Pod("one", "{}", Required("podAntiAffinity", "{app: web}", "zone"), "a1"));
  EXPECT_THAT(Verdicts(Pod("p", "{app: web}")), ElementsAre(kExisting, kExisting, "", ""));
  EXPECT_THAT(Verdicts(Pod("p", "{app: db}")), ElementsAre("", "", "", ""));
  bed_.ledger.RemovePod("one");
  EXPECT_THAT(Verdicts(Pod("p", "{app: web}")), ElementsAre("", "", "", ""));
}

TEST_F(InterPodAffinityTest, PodsThatRanBeforeThePluginCameCount) {
  bed_.AddPod(Pod("one", "{app: web}", Required("podAntiAffinity", "{app: web}", "zone"), "a1"));
  InterPodAffinity late(bed_.context, {});
  const auto query = bed_.Query(late, Pod("p", "{app: web}"));
  EXPECT_EQ(bed_.Check(late, *query, "a2"), kExisting);
  EXPECT_EQ(bed_.Check(late, *query, "b1"), "");
}

TEST_F(InterPodAffinityTest, TermsMeanPodsOfTheirOwnNamespaceUnlessTheySayOtherwise) {
  SetNamespace("{metadata: {name: red, labels: {team: red}}}");
  bed_.AddPod(Pod("one", "{app: web}", "{}", "a1", "red"));
  const auto apart = [&](std::string_view more) {
    return Verdicts(
        Pod("p", "{app: web}", Required("podAntiAffinity", "{app: web}", "host", more)))[0];
  };
  EXPECT_EQ(apart(""), "");
  EXPECT_EQ(apart(", namespaces: [red]"), kAntiAffinity);
  EXPECT_EQ(apart(", namespaces: [blue]"), "");
  EXPECT_EQ(apart(", namespaceSelector: {}"), kAntiAffinity);
  EXPECT_EQ(apart(", namespaceSelector: {matchLabels: {team: red}}"), kAntiAffinity);
  EXPECT_EQ(apart(", namespaceSelector: {matchLabels: {team: blue}}"), "");
  EXPECT_EQ(apart(", namespaces: [red], namespaceSelector: {matchLabels: {team: blue}}"),
            kAntiAffinity);
}

TEST_F(InterPodAffinityTest, ANamespaceThatGetsOtherLabelsChangesWhoIsMeant) {
  constexpr std::string_view kRed = ", namespaceSelector: {matchLabels: {team: red}}";
  bed_.AddPod(Pod("one", "{app: web}", "{}", "a1", "x"));
  const auto query = bed_.Query(
      plugin_, Pod("p", "{app: web}", Required("podAntiAffinity", "{app: web}", "host", kRed)));
  EXPECT_EQ(bed_.Check(plugin_, *query, "a1"), "");
  SetNamespace("{metadata: {name: x, labels: {team: red}}}");
  EXPECT_EQ(bed_.Check(plugin_, *query, "a1"), kAntiAffinity);
  SetNamespace("{metadata: {name: x}}");
  EXPECT_EQ(bed_.Check(plugin_, *query, "a1"), "");
}

TEST_F(InterPodAffinityTest, ATermWithoutSelectorMeansNobody) {
  bed_.AddPod(Pod("one", "{app: web}", "{}", "a1"));
  EXPECT_THAT(Verdicts(Pod("p", "{app: web}",
                           "{podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                           "[{topologyKey: zone}]}}")),
              ElementsAre("", "", "", ""));
  EXPECT_THAT(Verdicts(Pod("p", "{app: web}",
                           "{podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                           "[{topologyKey: zone}]}}"))[0],
              kNoAffinity);
}

TEST_F(InterPodAffinityTest, VictimsAndPromisedPodsAreConsidered) {
  bed_.AddPod(Pod("web", "{app: web}", Required("podAntiAffinity", "{app: db}", "zone"), "a1"));
  RowDelta without{.removed = {bed_.ledger.Find("web")}, .added = {}, .released = {}};
  const auto db = bed_.Query(plugin_, Pod("p", "{app: db}"));
  EXPECT_EQ(bed_.Check(plugin_, *db, "a1"), kExisting);
  EXPECT_EQ(bed_.Check(plugin_, *db, "a1", &without), "");

  PodInfo promised;
  promised.pod = PodOf(Pod("q", "{}", Required("podAntiAffinity", "{app: db}", "host")));
  promised.shape = bed_.ledger.shapes().Of(promised.pod);
  const RowDelta with{.removed = {}, .added = {&promised}, .released = {}};
  EXPECT_EQ(bed_.Check(plugin_, *db, "b1"), "");
  EXPECT_EQ(bed_.Check(plugin_, *db, "b1", &with), kExisting);
  bed_.ledger.RemovePod("web");
  EXPECT_EQ(bed_.Check(plugin_, *db, "b1", &with), "") << "nobody who has a node means the pod";
  bed_.AddPod(Pod("web", "{app: web}", Required("podAntiAffinity", "{app: db}", "zone"), "a1"));
  without.removed = {bed_.ledger.Find("web")};

  const auto follower =
      bed_.Query(plugin_, Pod("f", "{}", Required("podAffinity", "{app: web}", "zone")));
  EXPECT_EQ(bed_.Check(plugin_, *follower, "a1"), "");
  EXPECT_EQ(bed_.Check(plugin_, *follower, "a1", &without), kNoAffinity);
  const auto own =
      bed_.Query(plugin_, Pod("f", "{app: web}", Required("podAffinity", "{app: web}", "zone")));
  EXPECT_EQ(bed_.Check(plugin_, *own, "a1", &without), "") << "it would be the first again";
}

TEST_F(InterPodAffinityTest, HasNothingToSayOfPodsThatNobodyMeans) {
  const auto query = bed_.Query(plugin_, Pod("p", "{app: web}"));
  EXPECT_EQ(plugin_.WideVersion(*query), 0u);
  bed_.AddPod(Pod("one", "{}", Required("podAntiAffinity", "{app: web}", "zone"), "a1"));
  const uint64_t first = plugin_.WideVersion(*query);
  EXPECT_NE(first, 0u);
  bed_.AddPod(Pod("two", "{}", Required("podAntiAffinity", "{app: web}", "zone"), "a2"));
  EXPECT_EQ(plugin_.WideVersion(*query), first) << "the same zone is forbidden for one reason more";
  bed_.AddPod(Pod("three", "{}", Required("podAntiAffinity", "{app: web}", "zone"), "b1"));
  EXPECT_NE(plugin_.WideVersion(*query), first);
}

TEST_F(InterPodAffinityTest, ABadSelectorRejectsItsPodOnly) {
  constexpr std::string_view kBad =
      "{podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: "
      "{matchExpressions: [{key: app, operator: Maybe}]}, topologyKey: zone}]}}";
  const auto query = bed_.Query(plugin_, Pod("p", "{}", kBad));
  EXPECT_EQ(bed_.pre_filter.verdict.code, Code::kUnschedulableAndUnresolvable);
  EXPECT_THAT(bed_.pre_filter.verdict.Message(),
              testing::StartsWith("parsing pod: requiredAffinityTerms: "));
  EXPECT_EQ(plugin_.PreScore(*query, {}).code, Code::kError);
  bed_.AddPod(Pod("running", "{}", kBad, "a1"));
  EXPECT_THAT(Verdicts(Pod("q", "{}")), ElementsAre("", "", "", ""));
}

TEST_F(InterPodAffinityTest, PreferredTermsOfBothSidesAddUpByDomain) {
  bed_.AddPod(Pod("web", "{app: web}", Preferred("podAffinity", 7, "{app: db}", "host"), "a1"));
  bed_.AddPod(Pod("bad", "{app: bad}", Preferred("podAntiAffinity", 3, "{app: db}", "zone"), "b1"));
  EXPECT_THAT(Raw(Pod("p", "{app: db}", Preferred("podAffinity", 20, "{app: web}", "zone"))),
              ElementsAre(27, 20, -3, 0));
  EXPECT_THAT(Raw(Pod("p", "{app: db}", Preferred("podAntiAffinity", 20, "{app: web}", "zone"))),
              ElementsAre(-13, -20, -3, 0));
  EXPECT_THAT(Raw(Pod("p", "{app: other}")), IsEmpty()) << "nobody says anything about it";
}

TEST_F(InterPodAffinityTest, RequiredAffinityOfRunningPodsIsWorthItsWeight) {
  bed_.AddPod(Pod("web", "{app: web}", Required("podAffinity", "{app: db}", "zone"), "a1"));
  EXPECT_THAT(Raw(Pod("p", "{app: db}")), ElementsAre(1, 1, 0, 0));
  InterPodAffinity heavy(bed_.context, {.hard_pod_affinity_weight = 50});
  EXPECT_THAT(bed_.RawScores(heavy, *bed_.Query(heavy, Pod("p", "{app: db}"))),
              ElementsAre(50, 50, 0, 0));
  InterPodAffinity none(bed_.context, {.hard_pod_affinity_weight = 0});
  EXPECT_THAT(bed_.RawScores(none, *bed_.Query(none, Pod("p", "{app: db}"))), IsEmpty());
}

TEST_F(InterPodAffinityTest, WhatRunningPodsPreferCanBeIgnored) {
  InterPodAffinity deaf(bed_.context, {.ignore_preferred_terms_of_existing_pods = true});
  bed_.AddPod(Pod("web", "{app: web}", Preferred("podAffinity", 7, "{app: db}", "host"), "a1"));
  EXPECT_THAT(bed_.RawScores(deaf, *bed_.Query(deaf, Pod("p", "{app: db}"))), IsEmpty());
  const std::string prefers = Pod("p", "{app: db}", Preferred("podAffinity", 1, "{x: y}", "zone"));
  EXPECT_THAT(bed_.RawScores(deaf, *bed_.Query(deaf, prefers)), ElementsAre(7, 0, 0, 0))
      << "but not for pods with preferences of their own";
}

TEST_F(InterPodAffinityTest, NormalisesToTheRangeOfTheNodes) {
  const auto query = bed_.Query(plugin_, Pod("p", "{}"));
  const auto normalized = [&](std::vector<int64_t> scores) {
    const auto [min, max] = std::ranges::minmax(scores);
    plugin_.Normalize(*query, {min, max}, scores);
    return scores;
  };
  EXPECT_THAT(normalized({-30, 0, 60, 15}), ElementsAre(0, 33, 100, 50));
  EXPECT_THAT(normalized({5, 5, 5}), ElementsAre(0, 0, 0));
  // 29 / 100 is a little less than that as a double.
  EXPECT_THAT(normalized({0, 29, 100}), ElementsAre(0, 28, 100));
  EXPECT_THAT(normalized({0, int64_t{1} << 40, int64_t{1} << 41}), ElementsAre(0, 50, 100));
}

TEST_F(InterPodAffinityTest, WakesPodsForEventsThatMayHelp) {
  const auto pod = [](std::string_view text) { return PodOf(text); };
  const auto near = pod(Pod("p", "{app: web}", Required("podAffinity", "{app: db}", "zone")));
  const auto apart = pod(Pod("p", "{app: web}", Required("podAntiAffinity", "{app: db}", "zone")));
  const auto db = pod(Pod("db", "{app: db}"));
  const auto other = pod(Pod("o", "{app: other}"));
  const auto jealous =
      pod(Pod("j", "{app: other}", Required("podAntiAffinity", "{app: web}", "zone")));
  const auto added = [](const auto& which) {
    return ClusterEvent{.kind = EventKind::kAssignedPodAdded, .pod_after = which};
  };
  const auto removed = [](const auto& which) {
    return ClusterEvent{.kind = EventKind::kAssignedPodRemoved, .pod_before = which};
  };
  EXPECT_TRUE(plugin_.MightCure(*near, added(db)));
  EXPECT_FALSE(plugin_.MightCure(*near, added(other)));
  EXPECT_TRUE(plugin_.MightCure(*apart, removed(db)));
  EXPECT_FALSE(plugin_.MightCure(*apart, added(db)));
  EXPECT_FALSE(plugin_.MightCure(*apart, removed(other)));
  EXPECT_TRUE(plugin_.MightCure(*apart, removed(jealous)));
  EXPECT_TRUE(plugin_.MightCure(
      *near, {.kind = EventKind::kAssignedPodUpdated, .pod_before = other, .pod_after = db}));
  EXPECT_TRUE(plugin_.MightCure(
      *near, {.kind = EventKind::kNodeUpdated, .node_changes = {.labels = true}}));
  EXPECT_FALSE(plugin_.MightCure(
      *near, {.kind = EventKind::kNodeUpdated, .node_changes = {.images = true}}));
  EXPECT_TRUE(plugin_.MightCure(*near, {.kind = EventKind::kNodeAdded}));
  EXPECT_FALSE(plugin_.MightCure(*near, {.kind = EventKind::kVolumeChanged}));
}

// Terms and counts of workloads that are gone do not pile up, and what is left stays right.
TEST_F(InterPodAffinityTest, ForgetsWhatIsGone) {
  bed_.AddPod(Pod("stays", "{}", Required("podAntiAffinity", "{app: web}", "zone"), "a1"));
  const auto query = bed_.Query(plugin_, Pod("p", "{app: web}"));
  for (int i = 0; i < 2000; ++i) {
    const std::string labels = fmt::format("{{app: x{}}}", i);
    const std::string terms = Required("podAntiAffinity", labels, "host");
    bed_.AddPod(Pod("passing", labels, terms, "b1"));
    EXPECT_EQ(bed_.Check(plugin_, *bed_.Query(plugin_, Pod("q", labels, terms)), "b1"),
              kAntiAffinity);
    bed_.ledger.RemovePod("passing");
  }
  EXPECT_LT(plugin_.groups(), 600u);
  EXPECT_LT(plugin_.counters(), 600u);
  EXPECT_EQ(bed_.Check(plugin_, *query, "a2"), kExisting);
  EXPECT_EQ(bed_.Check(plugin_, *query, "b1"), "");
}

// A reserve pod whose place the pod may take.
TEST_F(InterPodAffinityTest, PodsThatAreAbsentForAShapeAreNeitherSoughtNorAvoided) {
  bed_.AddPod(Pod("web", "{app: web}", "{}", "a1"));
  const std::vector<const PodInfo*> absent{bed_.ledger.Find("web")};
  const auto avoids =
      bed_.Query(plugin_, Pod("p", "{}", Required("podAntiAffinity", "{app: web}", "zone")));
  EXPECT_EQ(bed_.Check(plugin_, *avoids, "a2"), kAntiAffinity);
  avoids->SetAbsent(absent, 1);
  EXPECT_EQ(bed_.Check(plugin_, *avoids, "a2"), "");
  const auto seeks =
      bed_.Query(plugin_, Pod("p", "{}", Required("podAffinity", "{app: web}", "zone")));
  EXPECT_EQ(bed_.Check(plugin_, *seeks, "a2"), "");
  const uint64_t version = plugin_.WideVersion(*seeks);
  seeks->SetAbsent(absent, 1);
  EXPECT_NE(plugin_.WideVersion(*seeks), version);
  EXPECT_EQ(bed_.Check(plugin_, *seeks, "a2"), kNoAffinity);
  bed_.AddPod(Pod("other", "{app: web}", "{}", "a2"));
  EXPECT_EQ(bed_.Check(plugin_, *seeks, "a1"), "") << "one is left";
  RowDelta delta;
  delta.removed = absent;
  EXPECT_EQ(bed_.Check(plugin_, *seeks, "a1", &delta), "") << "not taken off twice";
}

TEST_F(InterPodAffinityTest, TermsOfPodsThatAreAbsentForAShapeMeanNothing) {
  const std::string terms = Required("podAntiAffinity", "{app: web}", "zone");
  bed_.AddPod(Pod("keeps-away", "{}", terms, "a1"));
  const auto query = bed_.Query(plugin_, Pod("p", "{app: web}"));
  EXPECT_EQ(bed_.Check(plugin_, *query, "a2"), kExisting);
  const uint64_t version = plugin_.WideVersion(*query);
  const std::vector<const PodInfo*> absent{bed_.ledger.Find("keeps-away")};
  query->SetAbsent(absent, 1);
  EXPECT_NE(plugin_.WideVersion(*query), version);
  EXPECT_EQ(bed_.Check(plugin_, *query, "a2"), "");
  bed_.AddPod(Pod("too", "{}", terms, "a2"));
  EXPECT_EQ(bed_.Check(plugin_, *query, "a1"), kExisting) << "one is left";
  RowDelta delta;
  delta.removed = absent;
  EXPECT_EQ(bed_.Check(plugin_, *query, "a1", &delta), kExisting) << "not taken off twice";
  bed_.ledger.RemovePod("too");
  query->SetAbsent({}, 2);
  EXPECT_EQ(bed_.Check(plugin_, *query, "a2"), kExisting) << "it is back";
}

}  // namespace
}  // namespace koord::scheduler::inter_pod_affinity_test
