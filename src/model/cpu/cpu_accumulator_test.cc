#include "model/cpu/cpu_accumulator.h"

#include <gtest/gtest.h>

#include "model/cpu/cpu_topology_testing.h"

namespace koord::model::cpu_accumulator_test {
namespace {

constexpr auto kMost = NumaAllocateStrategy::kMostAllocated;
constexpr auto kLeast = NumaAllocateStrategy::kLeastAllocated;
constexpr auto kFull = CpuBindPolicy::kFullPcpus;
constexpr auto kSpread = CpuBindPolicy::kSpreadByPcpus;
using Exclusive = CpuExclusivePolicy;

CpuSet Cpus(std::string_view text) { return CpuSet::Parse(text).value(); }

// A machine and who holds what of it.
struct Bed {
  CpuTopology topology;
  CpuOccupancy occupancy = {};

  Bed& Hold(std::string_view cpus, Exclusive policy = Exclusive::kNone) {
    occupancy.Add(Cpus(cpus), policy);
    return *this;
  }
  CpuSet Free() const { return topology.cpus() - occupancy.holders.AtLeast(occupancy.max_holders); }
  // The list, or the error.
  std::string Take(const CpuRequest& request, std::string_view preferred = "") const {
    const auto taken = TakePreferredCpus(topology, Free(), Cpus(preferred), occupancy, request);
    return taken.ok() ? taken->ToString() : std::string(taken.status().message());
  }
};

TEST(TakeCpus, Vector1FullCoresAndTheChoiceOfANumaNode) {
  const Bed bed = Bed{Machine(2, 2, 4, 2)}.Hold("0-5,16-23");
  EXPECT_EQ(bed.Take({.count = 6, .bind = kFull, .strategy = kMost}), "24-29");
  EXPECT_EQ(bed.Take({.count = 6, .bind = kFull, .strategy = kLeast}), "8-13");
}

TEST(TakeCpus, Vector2FullCoresThatAreNotInOnePlace) {
  const Bed bed = Bed{Machine(2, 2, 2, 2)}.Hold("0,2,4,8,10,12");
  EXPECT_EQ(bed.Take({.count = 6, .bind = kFull, .strategy = kMost}), "5-7,13-15");
  EXPECT_EQ(bed.Take({.count = 6, .bind = kFull, .strategy = kLeast}), "1,3,6-7,14-15")
      << "begins with the NUMA nodes that have more";
}

TEST(TakeCpus, Vector3Spread) {
  const Bed bed = Bed{Machine(2, 1, 4, 2)}.Hold("0,2");
  EXPECT_EQ(bed.Take({.count = 4, .bind = kSpread, .strategy = kMost}), "1,3-4,6");
  EXPECT_EQ(bed.Take({.count = 4, .bind = kSpread, .strategy = kLeast}), "8,10,12,14");
}

TEST(TakeCpus, Vector4PcpuLevelIsBestEffort) {
  const Bed bed{Machine(2, 1, 4, 2)};
  EXPECT_EQ(
      bed.Take(
          {.count = 10, .bind = kSpread, .exclusive = Exclusive::kPcpuLevel, .strategy = kMost}),
      "0-4,6,8,10,12,14");
}

TEST(TakeCpus, Vector5NumaNodeLevel) {
  const Bed bed = Bed{Machine(2, 1, 4, 2)}.Hold("0,2", Exclusive::kNumaNodeLevel);
  CpuRequest request{
      .count = 4, .bind = kFull, .exclusive = Exclusive::kNumaNodeLevel, .strategy = kMost};
  EXPECT_EQ(bed.Take(request), "8-11");
  request.exclusive = Exclusive::kNone;
  EXPECT_EQ(bed.Take(request), "4-7");
}

TEST(TakeCpus, Vector6SharedCpus) {
  Bed bed{Machine(1, 1, 4, 2)};
  bed.occupancy.max_holders = 2;
  for (const auto& [count, expected] :
       {std::pair(4, "0-3"), std::pair(5, "0,4-7"), std::pair(4, "2-5")}) {
    EXPECT_EQ(bed.Take({.count = count, .bind = kFull, .strategy = kMost}), expected);
    bed.Hold(expected);
  }
}

TEST(TakeCpus, Vector7PreferredCpus) {
  const Bed bed{Machine(2, 1, 16, 2)};
  EXPECT_EQ(bed.Take({.count = 2, .bind = kSpread}, "11,13,15,17"), "11,13");
}

TEST(TakeCpus, PreferredCpusComeFirstAndOthersFillUp) {
  const Bed bed = Bed{Machine(1, 1, 4, 2)}.Hold("2");
  EXPECT_EQ(bed.Take({.count = 4, .bind = kFull}, "6-7"), "0-1,6-7");
  EXPECT_EQ(bed.Take({.count = 3, .bind = kFull}, "6-7"), "0,6-7");
  EXPECT_EQ(bed.Take({.count = 1, .bind = kFull}, "6-7"), "6");
  EXPECT_EQ(bed.Take({.count = 2, .bind = kFull}, "2"), "0-1") << "is not available";
}

TEST(TakeCpus, Vector8AnOddNumberEndsInHalfACore) {
  const Bed bed{Machine(2, 1, 8, 2)};
  EXPECT_EQ(bed.Take({.count = 5, .bind = kFull}), "0-4");
}

TEST(TakeCpus, RefusesOnlyWhatIsNotThere) {
  const Bed bed = Bed{Machine(1, 1, 2, 2)}.Hold("0");
  EXPECT_EQ(bed.Take({.count = 3, .bind = kFull}), "1-3");
  EXPECT_EQ(bed.Take({.count = 4, .bind = kFull}), "not enough cpus available to satisfy request");
  EXPECT_EQ(bed.Take({.count = 0, .bind = kFull}), "");
  EXPECT_EQ(bed.Take({.count = -1, .bind = kSpread}), "");
  EXPECT_EQ(Bed{}.Take({.count = 1}), "not enough cpus available to satisfy request");
}

TEST(TakeCpus, CpusThatTheMachineDoesNotHaveAreNotGivenOut) {
  const CpuTopology topology = Machine(1, 1, 2, 1);
  const CpuRequest request{.count = 3, .bind = kFull};
  EXPECT_FALSE(TakeCpus(topology, Cpus("0-7"), {}, request).ok());
}

TEST(TakeCpus, HoldersOfCpusThatTheMachineDoesNotHaveAreNobodys) {
  for (const Exclusive policy : {Exclusive::kPcpuLevel, Exclusive::kNumaNodeLevel}) {
    const Bed bed = Bed{Machine(1, 2, 2, 2)}.Hold("100-103", policy);
    EXPECT_EQ(bed.Take({.count = 2, .bind = kSpread, .exclusive = policy}), "0,2");
  }
}

TEST(TakeCpus, ThreadsNeedNotHaveNeighbouringNumbers) {
  const Bed bed{Machine(2, 1, 4, 2, Threads::kFarApart)};
  EXPECT_EQ(bed.Take({.count = 4, .bind = kFull}), "0-1,8-9");
  EXPECT_EQ(bed.Take({.count = 4, .bind = kSpread}), "0-3");
}

TEST(RequiredPolicy, LeavesWhatCanObeyIt) {
  const CpuTopology topology = Machine(1, 1, 4, 2);
  EXPECT_EQ(UsableFor(kFull, topology, Cpus("0,2-3,5,6-7")).ToString(), "2-3,6-7");
  EXPECT_EQ(UsableFor(kSpread, topology, Cpus("0,2-3,5,6-7")).ToString(), "0,2,5-6");
  EXPECT_TRUE(Obeys(kFull, topology, Cpus("0-1,4-5")));
  EXPECT_FALSE(Obeys(kFull, topology, Cpus("0-2")));
  EXPECT_TRUE(Obeys(kSpread, topology, Cpus("0,3")));
  EXPECT_FALSE(Obeys(kSpread, topology, Cpus("0-1")));
}

TEST(CpuCounts, CountHoldersOfEachCpu) {
  CpuCounts counts;
  counts.Add(Cpus("0-3"));
  counts.Add(Cpus("2-5"));
  counts.Add(Cpus("3"));
  EXPECT_EQ(counts.held().ToString(), "0-5");
  EXPECT_EQ(counts.AtLeast(2).ToString(), "2-3");
  EXPECT_EQ(counts.AtLeast(3).ToString(), "3");
  EXPECT_TRUE(counts.AtLeast(4).empty());
  EXPECT_EQ(counts.CountOf(3), 3u);
  EXPECT_EQ(counts.CountOf(9), 0u);
  counts.Remove(Cpus("2-5,9"));
  EXPECT_EQ(counts.held().ToString(), "0-3");
  EXPECT_EQ(counts.AtLeast(2).ToString(), "3");
  counts.Remove(Cpus("3"));
  counts.Remove(Cpus("0-3"));
  EXPECT_TRUE(counts.empty());
  EXPECT_EQ(counts, CpuCounts());
}

}  // namespace
}  // namespace koord::model::cpu_accumulator_test
