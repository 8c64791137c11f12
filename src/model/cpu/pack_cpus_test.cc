#include "model/cpu/pack_cpus.h"

#include <gtest/gtest.h>

namespace koord::model::pack_cpus_test {
namespace {

// 12 processors: i and i+6 share core i, even cores are on socket 0.
CpuTopology TwelveProcessors() {
  std::vector<Processor> processors;
  for (int32_t cpu = 0; cpu < 12; ++cpu) {
    const int32_t core = cpu % 6;
    processors.push_back({cpu, core, core % 2, core % 2, 0});
  }
  return processors;
}

// Cores (0,1)(2,3)(4,5)(6,7), 0-3 on socket and NUMA node 0, 4-7 on 1.
CpuTopology EightProcessors() {
  std::vector<Processor> processors;
  for (int32_t cpu = 0; cpu < 8; ++cpu) {
    processors.push_back({cpu, cpu / 2, cpu / 4, cpu / 4, cpu / 4});
  }
  return processors;
}

TEST(PackCpus, Vector18ReservationByAmount) {
  const auto take = [](int64_t count) { return PackCpus(TwelveProcessors(), count)->ToString(); };
  EXPECT_EQ(take(2), "0,6");
  EXPECT_EQ(take(3), "0,2,6");
  EXPECT_EQ(take(-1), "");
  EXPECT_EQ(take(0), "");
}

TEST(PackCpus, TakesWholeUnitsBeforeParts) {
  const auto take = [](int64_t count) { return PackCpus(TwelveProcessors(), count)->ToString(); };
  EXPECT_EQ(take(6), "0,2,4,6,8,10") << "a socket";
  EXPECT_EQ(take(7), "0-2,4,6,8,10") << "a socket, and one of the other";
  EXPECT_EQ(take(12), "0-11");
  EXPECT_FALSE(PackCpus(TwelveProcessors(), 13).ok());
}

TEST(PackCpus, FillsUpWhatHasBeenStarted) {
  // After the core 0,1 the single one comes from the same NUMA node, which has less left.
  EXPECT_EQ(PackCpus(EightProcessors(), 3)->ToString(), "0-2");
  EXPECT_EQ(PackCpus(EightProcessors(), 5)->ToString(), "0-4");
}

}  // namespace
}  // namespace koord::model::pack_cpus_test
