#include "scheduler/plugins/device_share/device_plugin_adaption.h"

#include <gtest/gtest.h>

#include "model/device/device_testing.h"

namespace koord::scheduler::device_plugin_adaption_test {
namespace {

constexpr WallTime kNow{std::chrono::seconds(1'700'000'000)};

api::DeviceAllocations Cards(const std::vector<int32_t>& minors, std::string_view memory = "1Gi") {
  api::DeviceAllocations allocations;
  for (const int32_t minor : minors) {
    api::DeviceAllocation& card = allocations["gpu"].emplace_back();
    card.minor = minor;
    card.id = "uuid-" + std::to_string(minor);
    card.resources = model::Resources(
        {{"koordinator.sh/gpu-core", "20"}, {"koordinator.sh/gpu-memory", memory}});
  }
  return allocations;
}

StatusOr<DevicePluginNotes> Notes(const api::DeviceAllocations& allocations,
                                  std::string_view vendor, std::string_view model = "") {
  kube::Pod pod;
  pod.metadata.labels = {{"koordinator.sh/gpu-isolation-provider", "HAMi-core"}};
  return NotesForDevicePlugin(pod, "n", allocations, vendor, model, kNow);
}

std::string Annotation(const StatusOr<DevicePluginNotes>& notes, std::string_view key) {
  EXPECT_TRUE(notes.ok()) << notes.status();
  return notes.ok() ? std::string(kube::ValueOf(notes->annotations, key)) : "";
}

TEST(DevicePluginAdaption, AllPodsSayWhenAndWhich) {
  const auto notes = Notes(Cards({0, 1}), "nvidia");
  EXPECT_EQ(Annotation(notes, "scheduling.koordinator.sh/bind-timestamp"), "1700000000000000000");
  EXPECT_EQ(Annotation(notes, "scheduling.koordinator.sh/gpu-minors"), "0,1");
  EXPECT_EQ(kube::ValueOf(notes->labels, "hami.io/vgpu-node"), "n");
  EXPECT_EQ(notes->lock, "");
}

TEST(DevicePluginAdaption, Huawei) {
  EXPECT_EQ(
      Annotation(Notes(Cards({0, 1}), "huawei", "Ascend-310P3-300I-DUO"), "huawei.com/Ascend310P"),
      "Ascend310P-0,Ascend310P-1");
  EXPECT_EQ(Annotation(Notes(Cards({0, 1}), "huawei"), "huawei.com/npu-core"), "0,1");
  EXPECT_EQ(Annotation(Notes(Cards({0}), "huawei"), "predicate-time"), "1700000000000000000");
  api::DeviceAllocations share = Cards({3});
  share["gpu"][0].extension.emplace().gpu_shared_resource_template = "vir04";
  EXPECT_EQ(Annotation(Notes(share, "huawei"), "huawei.com/npu-core"), "3-vir04");
}

TEST(DevicePluginAdaption, Cambricon) {
  const auto notes = Notes(Cards({2}), "cambricon");
  EXPECT_EQ(Annotation(notes, "CAMBRICON_DSMLU_PROFILE"), "2_20_4");
  EXPECT_EQ(Annotation(notes, "CAMBRICON_DSMLU_ASSIGHED"), "false");
  EXPECT_EQ(notes->lock, "cambricon.com/dsmlu.lock");
  EXPECT_EQ(Message(Notes(Cards({0, 1}), "cambricon").status()),
            "failed to adapt for GPU device plugin of vendor \"cambricon\": multiple gpu share is "
            "not supported on device side");
  EXPECT_EQ(Message(Notes(Cards({0}, "255Mi"), "cambricon").status()),
            "failed to adapt for GPU device plugin of vendor \"cambricon\": gpu memory must not be "
            "less than 268435456 bytes");
}

TEST(DevicePluginAdaption, Metax) {
  const auto notes = Notes(Cards({0, 1}), "metax");
  EXPECT_EQ(Annotation(notes, "metax-tech.com/gpu-devices-allocated"),
            R"([[{"uuid":"uuid-0","compute":20,"vRam":1024},)"
            R"({"uuid":"uuid-1","compute":20,"vRam":1024}]])");
  EXPECT_EQ(notes->lock, "hami.io/mutex.lock");
  api::DeviceAllocations whole = Cards({0});
  whole["gpu"][0].resources.erase("koordinator.sh/gpu-core");
  EXPECT_EQ(Message(Notes(whole, "metax").status()),
            "failed to adapt for GPU device plugin of vendor \"metax\": gpu core resource is "
            "required");
}

TEST(NodeLock, IsReadAsItIsWritten) {
  const NodeLock lock{kNow, "default", "p"};
  EXPECT_EQ(ToString(lock), "2023-11-14T22:13:20Z,default,p");
  const auto read = ParseNodeLock(ToString(lock));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->pod, "p");
  EXPECT_EQ(Message(ParseNodeLock("x").status()),
            "failed to lock node: invalid node lock value \"x\"");
}

}  // namespace
}  // namespace koord::scheduler::device_plugin_adaption_test
