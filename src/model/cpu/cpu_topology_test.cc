#include "model/cpu/cpu_topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace koord::model::cpu_topology_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Two sockets of two cores with two threads each, numbered as Linux numbers them: first all first
// threads. Each socket is a NUMA node.
std::vector<Processor> TwoSockets() {
  return {{0, 0, 0, 0}, {1, 1, 0, 0}, {2, 2, 1, 1}, {3, 3, 1, 1},
          {4, 0, 0, 0}, {5, 1, 0, 0}, {6, 2, 1, 1}, {7, 3, 1, 1}};
}

TEST(CpuTopology, OfNothingIsEmpty) {
  const CpuTopology topology;
  EXPECT_TRUE(topology.empty());
  EXPECT_THAT(topology.cpus(), IsEmpty());
  EXPECT_EQ(topology.Find(0), nullptr);
  EXPECT_EQ(topology.core_count(), 0);
  EXPECT_EQ(topology.cpus_per_core(), 0);
  EXPECT_EQ(topology.cpus_per_node(), 0);
  EXPECT_EQ(topology.cpus_per_socket(), 0);
  EXPECT_THAT(topology.ToAnnotation().detail, IsEmpty());
}

TEST(CpuTopology, PutsThreadsOfACoreAndCoresOfANodeTogether) {
  const CpuTopology topology(TwoSockets());
  std::vector<int32_t> order;
  for (const Processor& each : topology.processors()) order.push_back(each.cpu);
  EXPECT_THAT(order, ElementsAre(0, 4, 1, 5, 2, 6, 3, 7));
  EXPECT_EQ(topology.cpus().ToString(), "0-7");
  EXPECT_EQ(topology.CpusOfNode(1).ToString(), "2-3,6-7");
  EXPECT_THAT(topology.CpusOfNode(2), IsEmpty());
}

TEST(CpuTopology, CountsWhatAMachineIsMadeOf) {
  const CpuTopology topology(TwoSockets());
  EXPECT_EQ(topology.core_count(), 4);
  EXPECT_EQ(topology.node_count(), 2);
  EXPECT_EQ(topology.socket_count(), 2);
  EXPECT_EQ(topology.cpus_per_core(), 2);
  EXPECT_EQ(topology.cpus_per_node(), 4);
  EXPECT_EQ(topology.cpus_per_socket(), 4);
}

// As a kernel shows it that was told to ignore NUMA.
TEST(CpuTopology, ANodeThatSpansSocketsHasAPartInEach) {
  std::vector<Processor> processors = TwoSockets();
  for (Processor& each : processors) each.node = 0;
  const CpuTopology topology(processors);
  EXPECT_EQ(topology.node_count(), 1);
  EXPECT_EQ(topology.cpus_per_node(), 4);
}

TEST(CpuTopology, FindsProcessorsByNumber) {
  const CpuTopology topology({{9, 1, 0, 0, 3}, {2, 0, 0, 0, 4}});
  ASSERT_NE(topology.Find(9), nullptr);
  EXPECT_EQ(*topology.Find(9), (Processor{9, 1, 0, 0, 3}));
  EXPECT_EQ(*topology.Find(2), (Processor{2, 0, 0, 0, 4}));
  for (const int32_t cpu : {-1, 0, 3, 8, 10, 100'000}) EXPECT_EQ(topology.Find(cpu), nullptr);
}

TEST(CpuTopology, OfTheSameCpuTheLastWordCounts) {
  const CpuTopology topology({{0, 0, 0, 0}, {0, 5, 1, 1}});
  ASSERT_EQ(topology.processors().size(), 1u);
  EXPECT_EQ(topology.Find(0)->core, 5);
  EXPECT_EQ(topology.core_count(), 1);
}

TEST(CpuTopology, CoresOfTheAnnotationMayRepeatInEachSocket) {
  const api::CpuTopology annotation{{{0, 0, 0, 0}, {1, 0, 0, 0}, {2, 0, 1, 1}, {3, 0, 1, 1}}};
  const auto topology = CpuTopology::FromAnnotation(annotation);
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_EQ(topology->core_count(), 2);
  EXPECT_EQ(topology->cpus_per_core(), 2);
  EXPECT_EQ(topology->Find(1)->core, 0);
  EXPECT_EQ(topology->Find(3)->core, 1 << 16);
}

TEST(CpuTopology, IsPublishedByCpu) {
  const api::CpuTopology annotation = CpuTopology(TwoSockets()).ToAnnotation();
  ASSERT_EQ(annotation.detail.size(), 8u);
  for (int32_t cpu = 0; cpu < 8; ++cpu) EXPECT_EQ(annotation.detail[cpu].id, cpu);
  EXPECT_EQ(annotation.detail[6], (api::CpuInfo{.id = 6, .core = 2, .socket = 1, .node = 1}));
  const auto again = CpuTopology::FromAnnotation(annotation);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->core_count(), 4);
  EXPECT_EQ(again->cpus().ToString(), "0-7");
}

TEST(CpuTopology, NamesTheNumberOfAnAnnotationThatCannotBe) {
  const struct {
    api::CpuInfo cpu;
    const char* error;
  } kCases[] = {
      {{-1, 0, 0, 0}, "id -1 of CPU -1 is out of range: expected 0 to 8191"},
      {{8192, 0, 0, 0}, "id 8192 of CPU 8192 is out of range: expected 0 to 8191"},
      {{1, 65536, 0, 0}, "core 65536 of CPU 1 is out of range: expected 0 to 65535"},
      {{1, 0, 32768, 0}, "socket 32768 of CPU 1 is out of range: expected 0 to 32767"},
      {{1, 0, 0, -2}, "node -2 of CPU 1 is out of range: expected 0 to 2147483646"},
  };
  for (const auto& test : kCases) {
    const auto topology = CpuTopology::FromAnnotation({{{0, 0, 0, 0}, test.cpu}});
    ASSERT_FALSE(topology.ok()) << test.error;
    EXPECT_EQ(Message(topology.status()), test.error);
  }
}

}  // namespace
}  // namespace koord::model::cpu_topology_test
