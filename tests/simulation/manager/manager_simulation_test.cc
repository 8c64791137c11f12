#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

#include "base/log.h"
#include "base/sanitizer.h"
#include "base/simulation_seeds.h"
#include "simulation/manager/managed_world_testing.h"

// koord-manager in a cluster that changes at random, through a bad network, while it crashes and
// another one takes over. What nodes lend is always what the formula says of their last report.
//
// One seed again: --gtest_filter='Seeds/ManagerSimulation.*/3'; other seeds:
// KOORD_SIMULATION_SEEDS=11-40; with KOORD_SIMULATION_LOG=3 everything that happens is logged.
namespace koord::localcluster::managed::manager_simulation_test {
namespace {

constexpr int kSeeds = TestRounds(4);

class ManagerSimulation : public ::testing::TestWithParam<uint64_t> {
 protected:
  void SetUp() override {
    if (const char* verbosity = std::getenv("KOORD_SIMULATION_LOG")) {
      log::SetVerbosity(std::atoi(verbosity));
    } else {
      log::SetSink([](std::string_view) {});
    }
  }
  void TearDown() override { log::SetSink(nullptr); }
};

void ExpectNoComplaints(const World& world) {
  EXPECT_EQ(fmt::format("{}", fmt::join(world.complaints(), "\n")), "");
  const World::Tally& tally = world.tally();
  fmt::print("{} reports, {} patches, {} checks, {} exact, {} silent, {} crashes, trace {:x}\n",
             tally.reports, tally.patches, tally.checks, tally.exact, tally.withdrawn,
             tally.crashes, world.trace_hash());
  // A run in which nothing was looked at would prove nothing.
  EXPECT_GT(tally.checks, tally.reports / 3);
  EXPECT_GT(tally.exact, tally.checks / 10);
  EXPECT_GT(tally.withdrawn, 0);
  EXPECT_LT(tally.patches, tally.reports);
}

constexpr Conditions kSmall{.nodes = 24, .length = 24h, .troubled = true};
constexpr Conditions kReplayed{.nodes = 12, .length = 24h, .troubled = true};
constexpr Conditions kFair{.nodes = 24, .length = 24h, .troubled = false};
constexpr Conditions kDay{.nodes = 500,
                          .length = 24h,
                          .troubled = true,
                          .standby = false,
                          .report_interval = 10min,
                          .update_threshold = 30min};

TEST_P(ManagerSimulation, LendsWhatTheFormulaSays) {
  World troubled(GetParam(), kSmall);
  troubled.Run();
  ExpectNoComplaints(troubled);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ManagerSimulation, ::testing::ValuesIn(SimulationSeeds(kSeeds)),
                         ::testing::PrintToStringParamName());

using ManagerSimulationFair = ManagerSimulation;

// With nothing in the way there is never a second patch for a change.
TEST_P(ManagerSimulationFair, WritesOnceForAChange) {
  World fair(GetParam(), kFair);
  fair.Run();
  ExpectNoComplaints(fair);
}
INSTANTIATE_TEST_SUITE_P(Seeds, ManagerSimulationFair, ::testing::Values(1));

using ManagerSimulationReplay = ManagerSimulation;

TEST_P(ManagerSimulationReplay, IsTheSameRun) {
  World first(GetParam(), kReplayed);
  first.Run();
  World second(GetParam(), kReplayed);
  second.Run();
  EXPECT_EQ(first.trace_hash(), second.trace_hash());
  RecordProperty("trace_hash", std::to_string(first.trace_hash()));
}
INSTANTIATE_TEST_SUITE_P(Seeds, ManagerSimulationReplay, ::testing::Values(1));

using ManagerSimulationDay = ManagerSimulation;

TEST_P(ManagerSimulationDay, OfALargeCluster) {
  World world(GetParam(), kSanitized ? kSmall : kDay);
  world.Run();
  ExpectNoComplaints(world);
}
INSTANTIATE_TEST_SUITE_P(Seeds, ManagerSimulationDay, ::testing::Values(1));

}  // namespace
}  // namespace koord::localcluster::managed::manager_simulation_test
