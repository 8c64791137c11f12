#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

#include "base/log.h"
#include "base/sanitizer.h"
#include "base/strings.h"
#include "localcluster/managing/managed_world_testing.h"

// koord-manager in a cluster that changes at random, through a bad network, while it crashes and
// another one takes over. What nodes lend is always what the formula says of their last report.
//
// One seed again: --gtest_filter='Seeds/ManagerSimulation.*/3'; other seeds:
// KOORD_SIMULATION_SEEDS=11-40; with KOORD_SIMULATION_LOG=3 everything that happens is logged.
namespace koord::localcluster::managing {
namespace {

constexpr int kSeeds = TestRounds(6);

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

constexpr Conditions kSmall{.nodes = 40, .length = 24h, .troubled = true};
constexpr Conditions kFair{.nodes = 40, .length = 24h, .troubled = false};
constexpr Conditions kDay{
    .nodes = 500, .length = 24h, .troubled = true, .standby = false, .report_interval = 10min};

TEST_P(ManagerSimulation, LendsWhatTheFormulaSays) {
  World troubled(GetParam(), kSmall);
  troubled.Run();
  ExpectNoComplaints(troubled);
}

std::vector<uint64_t> Seeds() {
  std::optional<int64_t> first = 1, last = kSeeds;
  if (const char* asked = std::getenv("KOORD_SIMULATION_SEEDS")) {
    const std::string_view text(asked);
    const size_t dash = std::min(text.find('-'), text.size());
    first = ParseInt(text.substr(0, dash));
    last = dash == text.size() ? first : ParseInt(text.substr(dash + 1));
  }
  if (!first || !last) {
    fmt::print(stderr, "KOORD_SIMULATION_SEEDS must be a number or two with a dash: 11-40\n");
    std::exit(1);
  }
  std::vector<uint64_t> seeds;
  for (int64_t seed = *first; seed <= *last; ++seed) seeds.push_back(static_cast<uint64_t>(seed));
  return seeds;
}

INSTANTIATE_TEST_SUITE_P(Seeds, ManagerSimulation, ::testing::ValuesIn(Seeds()),
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
  World first(GetParam(), kSmall);
  first.Run();
  World second(GetParam(), kSmall);
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
}  // namespace koord::localcluster::managing
