#include "model/cpu/shared_pools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace koord::model::shared_pools_test {
namespace {

using ::testing::ElementsAre;

api::CpuSharedPool Pool(int32_t socket, int32_t node, std::string cpus) {
  return {.socket = socket, .node = node, .cpuset = std::move(cpus)};
}

// Two NUMA nodes in one socket, a third one in another.
CpuTopology ThreeNodes() {
  return CpuTopology({{0, 0, 0, 0}, {1, 1, 0, 0}, {2, 2, 0, 1}, {3, 3, 0, 1}, {4, 4, 1, 2}});
}

TEST(SharedPools, OfAnIdleMachineHaveAllOfItsCpus) {
  EXPECT_THAT(SharedPoolsOf(ThreeNodes(), {}, {}),
              ElementsAre(Pool(0, 0, "0-1"), Pool(0, 1, "2-3"), Pool(1, 2, "4")));
}

TEST(SharedPools, LackWhatIsTakenAndWhatIsKeptBack) {
  EXPECT_THAT(SharedPoolsOf(ThreeNodes(), {0}, {3}),
              ElementsAre(Pool(0, 0, "1"), Pool(0, 1, "2"), Pool(1, 2, "4")));
}

TEST(SharedPools, AreEmptyWhereTheRestIsKeptBackAndAbsentWhereAllIsTaken) {
  EXPECT_THAT(SharedPoolsOf(ThreeNodes(), {2, 3}, {4}),
              ElementsAre(Pool(0, 0, "0-1"), Pool(1, 2, "")));
}

}  // namespace
}  // namespace koord::model::shared_pools_test
