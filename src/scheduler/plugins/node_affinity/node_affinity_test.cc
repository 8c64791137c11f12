#include "scheduler/plugins/node_affinity/node_affinity.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scheduler/testing/random_cluster.h"

namespace koord::scheduler::node_affinity_test {
namespace {

using Names = std::vector<std::string>;

constexpr std::string_view kMismatch =
    "UnschedulableAndUnresolvable: node(s) didn't match Pod's node affinity/selector";
constexpr std::string_view kAddedMismatch =
    "UnschedulableAndUnresolvable: node(s) didn't match scheduler-enforced node affinity";

// A pod with this selector, these required terms (null: none) and these preferred ones.
std::string Pod(std::string_view selector, std::string_view terms = "null",
                std::string_view preferred = "") {
  const std::string required =
      terms == "null" ? "null" : fmt::format("{{nodeSelectorTerms: [{}]}}", terms);
  return fmt::format(R"({{spec: {{nodeSelector: {{{}}}, affinity: {{nodeAffinity: {{
      requiredDuringSchedulingIgnoredDuringExecution: {},
      preferredDuringSchedulingIgnoredDuringExecution: [{}]}}}}}}}})",
                     selector, required, preferred);
}

NodeAffinityArgs Adding(std::string_view required_terms, std::string_view preferred = "") {
  const std::string required =
      required_terms.empty() ? "null" : fmt::format("{{nodeSelectorTerms: [{}]}}", required_terms);
  NodeAffinityArgs args;
  args.added_affinity = *FromYaml<kube::NodeAffinity>(fmt::format(
      R"({{requiredDuringSchedulingIgnoredDuringExecution: {},
           preferredDuringSchedulingIgnoredDuringExecution: [{}]}})",
      required, preferred));
  return args;
}

constexpr std::string_view kNode =
    "{metadata: {name: n, labels: {zone: a, disk: ssd, cores: '8', odd: x8}}}";

struct FilterCase {
  std::string_view selector;
  std::string_view terms;
  bool matches;
};

TEST(NodeAffinityTest, Filters) {
  const FilterCase cases[] = {
      {"", "null", true},
      {"zone: a", "null", true},
      {"zone: a, disk: ssd", "null", true},
      {"zone: a, disk: hdd", "null", false},
      {"missing: ''", "null", false},
      {"zone: a", "{matchExpressions: [{key: zone, operator: In, values: [a, b]}]}", true},
      {"zone: b", "{matchExpressions: [{key: zone, operator: In, values: [a, b]}]}", false},
      {"", "{matchExpressions: [{key: zone, operator: In, values: [b, c]}]}", false},
      {"", "{matchExpressions: [{key: zone, operator: NotIn, values: [b]}]}", true},
      {"", "{matchExpressions: [{key: zone, operator: NotIn, values: [b, a]}]}", false},
      {"", "{matchExpressions: [{key: missing, operator: NotIn, values: [b]}]}", true},
      {"", "{matchExpressions: [{key: zone, operator: Exists}]}", true},
      {"", "{matchExpressions: [{key: missing, operator: Exists}]}", false},
      {"", "{matchExpressions: [{key: zone, operator: DoesNotExist}]}", false},
      {"", "{matchExpressions: [{key: missing, operator: DoesNotExist}]}", true},
      {"", "{matchExpressions: [{key: cores, operator: Gt, values: ['7']}]}", true},
      {"", "{matchExpressions: [{key: cores, operator: Gt, values: ['8']}]}", false},
      {"", "{matchExpressions: [{key: cores, operator: Lt, values: ['9']}]}", true},
      {"", "{matchExpressions: [{key: cores, operator: Lt, values: ['8']}]}", false},
      {"", "{matchExpressions: [{key: odd, operator: Gt, values: ['1']}]}", false},
      {"", "{matchExpressions: [{key: missing, operator: Lt, values: ['1']}]}", false},
      {"", "{matchFields: [{key: metadata.name, operator: In, values: [m, n]}]}", true},
      {"", "{matchFields: [{key: metadata.name, operator: In, values: [m]}]}", false},
      {"", "{matchFields: [{key: metadata.name, operator: NotIn, values: [m]}]}", true},
      {"", "{matchFields: [{key: metadata.name, operator: NotIn, values: [n]}]}", false},
      {"",
       "{matchExpressions: [{key: zone, operator: Exists}], matchFields: [{key: metadata.name, "
       "operator: In, values: [m]}]}",
       false},
      {"", "{}", false},
      {"", "", false},  // an empty list of terms
      {"", "{}, {matchExpressions: [{key: zone, operator: Exists}]}", true},
      {"",
       "{matchExpressions: [{key: zone, operator: In, values: [b]}]}, "
       "{matchExpressions: [{key: disk, operator: In, values: [hdd]}]}",
       false},
  };
  for (const FilterCase& test : cases) {
    PluginBed bed;
    NodeAffinity plugin(bed.context, {});
    bed.AddNode(kNode);
    EXPECT_EQ(bed.Check(plugin, *bed.Query(plugin, Pod(test.selector, test.terms)), "n"),
              test.matches ? "" : kMismatch)
        << test.selector << " / " << test.terms;
  }
}

