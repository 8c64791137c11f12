#include "localcluster/nodes/node_shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace koord::localcluster::node_shape_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

NodeShape MustParse(std::string_view text) {
  StatusOr<NodeShape> shape = ParseNodeShape(text);
  EXPECT_TRUE(shape.ok()) << text << ": " << Message(shape.status());
  return shape.value_or(NodeShape{});
}

TEST(NodeShape, ReadsEveryKey) {
  const NodeShape shape = MustParse(
      "cpu=64, memory=256Gi,smt=2,numa=4,sockets=2,gpu=8,gpu-memory=40Gi,gpu-model=H100,pods=200,"
      "zone=a;b,labels=team=web;tier=gold,taints=dedicated=gpu:NoSchedule;spot:NoExecute,count=3");
  EXPECT_EQ(shape.cpus, 64);
  EXPECT_EQ(shape.memory, int64_t{256} << 30);
  EXPECT_EQ(shape.numa, 4);
  EXPECT_EQ(shape.sockets, 2);
  EXPECT_EQ(shape.gpus, 8);
  EXPECT_EQ(shape.gpu_memory, int64_t{40} << 30);
  EXPECT_EQ(shape.gpu_model, "H100");
  EXPECT_EQ(shape.pods, 200);
  EXPECT_THAT(shape.zones, ElementsAre("a", "b"));
  EXPECT_THAT(shape.labels, ElementsAre(std::pair("team", "web"), std::pair("tier", "gold")));
  EXPECT_THAT(shape.taints, ElementsAre(NodeShape::Taint{"dedicated", "gpu", "NoSchedule"},
                                        NodeShape::Taint{"spot", "", "NoExecute"}));
  EXPECT_EQ(shape.count, 3);
}

TEST(NodeShape, FillsInWhatIsLeftOut) {
  struct Case {
    std::string_view name, text;
    int64_t smt, numa, sockets;
  };
  const Case cases[] = {
      {"the usual server", "cpu=32,memory=128Gi", 2, 2, 2},
      {"a small machine is one NUMA node", "cpu=4", 2, 1, 1},
      {"an odd number of processors has no threads", "cpu=3", 1, 1, 1},
      {"two NUMA nodes need whole cores each", "cpu=18", 2, 1, 1},
      {"a socket per NUMA node", "cpu=32,numa=4", 2, 4, 4},
      {"threads can be switched off", "cpu=32,smt=1", 1, 2, 2},
  };
  for (const Case& c : cases) {
    const NodeShape shape = MustParse(c.text);
    EXPECT_EQ(shape.smt, c.smt) << c.name;
    EXPECT_EQ(shape.numa, c.numa) << c.name;
    EXPECT_EQ(shape.sockets, c.sockets) << c.name;
  }
}

TEST(NodeShape, ErrorsNameTheKeyAndWhatWasExpected) {
  struct Case {
    std::string_view text, error;
  };
  const Case cases[] = {
      {"", "expected key=value"},
      {"cpu", "expected key=value, found \"cpu\""},
      {"cpu=many", "cpu=\"many\": expected a whole number from 1 to 4096"},
      {"cpu=0", "cpu=\"0\": expected a whole number"},
      {"cpu=-4", "cpu=\"-4\": expected a whole number"},
      {"memory=lots", "memory=\"lots\": expected a size such as 128Gi"},
      {"memory=0", "memory=\"0\": expected a size"},
      {"cpus=4", "unknown key \"cpus\": expected one of cpu, memory"},
      {"cpu=4,cpu=8", "cpu is given twice"},
      {"cpu=30,numa=4", "cpu=30: expected a multiple of 8"},
      {"cpu=32,numa=2,sockets=4", "sockets=4: expected a divisor of numa=2"},
      {"labels=team", "labels=\"team\": expected key=value"},
      {"taints=a=b", "expected key=value:Effect"},
      {"taints=a:Never", "expected key=value:Effect"},
      {"zone=a;", "zone=: expected a value"},
      {"gpu=65", "gpu=\"65\": expected a whole number from 0 to 64"},
  };
  for (const Case& c : cases) {
    const StatusOr<NodeShape> shape = ParseNodeShape(c.text);
    ASSERT_FALSE(shape.ok()) << c.text;
    EXPECT_THAT(std::string(Message(shape.status())), HasSubstr(c.error)) << c.text;
  }
}

std::vector<std::string> Names(const std::vector<PlannedNode>& nodes) {
  std::vector<std::string> names;
  for (const PlannedNode& node : nodes) names.push_back(node.name);
  return names;
}

TEST(PlanNodes, NumbersAreOfOneWidthSoThatNamesSort) {
  EXPECT_THAT(Names(*PlanNodes(3, {})), ElementsAre("node-0", "node-1", "node-2"));
  const auto twenty = PlanNodes(20, {});
  EXPECT_EQ(twenty->front().name, "node-00");
  EXPECT_EQ(twenty->back().name, "node-19");
  EXPECT_TRUE(PlanNodes(0, {})->empty());
}

TEST(PlanNodes, CountedShapesComeFirstAndOthersShareTheRest) {
  const std::vector<NodeShape> shapes = {MustParse("cpu=4"), MustParse("cpu=64,gpu=8,count=2"),
                                         MustParse("cpu=8")};
  const auto nodes = PlanNodes(5, shapes);
  ASSERT_TRUE(nodes.ok());
  std::vector<int64_t> cpus;
  for (const PlannedNode& node : *nodes) cpus.push_back(node.shape.cpus);
  EXPECT_THAT(cpus, ElementsAre(64, 64, 4, 8, 4));
}

TEST(PlanNodes, ZonesTakeTurns) {
  const std::vector<NodeShape> shapes = {MustParse("cpu=4,zone=a;b")};
  const auto nodes = PlanNodes(3, shapes);
  std::vector<std::string> zones;
  for (const PlannedNode& node : *nodes) zones.push_back(node.zone);
  EXPECT_THAT(zones, ElementsAre("a", "b", "a"));
}

TEST(PlanNodes, CountsMustMakeTheTotal) {
  const std::vector<NodeShape> shapes = {MustParse("cpu=4,count=3")};
  for (int64_t total : {2, 4}) {
    const auto nodes = PlanNodes(total, shapes);
    ASSERT_FALSE(nodes.ok());
    EXPECT_THAT(std::string(Message(nodes.status())), HasSubstr("make 3 nodes"));
  }
}

}  // namespace
}  // namespace koord::localcluster::node_shape_test
