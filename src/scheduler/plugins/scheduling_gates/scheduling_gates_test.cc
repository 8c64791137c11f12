#include "scheduler/plugins/scheduling_gates/scheduling_gates.h"

#include <gtest/gtest.h>

#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::scheduling_gates_test {
namespace {

TEST(SchedulingGatesTest, PodsWaitUntilTheirGatesAreGone) {
  PluginBed bed;
  SchedulingGates plugin(bed.context);
  EXPECT_TRUE(plugin.PreEnqueue(*PodOf("metadata: {name: p}")).ok());
  const Verdict verdict =
      plugin.PreEnqueue(*PodOf("spec: {schedulingGates: [{name: g1}, {name: g2}]}"));
  EXPECT_EQ(verdict.code, Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(verdict.Message(), "waiting for scheduling gates: [g1 g2]");
}

TEST(SchedulingGatesTest, OnlyThePodItselfCanOpenThem) {
  PluginBed bed;
  SchedulingGates plugin(bed.context);
  const auto gated = PodOf("spec: {schedulingGates: [{name: g1}]}");
  const auto open = PodOf("spec: {}");
  EXPECT_TRUE(plugin.MightCure(
      *gated, {.kind = EventKind::kPodUpdated, .pod_before = gated, .pod_after = open}));
  EXPECT_FALSE(plugin.MightCure(
      *gated, {.kind = EventKind::kPodUpdated, .pod_before = gated, .pod_after = gated}));
  EXPECT_FALSE(plugin.MightCure(*gated, {.kind = EventKind::kNodeAdded}));
  EXPECT_FALSE(plugin.MightCure(*gated, {.kind = EventKind::kAssignedPodRemoved}));
}

TEST(SchedulingGatesTest, CaresAboutNoOtherEvents) {
  PluginBed bed;
  const SchedulingGates plugin(bed.context);
  EXPECT_EQ(WantedEvents(plugin), (std::vector<std::string_view>{"PodUpdate"}));
}

}  // namespace
}  // namespace koord::scheduler::scheduling_gates_test