TEST(NodeAffinityTest, WhatTheProfileAddsHoldsForEveryPod) {
  PluginBed bed;
  NodeAffinity plugin(bed.context,
                      Adding("{matchExpressions: [{key: disk, operator: In, values: [ssd]}]}"));
  bed.AddNode(kNode);
  bed.AddNode("{metadata: {name: slow, labels: {zone: a}}}");
  const auto plain = bed.Query(plugin, "metadata: {name: p}");
  EXPECT_EQ(bed.pre_filter.verdict.code, Code::kSuccess);
  EXPECT_EQ(bed.Check(plugin, *plain, "n"), "");
  EXPECT_EQ(bed.Check(plugin, *plain, "slow"), kAddedMismatch);
  const auto selective = bed.Query(plugin, Pod("zone: b"));
  EXPECT_EQ(bed.Check(plugin, *selective, "n"), kMismatch);
  EXPECT_EQ(bed.Check(plugin, *selective, "slow"), kAddedMismatch);
}

TEST(NodeAffinityTest, IsSkippedWithoutAnythingToCheck) {
  PluginBed bed;
  NodeAffinity plugin(bed.context, {});
  const auto code = [&](const std::string& pod) {
    bed.Query(plugin, pod);
    return bed.pre_filter.verdict.code;
  };
  EXPECT_EQ(code("metadata: {name: p}"), Code::kSkip);
  EXPECT_EQ(code(Pod("", "null",
                     "{weight: 1, preference: {matchExpressions: [{key: zone, "
                     "operator: Exists}]}}")),
            Code::kSkip);
  EXPECT_EQ(code(Pod("zone: a")), Code::kSuccess);
  EXPECT_EQ(code(Pod("", "{}")), Code::kSuccess);
  EXPECT_EQ(code(Pod("", "")), Code::kSuccess);
}

std::string Named(std::string_view names) {
  return fmt::format("{{key: metadata.name, operator: In, values: [{}]}}", names);
}

TEST(NodeAffinityTest, NamesTheNodesThatAllTermsName) {
  struct Case {
    std::string terms;
    std::optional<Names> expected;
  };
  const std::string by_label = "{matchExpressions: [{key: zone, operator: Exists}]}";
  const Case cases[] = {
      {fmt::format("{{matchFields: [{}]}}", Named("b, a")), Names{"a", "b"}},
      {fmt::format("{{matchFields: [{}]}}, {{matchFields: [{}]}}", Named("a"), Named("c, a")),
       Names{"a", "c"}},
      {fmt::format("{{matchFields: [{}, {}]}}", Named("a, b"), Named("b, c")), Names{"b"}},
      {fmt::format("{{matchFields: [{}, {}]}}, {{matchFields: [{}]}}", Named("a"), Named("b"),
                   Named("c")),
       Names{"c"}},
      {fmt::format("{{matchFields: [{}]}}, {}", Named("a"), by_label), {}},
      {"{matchFields: [{key: metadata.name, operator: NotIn, values: [a]}]}", {}},
      {by_label, {}},
  };
  PluginBed bed;
  NodeAffinity plugin(bed.context, {});
  for (const Case& test : cases) {
    bed.Query(plugin, Pod("", test.terms));
    EXPECT_EQ(bed.pre_filter.verdict.code, Code::kSuccess) << test.terms;
    EXPECT_EQ(bed.pre_filter.node_names, test.expected) << test.terms;
  }
}

