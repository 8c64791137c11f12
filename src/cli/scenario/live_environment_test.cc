#include "cli/scenario/live_environment.h"

#include <gmock/gmock.h>

namespace koord::scenario::live_environment_test {
namespace {

std::string WhyItNeedsItsOwn(const std::string& text) {
  const auto scenarios =
      ParseScenarios("x.yaml", "name: x\nthen: [absent: {kind: Pod, name: p}]\n" + text);
  EXPECT_TRUE(scenarios.ok()) << scenarios.status();
  return NeedsOwnCluster(scenarios->front()).value_or("");
}

TEST(NeedsOwnCluster, WhatALiveClusterCanDoRunsThere) {
  EXPECT_EQ(WhyItNeedsItsOwn("config: {seed: 3}\n"), "");
  EXPECT_EQ(WhyItNeedsItsOwn("config: {manager: {}}\n"), "");
  EXPECT_EQ(WhyItNeedsItsOwn("when: [advance: 1m, advance: 1m]\n"), "");
}

TEST(NeedsOwnCluster, NobodyWaitsForHours) {
  EXPECT_EQ(WhyItNeedsItsOwn("when: [advance: 1m, advance: 61s]\n"),
            "it lets 2m1s pass; in real time at most 2m0s are waited for");
}

TEST(NeedsOwnCluster, ComponentsOfALiveClusterAreConfigured) {
  EXPECT_EQ(WhyItNeedsItsOwn("config: {scheduler: {kind: KubeSchedulerConfiguration}}\n"),
            "it configures the scheduler; a live cluster's runs already");
  EXPECT_EQ(WhyItNeedsItsOwn("config: {descheduler: {}}\n"),
            "it configures the descheduler; a live cluster's runs already");
  EXPECT_EQ(WhyItNeedsItsOwn("config: {manager: {flags: [--trust-pod-annotations]}}\n"),
            "it configures the manager; a live cluster's runs already");
}

TEST(NeedsOwnCluster, TheManagersNamespaceIsLeftAlone) {
  for (const char* text :
       {"given: [{kind: Namespace, metadata: {name: koordinator-system}}]\n",
        "given: [{kind: ConfigMap, metadata: {name: c, namespace: koordinator-system}}]\n",
        "when: [create: {kind: Pod, metadata: {name: p, namespace: koordinator-system}}]\n",
        "when: [delete: {kind: Pod, name: p, namespace: koordinator-system}]\n"}) {
    EXPECT_EQ(WhyItNeedsItsOwn(std::string("config: {manager: {}}\n") + text),
              "it changes koordinator-system, where a live cluster's manager lives");
  }
}

}  // namespace
}  // namespace koord::scenario::live_environment_test
