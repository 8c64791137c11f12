#include "koordlet/reporters/device_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/virtual_loop.h"
#include "koordlet/host/memory_tree.h"

namespace koord::koordlet::device_report_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

const WallTime kNow = VirtualLoop::kStart;

GpuInventory TwoGpus() {
  GpuDevice gpu{.uuid = "GPU-1",
                .minor = 1,
                .model = "NVIDIA A100 80GB",
                .memory_total = int64_t{80} << 30,
                .numa_node = -1,
                .bus_id = "0000:3b:00.0",
                .pcie_root = "pci0000:3a"};
  GpuDevice other = gpu;
  other.uuid = "GPU-0";
  other.minor = 0;
  other.bus_id = "";
  other.xid = 79;
  return {"550.54", {gpu, other}};
}

TEST(DeviceReport, DescribesGpus) {
  const DeviceReport report = DevicesOfGpus(TwoGpus());
  ASSERT_EQ(report.devices.size(), 2u);
  const api::DeviceInfo& sick = report.devices[0];
  EXPECT_EQ(sick.id, "GPU-0");
  EXPECT_FALSE(sick.health);
  ASSERT_EQ(sick.conditions.size(), 1u);
  EXPECT_EQ(sick.conditions[0].type, "Healthy");
  EXPECT_EQ(sick.conditions[0].status, "False");
  EXPECT_EQ(sick.conditions[0].reason, "Xid79");
  EXPECT_FALSE(sick.topology.has_value()) << "its place on the bus is not known";
  const api::DeviceInfo& well = report.devices[1];
  EXPECT_TRUE(well.health);
  EXPECT_THAT(well.conditions, IsEmpty());
  EXPECT_EQ(well.topology->socket_id, -1);
  EXPECT_EQ(well.topology->node_id, 0);
  EXPECT_EQ(well.topology->pcie_id, "pci0000:3a");
  EXPECT_EQ(kube::AmountOf(well.resources, "koordinator.sh/gpu-memory").ToString(), "80Gi");
  EXPECT_EQ(kube::AmountOf(well.resources, "koordinator.sh/gpu-core").Value(), 100);
  EXPECT_THAT(report.labels,
              UnorderedElementsAre(Pair("node.koordinator.sh/gpu-vendor", "nvidia"),
                                   Pair("node.koordinator.sh/gpu-model", "A100-80GB"),
                                   Pair("node.koordinator.sh/gpu-driver-version", "550.54")));
}

TEST(DeviceReport, MixedModelsHaveNoName) {
  GpuInventory inventory = TwoGpus();
  inventory.gpus[0].model = "NVIDIA H100";
  EXPECT_EQ(DevicesOfGpus(inventory).labels["node.koordinator.sh/gpu-model"], "");
}

TEST(DeviceReport, ReadsFilesOfVendors) {
  MemoryTree files;
  files.Set("xpu/a.json", R"([{"vendor":"huawei","model":"Ascend 910","uuid":"x1","minor":1,
      "resources":{"koordinator.sh/gpu-core":"100"},
      "topology":{"socketID":0,"nodeID":1,"pcieID":"pci0000:00","busID":"0000:01:00.0",
                  "mustHonorPartition":true,"p2pLinks":[{"peerMinor":"0","type":"HCCS"}]},
      "status":{"healthy":false,"errCode":"E7","errMessage":"broken"}}])");
  files.Set("xpu/b.json", R"([{"vendor":"huawei","model":"Ascend 910","uuid":"x0","minor":0}])");
  files.Set("xpu/bad.json", "[{");
  const DeviceReport report = ReadXpuFiles(files, "xpu");
  ASSERT_EQ(report.devices.size(), 2u);
  EXPECT_EQ(report.devices[0].id, "x0");
  EXPECT_TRUE(report.devices[0].health);
  EXPECT_THAT(report.devices[0].conditions, IsEmpty());
  EXPECT_EQ(report.devices[1].conditions[0].reason, "E7");
  EXPECT_EQ(report.devices[1].topology->node_id, 1);
  EXPECT_EQ(report.labels.find("node.koordinator.sh/gpu-vendor")->second, "huawei");
  EXPECT_EQ(report.labels.find("node.koordinator.sh/gpu-model")->second, "Ascend-910");
  EXPECT_EQ(report.labels.find("node.koordinator.sh/gpu-partition-policy")->second, "Honor");
  EXPECT_THAT(ReadXpuFiles(files, "nowhere").devices, IsEmpty());
}