TEST(NodeAffinityTest, RejectsTermsThatNameNoNodeInCommon) {
  PluginBed bed;
  NodeAffinity plugin(bed.context, {});
  bed.Query(plugin, Pod("", fmt::format("{{matchFields: [{}, {}]}}", Named("a"), Named("b"))));
  EXPECT_EQ(bed.pre_filter.verdict.code, Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(bed.pre_filter.verdict.Message(), "pod affinity terms conflict");
}

TEST(NodeAffinityTest, ScoresByTheWeightsOfPreferredTerms) {
  constexpr std::string_view kPreferred =
      "{weight: 3, preference: {matchExpressions: [{key: zone, operator: In, values: [a]}]}}, "
      "{weight: 4, preference: {matchExpressions: [{key: disk, operator: Exists}]}}, "
      "{weight: 50, preference: {}}, "
      "{weight: 0, preference: {matchExpressions: [{key: zone, operator: Exists}]}}";
  PluginBed bed;
  NodeAffinity plugin(bed.context, {});
  NodeAffinity adding(
      bed.context,
      Adding("",
             "{weight: 10, preference: {matchFields: [{key: metadata.name, operator: In, "
             "values: [third]}]}}"));
  bed.AddNode("{metadata: {name: first, labels: {zone: a, disk: ssd}}}");
  bed.AddNode("{metadata: {name: second, labels: {zone: a}}}");
  bed.AddNode("{metadata: {name: third, labels: {zone: b}}}");
  using Scores = std::vector<int64_t>;
  const auto query = bed.Query(plugin, Pod("", "null", kPreferred));
  EXPECT_EQ(bed.RawScores(plugin, *query), (Scores{7, 3, 0}));
  EXPECT_EQ(bed.Scores(plugin, *query), (Scores{100, 42, 0}));
  EXPECT_EQ(bed.Scores(adding, *bed.Query(adding, Pod("", "null", kPreferred))),
            (Scores{70, 30, 100}));
  EXPECT_EQ(bed.Scores(adding, *bed.Query(adding, Pod("", "null"))), (Scores{0, 0, 100}));
  const auto nowhere = bed.Query(
      plugin,
      Pod("", "null",
          "{weight: 3, preference: {matchExpressions: [{key: missing, operator: Exists}]}}"));
  EXPECT_EQ(bed.Scores(plugin, *nowhere), (Scores{0, 0, 0}));
  EXPECT_EQ(bed.Scores(plugin, *bed.Query(plugin, Pod("zone: a"))), Scores{}) << "skipped";
}

TEST(NodeAffinityTest, AgreesWithItselfAndWithTheObjectsOnRandomClusters) {
  Random random(9);
  PluginBed bed;
  NodeAffinity plugin(bed.context, {});
  FillCluster(bed, random, 600, 0);
  const NodeTable& nodes = bed.ledger.nodes();
  for (int i = 0; i < 60; ++i) {
    const auto pod = RandomPod(random, i);
    const auto query = bed.Query(plugin, pod);
    ExpectFilterAgreesWithCheck(plugin, *query);
    ExpectScoresOfSingleRowsAgree(plugin, *query);
    if (!pod->spec.affinity) continue;
    std::vector<int64_t> expected;
    for (NodeRow row{0}; row < nodes.rows(); ++row) {
      if (!nodes.IsLive(row)) continue;
      int64_t& sum = expected.emplace_back(0);
      for (const auto& term : pod->spec.affinity->node_affinity->preferred) {
        const auto& labels = nodes.node(row).metadata.labels;
        if (kube::Matches(term.preference, nodes.name(row), labels)) sum += term.weight;
      }
    }
    const std::vector<int64_t> scores = bed.RawScores(plugin, *query);
    if (!scores.empty()) {
      EXPECT_EQ(scores, expected);
    }
  }
}

TEST(NodeAffinityTest, KnowsWhatMightCure) {
  PluginBed bed;
  NodeAffinity plugin(bed.context,
                      Adding("{matchExpressions: [{key: bad, operator: DoesNotExist}]}"));
  const auto pod = PodOf(Pod("zone: a"));
  const auto a = NodeOf("{metadata: {name: n, labels: {zone: a}}}");
  const auto b = NodeOf("{metadata: {name: n, labels: {zone: b}}}");
  const auto bad = NodeOf("{metadata: {name: n, labels: {zone: a, bad: ''}}}");
  const NodeChanges labels{.labels = true};
  const auto cures = [&](const ClusterEvent& event) { return plugin.MightCure(*pod, event); };
  EXPECT_TRUE(cures({.kind = EventKind::kForced}));
  EXPECT_TRUE(cures({.kind = EventKind::kNodeAdded, .node_after = a}));
  EXPECT_FALSE(cures({.kind = EventKind::kNodeAdded, .node_after = b}));
  EXPECT_FALSE(cures({.kind = EventKind::kNodeAdded, .node_after = bad}));
  EXPECT_TRUE(cures({EventKind::kNodeUpdated, b, a, labels}));
  EXPECT_TRUE(cures({EventKind::kNodeUpdated, bad, a, labels}));
  EXPECT_FALSE(cures({EventKind::kNodeUpdated, a, a, labels}));
  EXPECT_FALSE(cures({EventKind::kNodeUpdated, a, b, labels}));
  EXPECT_FALSE(cures({EventKind::kNodeUpdated, b, a, {.taints = true}}));
  EXPECT_FALSE(cures({.kind = EventKind::kPodUpdated, .pod_before = pod, .pod_after = pod}));
  EXPECT_TRUE(cures(
      {.kind = EventKind::kPodUpdated, .pod_before = PodOf(Pod("zone: b")), .pod_after = pod}));
  EXPECT_FALSE(cures({.kind = EventKind::kAssignedPodRemoved}));
}

TEST(NodeAffinityTest, CaresAboutNoOtherEvents) {
  PluginBed bed;
  const NodeAffinity plugin(bed.context, {});
  EXPECT_EQ(WantedEvents(plugin),
            (std::vector<std::string_view>{"NodeAdd", "NodeUpdate", "PodUpdate"}));
}

}  // namespace
}  // namespace koord::scheduler::node_affinity_test
