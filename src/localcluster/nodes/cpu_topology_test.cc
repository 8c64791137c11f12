#include "localcluster/nodes/cpu_topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace koord::localcluster::cpu_topology_test {
namespace {

using ::testing::ElementsAre;

TEST(CpuTopology, ThreadsOfACoreAndCoresOfANumaNodeAreNeighbours) {
  NodeShape shape{.cpus = 8, .smt = 2, .numa = 2, .sockets = 1};
  EXPECT_THAT(CpuTopologyOf(shape),
              ElementsAre(LogicalCpu{0, 0, 0, 0}, LogicalCpu{1, 0, 0, 0}, LogicalCpu{2, 1, 0, 0},
                          LogicalCpu{3, 1, 0, 0}, LogicalCpu{4, 2, 0, 1}, LogicalCpu{5, 2, 0, 1},
                          LogicalCpu{6, 3, 0, 1}, LogicalCpu{7, 3, 0, 1}));
}

TEST(CpuTopology, NumaNodesBelongToSocketsInOrder) {
  NodeShape shape{.cpus = 4, .smt = 1, .numa = 4, .sockets = 2};
  std::vector<int32_t> sockets;
  for (const LogicalCpu& cpu : CpuTopologyOf(shape)) sockets.push_back(cpu.socket);
  EXPECT_THAT(sockets, ElementsAre(0, 0, 1, 1));
}

TEST(CpuTopology, ListsAreRangesWhereTheyCanBe) {
  EXPECT_EQ(FormatCpuList({}), "");
  EXPECT_EQ(FormatCpuList({3}), "3");
  EXPECT_EQ(FormatCpuList({0, 1, 2, 3, 8, 10, 11}), "0-3,8,10-11");
}

}  // namespace
}  // namespace koord::localcluster::cpu_topology_test
