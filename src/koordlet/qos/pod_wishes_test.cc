// What pods ask for of memory and disks, and what becomes of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "koordlet/qos/qos_testing.h"

namespace koord::koordlet::pod_wishes_test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(PodWishesTest, AllTogetherProtectNoMoreMemoryThanTheNodeHas) {
  QosRig rig({.memory = int64_t{8} << 30});
  for (const char* name : {"a", "b", "c"}) {
    rig.AddPod(std::string("metadata: {name: ") + name +
               ", labels: {koordinator.sh/qosClass: LS}}\n"
               "spec: {containers: [{name: c, resources: {requests: {memory: 6Gi}}}]}");
  }
  api::NodeSloSpec slo = QuietSlo();
  slo.resource_qos_strategy->ls_class->memory_qos->min_limit_percent = 100;
  rig.SetSlo(slo);
  QosManager manager(rig.loop, rig.Context());
  rig.loop.Advance(1s);
  manager.RunOnce();
  EXPECT_EQ(rig.Get(CgroupFile::kMemoryMin, rig.QosDir(kube::PodQos::kGuaranteed)),
            std::to_string(int64_t{8} << 30));
}

TEST(PodWishesTest, TheKubeletsOwnGroupingOfOomKillsIsLeftAlone) {
  const struct {
    const char* kubelet;
    CgroupVersion version;
    const char* expected;
  } cases[] = {{"v1.27.9", CgroupVersion::kV2, "0"},
               {"v1.28.0", CgroupVersion::kV2, "1"},
               {"v1.35.4-rc.1", CgroupVersion::kV2, "1"},
               {"nonsense", CgroupVersion::kV2, "0"},
               {"v1.35.4", CgroupVersion::kV1, "0"}};
  for (const auto& each : cases) {
    QosRig rig({.version = each.version, .anolis = true});
    auto node = std::make_shared<kube::Node>(*rig.state.node());
    node->status.node_info.emplace().kubelet_version = each.kubelet;
    rig.state.SetNode(node);
    const kube::Pod& pod = rig.AddPod(
        "metadata: {name: p, labels: {koordinator.sh/qosClass: LS}}\n"
        "spec: {containers: [{name: c}]}");
    const CgroupDir dir = rig.machine.ContainerDir(pod, "c");
    rig.machine.Set(CgroupFile::kMemoryOomGroup, dir, "1");
    rig.SetSlo(QuietSlo());
    QosManager manager(rig.loop, rig.Context());
    rig.loop.Advance(1s);
    manager.RunOnce();
    EXPECT_EQ(rig.Get(CgroupFile::kMemoryOomGroup, dir), each.expected) << each.kubelet;
  }
}

class PodDiskTest : public testing::Test {
 protected:
  PodDiskTest() {
    StorageInfo storage;
    storage.disk_of_device["/dev/vdb"] = "253:16";
    storage.device_of_mount["/var/lib/kubelet/pods/be/volumes/kubernetes.io~csi/pv-1/mount"] =
        "/dev/vdb";
    rig_.info.SetStorage(std::move(storage));
    api::NodeSloSpec slo = QuietSlo();
    auto& disks = *slo.resource_qos_strategy->be_class->blkio_qos;
    disks.enable = true;
    api::BlockConfig& block = disks.blocks.emplace_back();
    block.name = "/dev/vdb";
    block.type = "device";
    block.io_config.read_iops = 1000;
    block.io_config.io_weight_percent = 50;
    rig_.SetSlo(slo);
  }
  std::string Limits(CgroupFile file, const std::string& blocks, bool trust = false) {
    kube::Pod pod = *TestPod(
        "metadata: {name: be, labels: {koordinator.sh/qosClass: BE}}\n"
        "spec: {containers: [{name: c}], volumes: [{name: data, persistentVolumeClaim: "
        "{claimName: claim}}]}");
    pod.metadata.annotations["koordinator.sh/blkioQOS"] = R"({"blocks":[)" + blocks + "]}";
    rig_.pods.clear();
    const kube::Pod& added = rig_.AddPod(std::make_shared<const kube::Pod>(pod));
    QosContext context = rig_.Context();
    context.trust_pod_authors = trust;
    context.volume_of_claim = [](std::string_view ns, std::string_view claim) {
      return ns == "default" && claim == "claim" ? std::string("pv-1") : std::string();
    };
    QosManager manager(rig_.loop, context);
    rig_.loop.Advance(61s);
    manager.RunOnce();
    return rig_.Get(file, rig_.machine.PodDir(added));
  }

  QosRig rig_{{.version = CgroupVersion::kV1, .anolis = true}};
};

TEST_F(PodDiskTest, ABestEffortPodHasNoMoreThanItsClass) {
  const std::string greedy =
      R"({"name":"/dev/vdb","type":"device","ioCfg":{"readIOPS":9000,"ioWeightPercent":100}})";
  EXPECT_EQ(Limits(CgroupFile::kBlkioReadIops, greedy), "253:16 1000");
  EXPECT_THAT(Limits(CgroupFile::kBlkioCostWeight, greedy), HasSubstr("253:16 50"));
  const std::string modest =
      R"({"name":"/dev/vdb","type":"device","ioCfg":{"readIOPS":10,"ioWeightPercent":5}})";
  EXPECT_EQ(Limits(CgroupFile::kBlkioReadIops, modest), "253:16 10");
  EXPECT_EQ(Limits(CgroupFile::kBlkioReadIops, greedy, true), "253:16 9000") << "as upstream";
}

TEST_F(PodDiskTest, AVolumeIsFoundByItsClaim) {
  EXPECT_EQ(Limits(CgroupFile::kBlkioReadIops,
                   R"({"name":"data","type":"podvolume","ioCfg":{"readIOPS":70}})"),
            "253:16 70");
}

TEST(ResctrlMountTest, IsTriedOnceWhereNobodyHasDoneIt) {
  QosRig rig({.resctrl = ResctrlFlavour::kIntel});
  rig.machine.resctrl().Remove("info");
  rig.AddPod("metadata: {name: p}\nspec: {containers: [{name: c}]}");
  rig.SetSlo(QuietSlo());
  QosManager manager(rig.loop, rig.Context());
  for (int i = 0; i < 3; ++i) {
    rig.loop.Advance(61s);
    manager.RunOnce();
  }
  EXPECT_EQ(rig.machine.kernel().resctrl_mounts, 1);
}

}  // namespace
}  // namespace koord::koordlet::pod_wishes_test
