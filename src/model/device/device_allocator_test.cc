#include "model/device/device_allocator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/device/device_testing.h"

namespace koord::model::device_allocator_test {
namespace {

using enum DeviceResource;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Amounts = std::vector<std::pair<std::string_view, std::string_view>>;

constexpr std::string_view kHint = "scheduling.koordinator.sh/device-allocate-hint";
constexpr std::string_view kJoint = "scheduling.koordinator.sh/device-joint-allocate";
constexpr std::string_view kPartition = "scheduling.koordinator.sh/gpu-partition-spec";

DeviceRequests Ask(const Amounts& amounts,
                   const std::vector<std::pair<std::string_view, std::string_view>>& said = {}) {
  kube::Annotations annotations;
  std::map<std::string, std::string, std::less<>> texts;
  for (const auto& [key, value] : said) texts[std::string(key)] = std::string(value);
  annotations = kube::Annotations(std::move(texts));
  auto read = DeviceRequestsOf(Resources(amounts), annotations, {});
  EXPECT_TRUE(read.ok()) << read.status();
  return std::move(read).value();
}

DeviceRequests Cards(int count, std::string_view hint = "{}") {
  return Ask({{"nvidia.com/gpu", std::to_string(count)}}, {{kHint, hint}});
}

const GpuNode kPlain;
const GpuNode kHonoring{.vendor = "", .model = "H800", .honors_partitions = true};
const GpuNode kPreferring{.vendor = "", .model = "H800", .honors_partitions = false};

DeviceResult Try(const DeviceRequests& requests, const NodeDevices& devices,
                 const GpuNode& node = kPlain, const DeviceLimits* limits = nullptr,
                 const DeviceScoring* scoring = nullptr) {
  return AllocateDevices({.requests = requests,
                          .devices = devices,
                          .node = node,
                          .limits = limits,
                          .scoring = scoring,
                          .for_real = true});
}

std::vector<int32_t> CardsFor(const DeviceRequests& requests, const NodeDevices& devices,
                              const GpuNode& node = kPlain) {
  return MinorsOf(Try(requests, devices, node), DeviceType::kGpu);
}

TEST(DeviceAllocator, Vector20MemoryAndRatioFollowFromEachOther) {
  api::Device device;
  device.spec.devices = {Card(0, "24Gi"), Card(1, "64Gi")};
  const NodeDevices devices = DevicesOf(device);
  DeviceGrant by_memory{.minor = 0}, by_ratio{.minor = 1};
  by_memory.amounts.Set(kGpuMemory, int64_t{3} << 30);
  by_ratio.amounts.Set(kGpuMemoryRatio, 50);
  ASSERT_TRUE(CompleteGpuShare(devices, by_memory));
  ASSERT_TRUE(CompleteGpuShare(devices, by_ratio));
  EXPECT_EQ(by_memory.amounts.Get(kGpuMemoryRatio), 12);
  EXPECT_EQ(by_ratio.amounts.Get(kGpuMemory), int64_t{32} << 30);
  by_ratio = {.minor = 2};
  by_ratio.amounts.Set(kGpuMemoryRatio, 50);
  EXPECT_FALSE(CompleteGpuShare(devices, by_ratio)) << "there is no such card";
}

TEST(DeviceScore, Vector21) {
  const auto ratio = [](int64_t amount) {
    DeviceAmounts amounts;
    amounts.Set(kGpuMemoryRatio, amount);
    return amounts;
  };
  const DeviceScoring least{.most_allocated = false, .weights = {{kGpuMemoryRatio, 1}}};
  const DeviceScoring most{.most_allocated = true, .weights = {{kGpuMemoryRatio, 1}}};
  EXPECT_EQ(DeviceScore(least, ratio(30), ratio(100), ratio(50)), 20);
  EXPECT_EQ(DeviceScore(most, ratio(30), ratio(100), ratio(50)), 80);
  EXPECT_EQ(DeviceScore(least, ratio(50), ratio(100), ratio(0)), 0);
  const DeviceScoring usual{
      .weights = {{kGpuMemoryRatio, 1}, {kGpuMemory, 1}, {kRdma, 1}, {kFpga, 1}}};
  DeviceAmounts card = Share(100, 100);
  card.Set(kGpuMemory, int64_t{16} << 30);
  EXPECT_EQ(DeviceScore(usual, Share(100, 100), card, card), 50);
}

TEST(DeviceAllocator, Vector22PacksByTopology) {
  NodeDevices devices = DevicesOf(MachineG8());
  UseWhole(devices, {5});
  EXPECT_THAT(CardsFor(Cards(1), devices), ElementsAre(4));
  EXPECT_THAT(CardsFor(Cards(2), devices), ElementsAre(6, 7));
  const DeviceRequests scoped = Cards(4, R"({"gpu":{"requiredTopologyScope":"NUMANode"}})");
  EXPECT_THAT(CardsFor(scoped, devices), ElementsAre(0, 1, 2, 3));
  UseWhole(devices, {0});
  EXPECT_EQ(RefusalOf(Try(scoped, devices)), "U Insufficient Topology Scoped GPU Devices");
  EXPECT_EQ(RefusalOf(Try(Cards(8), devices)), "U Insufficient GPU Devices");
}

TEST(DeviceAllocator, Vector23GivesPartitions) {
  NodeDevices devices = DevicesOf(MachineH8());
  UseWhole(devices, {4});
  EXPECT_THAT(CardsFor(Cards(1), devices, kHonoring), ElementsAre(5));
  EXPECT_THAT(CardsFor(Cards(2), devices, kHonoring), ElementsAre(6, 7));
  EXPECT_EQ(RefusalOf(Try(Cards(3), devices, kHonoring)),
            "UU node(s) Unsupported number of GPU requests");
  UseWhole(devices, {0});
  EXPECT_EQ(RefusalOf(Try(Cards(4), devices, kHonoring)), "U Insufficient Partitioned GPU Devices");
  NodeDevices others = DevicesOf(MachineH8());
  UseWhole(others, {2, 3});
  EXPECT_THAT(CardsFor(Cards(3), others, kPreferring), ElementsAre(4, 5, 6));
}

// All eight cards are one partition; one of them reports less than a whole card.
TEST(DeviceAllocator, NoPartitionOfCardsThatHaveLessIsGiven) {
  api::Device machine = MachineH8();
  EXPECT_EQ(CardsFor(Cards(8), DevicesOf(machine), kHonoring).size(), 8U);
  machine.spec.devices.front().resources["koordinator.sh/gpu-core"] = kube::Quantity(99);
  EXPECT_EQ(RefusalOf(Try(Cards(8), DevicesOf(machine), kHonoring)),
            "U Insufficient Partitioned GPU Devices");
}

TEST(DeviceAllocator, PodsMayInsistOnPartitions) {
  const NodeDevices devices = DevicesOf(MachineH8());
  const DeviceRequests insisting = Ask({{"nvidia.com/gpu", "2"}}, {{kPartition, "{}"}});
  EXPECT_EQ(RefusalOf(Try(insisting, devices, kPlain)), "UU node(s) missing GPU Partition Table");
  EXPECT_THAT(CardsFor(insisting, devices, kPreferring), ElementsAre(0, 1));
}

TEST(DeviceAllocator, PartitionsOfTheDeviceObjectComeBeforeKnownOnes) {
  api::Device machine = MachineH8();
  machine.metadata.labels = {{"node.koordinator.sh/gpu-partition-policy", "Honor"}};
  machine.metadata.annotations = {
      {"scheduling.koordinator.sh/gpu-partitions",
       R"({"2":[{"minors":[1,6],"ringBusBandwidth":"100Gi","allocationScore":2},
                {"minors":[0,7],"ringBusBandwidth":"300Gi","allocationScore":4}]})"}};
  NodeDevices devices = DevicesOf(machine);
  EXPECT_THAT(CardsFor(Cards(2), devices), ElementsAre(1, 6)) << "the lower score first";
  const auto fast = [](std::string_view policy) {
    return Ask({{"nvidia.com/gpu", "2"}},
               {{kPartition,
                 fmt::format(R"({{"allocatePolicy":"{}","ringBusBandwidth":"200Gi"}})", policy)}});
  };
  EXPECT_THAT(CardsFor(fast("BestEffort"), devices), ElementsAre(0, 7));
  EXPECT_EQ(RefusalOf(Try(fast("Restricted"), devices)), "U Insufficient Partitioned GPU Devices");
  UseWhole(devices, {6});
  EXPECT_THAT(CardsFor(Cards(2), devices), ElementsAre(0, 7));
}

TEST(DeviceAllocator, Vector24TakesDevicesTogether) {
  const NodeDevices devices = DevicesOf(MachineG8());
  const DeviceRequests requests =
      Ask({{"nvidia.com/gpu", "3"}, {"koordinator.sh/rdma", "1"}},
          {{kJoint, R"({"deviceTypes":["gpu","rdma"]})"},
           {kHint, R"({"rdma":{"selector":{"matchLabels":{"type":"fakeW"}},"vfSelector":
                 {"matchExpressions":[{"key":"type","operator":"In","values":["general","fakeG"]}]}}})"}});
  const DeviceResult result = Try(requests, devices);
  ASSERT_TRUE(result.ok()) << RefusalOf(result);
  EXPECT_THAT(MinorsOf(result, DeviceType::kGpu), ElementsAre(0, 1, 2));
  EXPECT_THAT(MinorsOf(result, DeviceType::kRdma), ElementsAre(1, 2));
  std::vector<std::string> functions;
  for (const DeviceGrant& grant : result.grants) {
    if (grant.type != DeviceType::kRdma) continue;
    functions.push_back(grant.function->bus_id);
    EXPECT_EQ(grant.amounts.Get(kRdma), 1);
  }
  EXPECT_THAT(functions, ElementsAre("0000:1f:00.2", "0000:90:00.2"));
}

// The order shows in who joins as more are wanted.
TEST(DeviceAllocator, Vector24DealsByPcie) {
  api::Device machine;
  machine.spec.devices = {PlacedCard(0, 0, "0"), PlacedCard(1, 0, "1")};
  for (int32_t minor = 0; minor < 8; ++minor) {
    const std::string pcie = minor == 1 || minor == 2   ? "0"
                             : minor == 5 || minor == 6 ? "1"
                                                        : fmt::format("z{}", minor);
    machine.spec.devices.push_back(Nic(minor, 0, pcie));
  }
  NodeDevices devices = DevicesOf(machine);
  const auto nics = [&](int count, const DeviceScoring* scoring) {
    const DeviceRequests requests =
        Ask({{"nvidia.com/gpu", "2"}, {"koordinator.sh/rdma", std::to_string(count)}},
            {{kJoint, R"({"deviceTypes":["gpu","rdma"]})"},
             {kHint, R"({"rdma":{"allocateStrategy":"RequestsAsCount"}})"}});
    return MinorsOf(Try(requests, devices, kPlain, nullptr, scoring), DeviceType::kRdma);
  };
  EXPECT_THAT(nics(2, nullptr), ElementsAre(1, 5));
  EXPECT_THAT(nics(3, nullptr), ElementsAre(1, 2, 5));
  EXPECT_THAT(nics(4, nullptr), ElementsAre(1, 2, 5, 6));
  EXPECT_THAT(nics(5, nullptr), ElementsAre(0, 1, 2, 5, 6));
  EXPECT_THAT(nics(6, nullptr), ElementsAre(0, 1, 2, 3, 5, 6));
  DeviceAmounts ten, fifty;
  ten.Set(kRdma, 10);
  fifty.Set(kRdma, 50);
  devices.Use(DeviceType::kRdma, 5, ten, 1);
  devices.Use(DeviceType::kRdma, 6, fifty, 1);
  const DeviceScoring most{.most_allocated = true, .weights = {{kRdma, 1}}};
  EXPECT_THAT(nics(2, &most), ElementsAre(1, 6));
  EXPECT_THAT(nics(3, &most), ElementsAre(1, 5, 6));
  EXPECT_THAT(nics(4, &most), ElementsAre(1, 2, 5, 6));
}

TEST(DeviceAllocator, SamePcieIsKept) {
  NodeDevices devices = DevicesOf(MachineG8());
  const DeviceRequests requests =
      Ask({{"nvidia.com/gpu", "2"}, {"koordinator.sh/rdma", "100"}},
          {{kJoint, R"({"deviceTypes":["gpu","rdma"],"requiredScope":"SamePCIe"})"}});
  // The first choice would be switch 0, whose RDMA device is taken.
  DeviceAmounts all;
  all.Set(kRdma, 100);
  devices.Use(DeviceType::kRdma, 1, all, 1);
  DeviceResult result = Try(requests, devices);
  ASSERT_TRUE(result.ok()) << RefusalOf(result);
  EXPECT_THAT(MinorsOf(result, DeviceType::kGpu), ElementsAre(2, 3));
  EXPECT_THAT(MinorsOf(result, DeviceType::kRdma), ElementsAre(2));
  for (const int32_t minor : {2, 3, 4}) devices.Use(DeviceType::kRdma, minor, all, 1);
  result = Try(requests, devices);
  EXPECT_EQ(RefusalOf(result), "U Insufficient rdma devices");
}

TEST(DeviceAllocator, SecondaryDevicesThatArePlannedWellAreNotLookedAtBeforeReserve) {
  api::Device machine = MachineG8();
  machine.metadata.labels = {{"node.koordinator.sh/secondary-device-well-planned", "true"}};
  NodeDevices devices = DevicesOf(machine);
  DeviceAmounts all;
  all.Set(kRdma, 100);
  for (const int32_t minor : {1, 2, 3, 4}) devices.Use(DeviceType::kRdma, minor, all, 1);
  const DeviceRequests requests = Ask({{"nvidia.com/gpu", "1"}, {"koordinator.sh/rdma", "1"}},
                                      {{kJoint, R"({"deviceTypes":["gpu","rdma"]})"}});
  DeviceTask task{.requests = requests, .devices = devices, .node = kPlain};
  EXPECT_TRUE(AllocateDevices(task).ok());
  task.for_real = true;
  EXPECT_EQ(RefusalOf(AllocateDevices(task)), "U Insufficient rdma devices");
}

TEST(DeviceAllocator, Vector25TakesFromARestrictedReservation) {
  api::Device machine;
  machine.spec.devices = {Card(0, "8Gi"), Card(1, "8Gi")};
  NodeDevices devices = DevicesOf(machine);
  const auto amounts = [](int64_t core, int64_t gib) {
    DeviceAmounts share;
    share.Set(kGpuCore, core);
    share.Set(kGpuMemory, gib << 30);
    return share;
  };
  // As one who draws from it sees the node: without the 50 and 4Gi that it keeps.
  devices.Use(DeviceType::kGpu, 0, amounts(50, 4), 1);
  devices.Use(DeviceType::kGpu, 1, amounts(100, 8), 1);
  DeviceLimits limits;
  DeviceLimits::Of& cards = limits.by_type[static_cast<size_t>(DeviceType::kGpu)];
  cards.preferred = {0};
  cards.required = {{0, amounts(50, 4)}};
  const DeviceRequests requests =
      Ask({{"koordinator.sh/gpu-core", "50"}, {"koordinator.sh/gpu-memory", "4Gi"}});
  DeviceResult result = Try(requests, devices, kPlain, &limits);
  ASSERT_TRUE(result.ok()) << RefusalOf(result);
  ASSERT_THAT(result.grants, ::testing::SizeIs(1));
  ASSERT_TRUE(CompleteGpuShare(devices, result.grants[0]));
  DeviceAmounts expected = amounts(50, 4);
  expected.Set(kGpuMemoryRatio, 50);
  EXPECT_EQ(result.grants[0].minor, 0);
  EXPECT_EQ(result.grants[0].amounts, expected);
  // An owner has 25 and 2Gi of it.
  devices.Use(DeviceType::kGpu, 0, amounts(25, 2), 1);
  cards.required = {{0, amounts(25, 2)}};
  EXPECT_EQ(RefusalOf(Try(requests, devices, kPlain, &limits)), "U Insufficient gpu devices");
}

TEST(DeviceAllocator, SaysWhatANodeDoesNotHave) {
  api::Device machine;
  machine.spec.devices = {Card(0)};
  const NodeDevices devices = DevicesOf(machine);
  EXPECT_EQ(RefusalOf(Try(Ask({{"koordinator.sh/rdma", "1"}}), devices)),
            "UU Insufficient rdma devices");
  EXPECT_EQ(RefusalOf(Try(Cards(1, R"({"gpu":{"requiredTopologyScope":"PCIe"}})"), devices)),
            "UU node(s) missing GPU Device Topology Tree");
  EXPECT_EQ(RefusalOf(Try(Cards(1, R"({"gpu":{"vfSelector":{}}})"), devices)),
            "UU Insufficient gpu VirtualFunctions");
  EXPECT_EQ(RefusalOf(Try(Cards(2), devices)), "U Insufficient gpu devices");
  const NodeDevices placed = DevicesOf(MachineG8());
  EXPECT_EQ(RefusalOf(Try(Ask({{"koordinator.sh/gpu.shared", "2"},
                               {"koordinator.sh/gpu-memory-ratio", "100"}},
                              {{kHint, R"({"gpu":{"requiredTopologyScope":"Node"}})"}}),
                          placed)),
            "UU node(s) Unsupported Multi-Shared GPU");
  EXPECT_EQ(RefusalOf(Try(Cards(1, R"({"gpu":{"requiredTopologyScope":"Device"}})"), placed)),
            "U Insufficient Topology Scoped GPU Devices");
}

TEST(DeviceAllocator, UnhealthyCardsAreNotGiven) {
  api::Device machine = MachineG8();
  for (int i = 0; i < 7; ++i) machine.spec.devices[static_cast<size_t>(i)].health = false;
  const NodeDevices devices = DevicesOf(machine);
  EXPECT_THAT(CardsFor(Cards(1), devices), ElementsAre(7));
  EXPECT_EQ(RefusalOf(Try(Cards(2), devices)), "U Insufficient GPU Devices");
}

TEST(DeviceAllocator, SharesFillOrAvoidCardsThatAreInUse) {
  NodeDevices devices = DevicesOf(MachineG8());
  devices.Use(DeviceType::kGpu, 1, Share(30, 30), 1);
  const DeviceRequests half = Ask({{"koordinator.sh/gpu", "50"}});
  const DeviceScoring most{.most_allocated = true, .weights = {{kGpuMemoryRatio, 1}}};
  const DeviceScoring least{.most_allocated = false, .weights = {{kGpuMemoryRatio, 1}}};
  const auto card = [&](const DeviceScoring& scoring) {
    return MinorsOf(Try(half, devices, kPlain, nullptr, &scoring), DeviceType::kGpu);
  };
  EXPECT_THAT(card(most), ElementsAre(1));
  EXPECT_THAT(card(least), ElementsAre(0)) << "on the switch that is in use, but untouched itself";
}

TEST(DeviceAllocator, EachVirtualFunctionIsGivenOnce) {
  NodeDevices devices = DevicesOf(MachineG8());
  const DeviceRequests requests =
      Ask({{"koordinator.sh/rdma", "1"}}, {{kHint, R"({"rdma":{"vfSelector":{}}})"}});
  std::set<std::string> given;
  for (int i = 0; i < 16; ++i) {
    const DeviceResult result = Try(requests, devices);
    ASSERT_TRUE(result.ok());
    const DeviceGrant& grant = result.grants[0];
    EXPECT_TRUE(given.insert(grant.function->bus_id).second);
    devices.Use(grant.type, grant.minor, grant.amounts, 1);
    devices.UseFunction(grant.type, grant.minor, grant.function->bus_id);
  }
  EXPECT_EQ(RefusalOf(Try(requests, devices)), "U Insufficient rdma devices");
}

TEST(DeviceAllocator, StaysOnItsNumaNodes) {
  NodeDevices devices = DevicesOf(MachineG8());
  DeviceLimits limits;
  limits.numa_nodes = NumaMask{1};
  EXPECT_THAT(MinorsOf(Try(Cards(3), devices, kPlain, &limits), DeviceType::kGpu),
              ElementsAre(4, 5, 6));
  EXPECT_EQ(RefusalOf(Try(Cards(5), devices, kPlain, &limits)), "U Insufficient GPU Devices");
}

TEST(DeviceAllocator, Decision30DevicesWithoutNumaNodeTakePartEverywhere) {
  api::Device machine = MachineG8();
  for (int i = 0; i < 4; ++i) machine.spec.devices[static_cast<size_t>(i)].topology->node_id = -1;
  const NodeDevices devices = DevicesOf(machine);
  DeviceLimits limits;
  limits.numa_nodes = NumaMask{1};
  EXPECT_THAT(MinorsOf(Try(Cards(1), devices, kPlain, &limits), DeviceType::kGpu), ElementsAre(4))
      << "those that have one come first";
  EXPECT_THAT(MinorsOf(Try(Cards(8), devices, kPlain, &limits), DeviceType::kGpu),
              ::testing::SizeIs(8));
}

TEST(DeviceAllocator, AllDevicesOfATypeMayBeAskedFor) {
  const NodeDevices devices = DevicesOf(MachineG8());
  const DeviceRequests requests = Ask({{"koordinator.sh/rdma", "1"}},
                                      {{kHint, R"({"rdma":{"allocateStrategy":"ApplyForAll"}})"}});
  EXPECT_THAT(MinorsOf(Try(requests, devices), DeviceType::kRdma), ElementsAre(1, 2, 3, 4));
  const DeviceRequests none = Ask(
      {{"koordinator.sh/rdma", "1"}},
      {{kHint,
        R"({"rdma":{"allocateStrategy":"ApplyForAll","selector":{"matchLabels":{"type":"no"}}}})"}});
  EXPECT_EQ(RefusalOf(Try(none, devices)), "UU Insufficient rdma devices");
}

TEST(DeviceAllocator, TemplatesAreForTheKindOfCardsThatHasThem) {
  const GpuTemplates templates{
      {"huawei-A",
       {{"small", DeviceAmountsIn(Resources({{"huawei.com/npu-core", "4"},
                                             {"huawei.com/npu-cpu", "4"},
                                             {"koordinator.sh/gpu-memory", "8Gi"}}))}}}};
  const auto requests = DeviceRequestsOf(Resources({{"koordinator.sh/gpu.shared", "1"},
                                                    {"huawei.com/npu-core", "4"},
                                                    {"huawei.com/npu-cpu", "4"},
                                                    {"koordinator.sh/gpu-memory", "8Gi"}}),
                                         {}, {.templated = {kNpuCore}, .templates = &templates});
  ASSERT_TRUE(requests.ok());
  const NodeDevices devices = DevicesOf(MachineG8());
  const GpuNode a{.vendor = "huawei", .model = "A"}, b{.vendor = "huawei", .model = "B"};
  const DeviceResult result = Try(*requests, devices, a);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(*result.grants[0].gpu_template, "small");
  EXPECT_EQ(RefusalOf(Try(*requests, devices, b)), "UU no matched GPU shared resource template");
}

}  // namespace
}  // namespace koord::model::device_allocator_test
