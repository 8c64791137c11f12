#include "scheduler/plugins/node_name/node_name.h"

#include <gtest/gtest.h>

#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::node_name_test {
namespace {

TEST(NodeNameTest, PodsWithoutANodeMayRunAnywhere) {
  PluginBed bed;
  NodeName plugin(bed.context);
  bed.AddNode("metadata: {name: a}");
  bed.AddNode("metadata: {name: b}");
  const auto query = bed.Query(plugin, "metadata: {name: p}");
  EXPECT_EQ(bed.Check(plugin, *query, "a"), "");
  EXPECT_EQ(bed.Check(plugin, *query, "b"), "");
}

// Pods with and without a node share a shape: what one is booked on must not bind the others.
TEST(NodeNameTest, ANodeThatAnotherPodOfTheShapeHasDoesNotMatter) {
  PluginBed bed;
  NodeName plugin(bed.context);
  bed.AddNode("metadata: {name: a}");
  bed.AddNode("metadata: {name: b}");
  bed.AddPod("{metadata: {name: booked}, spec: {nodeName: a}}");
  const auto query = bed.Query(plugin, "metadata: {name: p}");
  EXPECT_EQ(query->shape().sample->metadata.name, "booked");
  EXPECT_EQ(bed.Check(plugin, *query, "b"), "");
}

TEST(NodeNameTest, OnlyNewNodesMightCure) {
  PluginBed bed;
  NodeName plugin(bed.context);
  const auto pod = PodOf("metadata: {name: p}");
  EXPECT_TRUE(plugin.MightCure(*pod, {.kind = EventKind::kNodeAdded}));
  EXPECT_TRUE(plugin.MightCure(*pod, {.kind = EventKind::kForced}));
  EXPECT_FALSE(plugin.MightCure(*pod, {.kind = EventKind::kNodeUpdated}));
}

TEST(NodeNameTest, CaresAboutNoOtherEvents) {
  PluginBed bed;
  const NodeName plugin(bed.context);
  EXPECT_EQ(WantedEvents(plugin), (std::vector<std::string_view>{"NodeAdd"}));
}

}  // namespace
}  // namespace koord::scheduler::node_name_test
