#include "localcluster/nodes/cpu_topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace koord::localcluster::cpu_topology_test {
namespace {

using model::Processor;
using ::testing::ElementsAre;

TEST(CpuTopology, ThreadsOfACoreAndCoresOfANumaNodeAreNeighbours) {
  NodeShape shape{.cpus = 8, .smt = 2, .numa = 2, .sockets = 1};
  EXPECT_THAT(CpuTopologyOf(shape).processors(),
              ElementsAre(Processor{0, 0, 0, 0}, Processor{1, 0, 0, 0}, Processor{2, 1, 0, 0},
                          Processor{3, 1, 0, 0}, Processor{4, 2, 0, 1}, Processor{5, 2, 0, 1},
                          Processor{6, 3, 0, 1}, Processor{7, 3, 0, 1}));
}

TEST(CpuTopology, NumaNodesBelongToSocketsInOrder) {
  NodeShape shape{.cpus = 4, .smt = 1, .numa = 4, .sockets = 2};
  const model::CpuTopology topology = CpuTopologyOf(shape);
  std::vector<int32_t> sockets;
  for (const Processor& cpu : topology.processors()) sockets.push_back(cpu.socket);
  EXPECT_THAT(sockets, ElementsAre(0, 0, 1, 1));
}

}  // namespace
}  // namespace koord::localcluster::cpu_topology_test
