#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/sanitizer.h"
#include "base/simulation_seeds.h"
#include "simulation/scheduler/simulation_world_testing.h"

// Two schedulers compete for a cluster that changes at random, through a bad network, while they
// crash, are cut off and clocks jump. Whatever the seed, what reliability asks for holds.
//
// One seed again: --gtest_filter='Seeds/SchedulerSimulation.*/17'; with KOORD_SIMULATION_LOG=3 in
// the environment everything that happens is logged. Other seeds: KOORD_SIMULATION_SEEDS=201-1200.
namespace koord::localcluster::simulation::scheduler_simulation_test {
namespace {

constexpr int kSeeds = TestRounds(200);
constexpr int kClockSeeds = TestRounds(20);
constexpr int kDeviceSeeds = TestRounds(20);
constexpr int kReplayedSeeds = TestRounds(10);

constexpr Conditions kTroubled{.troubled = true, .jumps = true};
constexpr Conditions kFair{};
constexpr Conditions kJumping{.jumps = true};

std::string Complaints(const World& world) {
  return fmt::format("{}", fmt::join(world.complaints(), "\n"));
}

class SchedulerSimulation : public ::testing::TestWithParam<uint64_t> {
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

// A bad network changes when things happen, but not what becomes of a pod in the end. Pods that
// only one of the worlds still has were displaced in the other.
void ExpectSameOutcome(const World& a, const World& b) {
  const auto in_a = a.Outcome();
  const auto displaced_in_b = b.Displaced();
  for (const auto& [name, what] : b.Outcome()) {
    if (const auto other = in_a.find(name); other != in_a.end()) {
      EXPECT_EQ(other->second, what) << "I16: " << name;
    }
  }
  for (const auto& [name, what] : in_a) {
    EXPECT_TRUE(b.Outcome().contains(name) || displaced_in_b.contains(name))
        << "I16: " << name << " is lost";
  }
}

TEST_P(SchedulerSimulation, HoldsItsPromises) {
  World troubled(GetParam(), kTroubled);
  troubled.Run();
  EXPECT_EQ(Complaints(troubled), "");
  World fair(GetParam(), kFair);
  fair.Run();
  EXPECT_EQ(Complaints(fair), "");
  EXPECT_EQ(fair.checker().bindings_sent(), fair.checker().pods_bound());
  ExpectSameOutcome(troubled, fair);
  ExpectSameOutcome(fair, troubled);
}

INSTANTIATE_TEST_SUITE_P(Seeds, SchedulerSimulation, ::testing::ValuesIn(SimulationSeeds(kSeeds)),
                         ::testing::PrintToStringParamName());

using SchedulerSimulationDevices = SchedulerSimulation;

// The same with cards, whose objects come late, vanish and return.
TEST_P(SchedulerSimulationDevices, GivesNoCardTwice) {
  World troubled(GetParam(), {.troubled = true, .jumps = true, .plan = {.devices = true}});
  troubled.Run();
  EXPECT_EQ(Complaints(troubled), "");
  EXPECT_GT(troubled.checker().devices_given(), 0U);
  World fair(GetParam(), {.plan = {.devices = true}});
  fair.Run();
  EXPECT_EQ(Complaints(fair), "");
  ExpectSameOutcome(troubled, fair);
  ExpectSameOutcome(fair, troubled);
}

INSTANTIATE_TEST_SUITE_P(Seeds, SchedulerSimulationDevices,
                         ::testing::ValuesIn(SimulationSeeds(kDeviceSeeds)),
                         ::testing::PrintToStringParamName());

using QuotaSimulation = SchedulerSimulation;

// Teams share the cluster. Who is let in first depends on the network, so that only what must
// always hold is compared.
TEST_P(QuotaSimulation, HoldsItsPromises) {
  World world(GetParam(), {.troubled = true, .jumps = true, .plan = {.quotas = true}});
  world.Run();
  EXPECT_EQ(Complaints(world), "");
}

INSTANTIATE_TEST_SUITE_P(Seeds, QuotaSimulation, ::testing::ValuesIn(SimulationSeeds(kSeeds)),
                         ::testing::PrintToStringParamName());

using SchedulerSimulationClock = SchedulerSimulation;

// I17: when a wall clock is set, nothing is decided otherwise or at another time.
TEST_P(SchedulerSimulationClock, DoesNotChangeDecisions) {
  World fair(GetParam(), kFair);
  fair.Run();
  World jumping(GetParam(), kJumping);
  jumping.Run();
  EXPECT_EQ(Complaints(jumping), "");
  EXPECT_EQ(jumping.checker().bindings(), fair.checker().bindings());
}

INSTANTIATE_TEST_SUITE_P(Seeds, SchedulerSimulationClock,
                         ::testing::Range<uint64_t>(1, kClockSeeds + 1),
                         ::testing::PrintToStringParamName());

using SchedulerSimulationReplay = SchedulerSimulation;

TEST_P(SchedulerSimulationReplay, IsTheSameRun) {
  World first(GetParam(), kTroubled);
  first.Run();
  World second(GetParam(), kTroubled);
  second.Run();
  EXPECT_EQ(first.checker().trace_hash(), second.checker().trace_hash());
  RecordProperty("trace_hash", std::to_string(first.checker().trace_hash()));
}

INSTANTIATE_TEST_SUITE_P(Seeds, SchedulerSimulationReplay,
                         ::testing::Range<uint64_t>(1, kReplayedSeeds + 1),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace koord::localcluster::simulation::scheduler_simulation_test
