#include "scheduler/plugins/node_volume_limits/node_volume_limits.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::node_volume_limits_test {
namespace {

constexpr std::string_view kExceeded = "Unschedulable: node(s) exceed max volume count";

class NodeVolumeLimitsTest : public testing::Test {
 protected:
  void SetUp() override {
    bed_.AddNode("{metadata: {name: n}}");
    bed_.AddNode("{metadata: {name: other}}");
    SetLimit("2");
    for (const char* claim : {"a", "b", "c"}) {
      AddVolume(claim, fmt::format("csi: {{driver: disk, volumeHandle: {}}}", claim));
    }
    AddVolume("local", "capacity: {storage: 1Gi}");
    bed_.objects.storage_classes.Set(
        FromYaml<kube::StorageClass>("{metadata: {name: fast}, provisioner: disk}"));
    SetClaim("unbound", "storageClassName: fast");
  }

  void SetLimit(std::string_view count) {
    bed_.objects.csi_nodes.Set(FromYaml<kube::CsiNode>(
        fmt::format("{{metadata: {{name: n}}, spec: {{drivers: [{{name: other, nodeID: n, "
                    "allocatable: {{count: "
                    "0}}}}, {{name: disk, nodeID: n, allocatable: {{count: {}}}}}]}}}}",
                    count)));
  }
  void SetClaim(std::string_view name, std::string_view spec) {
    bed_.objects.persistent_volume_claims.Set(FromYaml<kube::PersistentVolumeClaim>(
        fmt::format("{{metadata: {{name: {}, namespace: default}}, spec: {{{}}}}}", name, spec)));
  }
  void AddVolume(std::string_view name, std::string_view spec) {
    SetClaim(name, fmt::format("volumeName: pv-{}", name));
    bed_.objects.persistent_volumes.Set(FromYaml<kube::PersistentVolume>(
        fmt::format("{{metadata: {{name: pv-{}}}, spec: {{{}}}}}", name, spec)));
  }
  void Attach(std::string_view volume, std::string_view node) {
    bed_.objects.volume_attachments.Set(FromYaml<kube::VolumeAttachment>(
        fmt::format("{{metadata: {{name: at-{}}}, spec: {{attacher: disk, nodeName: {}, source: "
                    "{{persistentVolumeName: {}}}}}}}",
                    volume, node, volume)));
  }
  static std::string Pod(std::string_view name, std::vector<std::string> claims,
                         std::string_view node = "") {
    std::string volumes;
    for (const std::string& claim : claims) {
      volumes +=
          fmt::format("{{name: {}, persistentVolumeClaim: {{claimName: {}}}}},", claim, claim);
    }
    return fmt::format(
        "{{metadata: {{name: {}}}, spec: {{nodeName: '{}', containers: [{{name: c}}], volumes: "
        "[{}]}}}}",
        name, node, volumes);
  }
  std::string Check(std::vector<std::string> claims, std::string_view node = "n") {
    const auto query = bed_.Query(plugin_, Pod("p", std::move(claims)));
    return bed_.Check(plugin_, *query, node);
  }

  PluginBed bed_;
  NodeVolumeLimits plugin_{bed_.context};
};

TEST_F(NodeVolumeLimitsTest, CountsWhatPodsOfTheNodeUse) {
  EXPECT_EQ(Check({"a", "b"}), "");
  EXPECT_EQ(Check({"a", "b", "c"}), kExceeded);
  EXPECT_EQ(Check({"a", "b", "c"}, "other"), "") << "no CSINode, no limit";
  bed_.AddPod(Pod("first", {"a"}, "n"));
  EXPECT_EQ(Check({"b"}), "");
  EXPECT_EQ(Check({"b", "c"}), kExceeded);
  EXPECT_EQ(Check({"a", "b"}), "") << "a shared volume counts once";
  EXPECT_EQ(Check({"local"}), "") << "not of a driver";
  bed_.AddPod(Pod("second", {"b", "a"}, "n"));
  EXPECT_EQ(Check({"c"}), kExceeded);
  EXPECT_EQ(Check({"a"}), "");
}

TEST_F(NodeVolumeLimitsTest, ClaimsToBeProvisionedCount) {
  EXPECT_EQ(Check({"a", "b", "unbound"}), kExceeded);
  EXPECT_EQ(Check({"a", "unbound"}), "");
}

TEST_F(NodeVolumeLimitsTest, AttachmentsCountUntilTheyAreGone) {
  Attach("pv-a", "n");
  Attach("pv-b", "n");
  EXPECT_EQ(Check({"c"}), kExceeded);
  EXPECT_EQ(Check({"b"}), "");
  const uint64_t position = bed_.ledger.nodes().log_end();
  bed_.objects.volume_attachments.Remove({"", "at-pv-a"});
  EXPECT_NE(bed_.ledger.nodes().log_end(), position);
  EXPECT_EQ(Check({"c"}), "");
}

TEST_F(NodeVolumeLimitsTest, LimitsMayChange) {
  const auto query = bed_.Query(plugin_, Pod("p", {"a", "b", "c"}));
  EXPECT_EQ(bed_.Check(plugin_, *query, "n"), kExceeded);
  SetLimit("3");
  EXPECT_EQ(bed_.Check(plugin_, *query, "n"), "");
  SetLimit("1");
  bed_.objects.csi_nodes.Remove({"", "n"});
  EXPECT_EQ(bed_.Check(plugin_, *query, "n"), "");
}

TEST_F(NodeVolumeLimitsTest, EvictedPodsMakeRoom) {
  bed_.AddPod(Pod("there", {"a", "b"}, "n"));
  const auto query = bed_.Query(plugin_, Pod("p", {"c"}));
  EXPECT_EQ(bed_.Check(plugin_, *query, "n"), kExceeded);
  RowDelta delta;
  delta.removed.push_back(bed_.ledger.Find("there"));
  EXPECT_EQ(bed_.Check(plugin_, *query, "n", &delta), "");
}

TEST_F(NodeVolumeLimitsTest, SkipsPodsWithoutSuchVolumes) {
  for (const auto& claims : {std::vector<std::string>{}, {"local"}, {"unknown"}}) {
    bed_.Query(plugin_, Pod("p", claims));
    EXPECT_EQ(bed_.pre_filter.verdict.code, Code::kSkip);
  }
}

}  // namespace
}  // namespace koord::scheduler::node_volume_limits_test