TEST(DeviceReport, LinkedDevicesArePartitions) {
  MemoryTree files;
  const auto device = [](int minor, const std::string& links) {
    return fmt::format(R"({{"vendor":"huawei","model":"m","uuid":"x{0}","minor":"{0}",
        "topology":{{"nodeID":"{0}","p2pLinks":[{1}]}}}})",
                       minor, links);
  };
  files.Set(
      "a.json",
      "[" + device(0, R"({"peerMinor":"1,2,3","type":"HCCS"},{"peerMinor":"1","type":"HCCS"})") +
          "," + device(1, R"({"peerMinor":"3,2,0","type":"HCCS"})") + "]");
  files.Set("b.json", "[" + device(4, R"({"peerMinor":"5,6,7,7,g","type":"HCCS"},
                                       {"peerMinor":"","type":"HCCS"},{"peerMinor":"5"})") +
                          "]");
  files.Set("bad.json", R"([{"vendor":"huawei","uuid":"y","minor":"one"}])");
  const DeviceReport report = ReadXpuFiles(files, "");
  ASSERT_EQ(report.devices.size(), 3u) << "without the one whose minor is no number";
  EXPECT_EQ(report.devices[2].minor, 4);
  EXPECT_EQ(report.devices[2].topology->node_id, 4);
  EXPECT_EQ(report.labels.find("node.koordinator.sh/gpu-partition-policy")->second, "Prefer");

  kube::Node node;
  node.metadata.name = "n";
  const auto object = *kube::Decode<api::Device>(NewDeviceObject(report, node, WallTime()));
  EXPECT_EQ(kube::ValueOf(object.metadata.annotations, "scheduling.koordinator.sh/gpu-partitions"),
            R"({"2":[{"minors":[0,1],"gpuLinkType":"HCCS","allocationScore":1}],)"
            R"("4":[{"minors":[0,1,2,3],"gpuLinkType":"HCCS","allocationScore":1},)"
            R"({"minors":[4,5,6,7],"gpuLinkType":"HCCS","allocationScore":1}]})");
  EXPECT_TRUE(DevicePatch(report, object, WallTime()).is_null());

  DeviceReport without_links = report;
  without_links.partitions.clear();
  const kube::Json patch = DevicePatch(without_links, object, WallTime());
  EXPECT_TRUE(
      kube::Find(patch, {"metadata", "annotations", "scheduling.koordinator.sh/gpu-partitions"})
          ->is_null());
}

TEST(DeviceReport, FindsRdmaCards) {
  MemoryTree sys;
  const auto add = [&](const std::string& bus_id, const std::string& pci_class,
                       const std::string& card, const std::string& state) {
    const std::string dir = "bus/pci/devices/" + bus_id;
    sys.Set(dir + "/class", pci_class + "\n");
    sys.Set(dir + "/numa_node", "1\n");
    if (card.empty()) return;
    sys.Set(dir + "/infiniband/" + card + "/ports/1/state", state + "\n");
  };
  add("0000:01:00.0", "0x020000", "mlx5_10", "4: ACTIVE");
  add("0000:02:00.0", "0x020700", "mlx5_2", "1: DOWN");
  add("0000:03:00.0", "0x030000", "mlx5_0", "4: ACTIVE");  // no network card
  add("0000:04:00.0", "0x020000", "", "");                 // no RDMA
  add("0000:05:00.0", "0x020000", "mlx5_1", "4: ACTIVE");  // a part of another
  sys.Set("bus/pci/devices/0000:05:00.0/physfn/class", "0x020000");
  const auto cards = ReadRdmaDevices(sys);
  ASSERT_EQ(cards.size(), 2u);
  EXPECT_EQ(cards[0].id, "0000:02:00.0") << "mlx5_2 comes before mlx5_10";
  EXPECT_EQ(cards[0].minor, 0);
  EXPECT_FALSE(cards[0].health);
  EXPECT_EQ(cards[1].id, "0000:01:00.0");
  EXPECT_TRUE(cards[1].health);
  EXPECT_EQ(cards[1].topology->node_id, 1);
  EXPECT_EQ(kube::AmountOf(cards[1].resources, "koordinator.sh/rdma").Value(), 100);
}

TEST(DevicePatch, KeepsTheTimeOfAConditionAndSendsOnlyChanges) {
  kube::Node node;
  node.metadata.name = "n";
  const DeviceReport report = DevicesOfGpus(TwoGpus());
  auto stored = *kube::Decode<api::Device>(NewDeviceObject(report, node, kNow));
  stored.metadata.resource_version = "3";
  EXPECT_TRUE(DevicePatch(report, stored, kNow + 1h).is_null()) << "nothing has changed";
  GpuInventory healed = TwoGpus();
  healed.gpus[1].xid.reset();
  const kube::Json patch = DevicePatch(DevicesOfGpus(healed), stored, kNow + 1h);
  EXPECT_EQ(kube::FindArray(patch, {"spec", "devices"})->size(), 2u);
  EXPECT_EQ(kube::Find(patch, {"metadata", "labels"}), nullptr);
  EXPECT_EQ(kube::FindString(patch, {"metadata", "resourceVersion"}), "3");
  DeviceReport none;
  const kube::Json gone = DevicePatch(none, stored, kNow);
  EXPECT_TRUE(
      kube::Find(gone, {"metadata", "labels", "node.koordinator.sh/gpu-vendor"})->is_null());
}

}  // namespace
}  // namespace koord::koordlet::device_report_test
