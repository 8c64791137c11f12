#include "cli/scenario/scenario.h"

#include <gmock/gmock.h>

namespace koord::scenario::scenario_test {
namespace {

using ::testing::HasSubstr;

constexpr char kComplete[] = R"(name: a pod that asks too much stays pending
config:
  scheduler: {kind: KubeSchedulerConfiguration}
  seed: 7
given:
  - kind: Node
    metadata: {name: a}
when:
  - create: {kind: Pod, metadata: {name: p}}
  - advance: 1m30s
  - patch: {kind: Pod, name: p, merge: {metadata: {labels: {x: y}}}}
  - expect:
      - count: {kind: Pod, labels: x=y, node: a}
        is: 0
  - delete: {kind: Pod, name: p, namespace: other}
then:
  - get: {kind: Pod, name: p}
    match: {status: {phase: Pending}}
  - absent: {kind: Pod, name: q}
  - event: {reason: FailedScheduling, object: Pod/p, message: /Insufficient cpu/}
---
name: second
then:
  - absent: {kind: Pod, name: q}
)";

TEST(ParseScenarios, ReadsEveryPart) {
  const auto scenarios = ParseScenarios("x.yaml", kComplete);
  ASSERT_TRUE(scenarios.ok()) << scenarios.status();
  ASSERT_EQ(scenarios->size(), 2u);
  const Scenario& first = scenarios->front();
  EXPECT_EQ(first.name, "a pod that asks too much stays pending");
  EXPECT_EQ(first.seed, 7u);
  EXPECT_EQ(kube::FindString(first.scheduler_config, {"kind"}), "KubeSchedulerConfiguration");
  ASSERT_EQ(first.given.size(), 1u);
  EXPECT_EQ(first.given[0].line, 6);
  ASSERT_EQ(first.when.size(), 5u);
  EXPECT_EQ(first.when[1].span, std::chrono::seconds(90));
  EXPECT_EQ(first.when[3].expectations.at(0).target.node, "a");
  EXPECT_EQ(first.when[4].target.ns, "other");
  ASSERT_EQ(first.then.size(), 3u);
  EXPECT_EQ(first.then[0].line, 17);
  EXPECT_EQ(first.then[2].event.name, "p");
  EXPECT_EQ(scenarios->at(1).line, 22);
}

TEST(ParseScenarios, AllBeginWithTheBackground) {
  const auto scenarios = ParseScenarios("x.yaml", R"(background:
  config: {manager: {flags: [--a]}, seed: 3}
  given:
    - {kind: Node, metadata: {name: a}}
---
name: first
given:
  - {kind: Node, metadata: {name: b}}
then:
  - absent: {kind: Pod, name: q}
---
name: second
config: {seed: 4}
then:
  - absent: {kind: Pod, name: q}
)");
  ASSERT_TRUE(scenarios.ok()) << scenarios.status();
  ASSERT_EQ(scenarios->size(), 2u);
  const Scenario& first = scenarios->at(0);
  ASSERT_EQ(first.given.size(), 2u);
  EXPECT_EQ(kube::FindString(first.given[0].object, {"metadata", "name"}), "a");
  EXPECT_EQ(first.given[0].line, 4);
  EXPECT_EQ(kube::FindString(first.given[1].object, {"metadata", "name"}), "b");
  EXPECT_EQ(first.seed, 3u);
  EXPECT_TRUE(first.runs_manager);
  const Scenario& second = scenarios->at(1);
  EXPECT_EQ(second.given.size(), 1u);
  EXPECT_EQ(second.seed, 4u);
  EXPECT_TRUE(second.runs_manager);
}

struct BadFile {
  const char* name;
  const char* text;
  const char* error;
};
class ParseErrors : public ::testing::TestWithParam<BadFile> {};

TEST_P(ParseErrors, NameFileLineAndKey) {
  const auto scenarios = ParseScenarios("x.yaml", GetParam().text);
  ASSERT_FALSE(scenarios.ok());
  EXPECT_THAT(std::string(Message(scenarios.status())), HasSubstr(GetParam().error));
}

INSTANTIATE_TEST_SUITE_P(
    Files, ParseErrors,
    ::testing::Values(
        BadFile{"NoName", "given: []\n", "x.yaml:1: name is required"},
        BadFile{"UnknownKey", "name: x\nthn: []\n",
                "x.yaml:2: thn: unknown key; did you mean then?"},
        BadFile{"NothingExpected", "name: x\n", "cannot fail"},
        BadFile{"BackgroundThatActs", "background: {when: []}\n---\nname: x\n",
                "x.yaml:1: background.when: unknown key"},
        BadFile{"LateBackground",
                "name: x\nthen: [{absent: {kind: Pod, name: q}}]\n---\nbackground: {}\n",
                "x.yaml:4: background: unknown key"},
        BadFile{"BadDuration", "name: x\nwhen:\n  - advance: soon\nthen: []\n",
                "x.yaml:3: when[0].advance: expected a duration such as 30s"},
        BadFile{"TwoVerbs", "name: x\nwhen:\n  - advance: 1s\n    expect: []\n",
                "x.yaml:3: when[0]: a step is one of"},
        BadFile{"NoVerb", "name: x\nwhen:\n  - error: refused\n",
                "x.yaml:3: when[0]: a step is one of"},
        BadFile{"ErrorOfTime", "name: x\nwhen:\n  - advance: 1s\n    error: refused\n",
                "x.yaml:4: when[0].error: only what changes the cluster"},
        BadFile{"EvictedKind", "name: x\nwhen:\n  - evict: {kind: Pod, name: p}\n",
                "x.yaml:3: when[0].evict.kind: unknown key"},
        BadFile{"ManifestWithoutKind", "name: x\ngiven:\n  - metadata: {name: a}\n",
                "x.yaml:3: given[0]: a manifest needs a kind"},
        BadFile{"CountWithoutIs", "name: x\nthen:\n  - count: {kind: Pod}\n",
                "x.yaml:3: then[0]: is is required"},
        BadFile{"BrokenRegex", "name: x\nthen:\n  - event: {message: /(/}\n",
                "x.yaml:3: then[0].event.message: not a regular expression"},
        BadFile{"BadTimes", "name: x\nthen:\n  - event: {times: twice}\n",
                "x.yaml:3: then[0].event.times: expected an integer"},
        BadFile{"BadObject", "name: x\nthen:\n  - event: {object: p}\n", "expected KIND/NAME"},
        BadFile{"BrokenYaml", "name: [x\n", "x.yaml:"},
        BadFile{"Empty", "", "x.yaml:1: no scenario"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace koord::scenario::scenario_test
