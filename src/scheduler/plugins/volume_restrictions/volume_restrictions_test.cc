#include "scheduler/plugins/volume_restrictions/volume_restrictions.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::volume_restrictions_test {
namespace {

constexpr std::string_view kNoDisk = "Unschedulable: node(s) had no available disk";
constexpr std::string_view kInUse =
    "Unschedulable: node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access "
    "mode already in-use by another pod";

std::string Pod(std::string_view name, std::string_view volume, std::string_view node = "") {
  return fmt::format(R"(
metadata: {{name: {}}}
spec: {{nodeName: "{}", containers: [{{name: c}}], volumes: [{{name: v, {}}}]}}
)",
                     name, node, volume);
}

TEST(VolumeRestrictions, DisksAreAttachedOnce) {
  struct Case {
    std::string_view there, wanted;
    bool fits;
  };
  const Case cases[] = {
      {"gcePersistentDisk: {pdName: a}", "gcePersistentDisk: {pdName: a}", false},
      {"gcePersistentDisk: {pdName: a}", "gcePersistentDisk: {pdName: b}", true},
      {"gcePersistentDisk: {pdName: a, readOnly: true}",
       "gcePersistentDisk: {pdName: a, readOnly: true}", true},
      {"gcePersistentDisk: {pdName: a, readOnly: true}", "gcePersistentDisk: {pdName: a}", false},
      {"awsElasticBlockStore: {volumeID: a, readOnly: true}",
       "awsElasticBlockStore: {volumeID: a, readOnly: true}", false},
      {"awsElasticBlockStore: {volumeID: a}", "gcePersistentDisk: {pdName: a}", true},
      {"iscsi: {iqn: i, lun: 1}", "iscsi: {iqn: i, lun: 2}", false},
      {"iscsi: {iqn: i, readOnly: true}", "iscsi: {iqn: i, readOnly: true}", true},
      {"rbd: {monitors: [a, b], image: i, pool: p}", "rbd: {monitors: [b, c], image: i, pool: p}",
       false},
      {"rbd: {monitors: [a, b], image: i, pool: p}", "rbd: {monitors: [c], image: i, pool: p}",
       true},
      {"rbd: {monitors: [a], image: i, pool: p}", "rbd: {monitors: [a], image: i, pool: q}", true},
      {"rbd: {monitors: [a], image: i, pool: p, readOnly: true}",
       "rbd: {monitors: [a], image: i, pool: p, readOnly: true}", true},
      {"emptyDir: {}", "gcePersistentDisk: {pdName: a}", true},
  };
  for (const Case& test : cases) {
    PluginBed bed;
    VolumeRestrictions plugin(bed.context);
    bed.AddNode("{metadata: {name: n}}");
    bed.AddNode("{metadata: {name: other}}");
    bed.AddPod(Pod("there", test.there, "n"));
    const auto query = bed.Query(plugin, Pod("p", test.wanted));
    EXPECT_EQ(bed.Check(plugin, *query, "n"), test.fits ? "" : kNoDisk)
        << test.there << " and " << test.wanted;
    EXPECT_EQ(bed.Check(plugin, *query, "other"), "");
    EXPECT_TRUE(bed.ledger.RemovePod("there"));
    EXPECT_EQ(bed.Check(plugin, *query, "n"), "");
  }
}

class ExclusiveClaim : public testing::Test {
 protected:
  void SetUp() override {
    bed_.objects.persistent_volume_claims.Set(FromYaml<kube::PersistentVolumeClaim>(R"(
metadata: {name: data, namespace: default}
spec: {accessModes: [ReadWriteOncePod]}
)"));
    bed_.AddNode("{metadata: {name: a}}");
    bed_.AddNode("{metadata: {name: b}}");
  }

  PluginBed bed_;
  VolumeRestrictions plugin_{bed_.context};
  const std::string volume_ = "persistentVolumeClaim: {claimName: data}";
};

TEST_F(ExclusiveClaim, BelongsToOnePodOfTheCluster) {
  const auto query = bed_.Query(plugin_, Pod("p", volume_));
  EXPECT_EQ(bed_.Check(plugin_, *query, "b"), "");
  const uint64_t free = plugin_.WideVersion(*query);
  bed_.AddPod(Pod("owner", volume_, "a"));
  EXPECT_NE(plugin_.WideVersion(*query), free);
  EXPECT_EQ(bed_.Check(plugin_, *query, "a"), kInUse);
  EXPECT_EQ(bed_.Check(plugin_, *query, "b"), kInUse);
  EXPECT_TRUE(bed_.ledger.RemovePod("owner"));
  EXPECT_EQ(bed_.Check(plugin_, *query, "b"), "");
}

TEST_F(ExclusiveClaim, IsFreeWhereItsOwnerWouldBeEvicted) {
  bed_.AddPod(Pod("owner", volume_, "a"));
  const auto query = bed_.Query(plugin_, Pod("p", volume_));
  RowDelta evicted;
  evicted.removed.push_back(bed_.ledger.Find("owner"));
  EXPECT_EQ(bed_.Check(plugin_, *query, "a", &evicted), "");
  RowDelta other;
  EXPECT_EQ(bed_.Check(plugin_, *query, "b", &other), kInUse);
}

TEST_F(ExclusiveClaim, OtherPodsAreSkipped) {
  for (const std::string_view volume :
       {"emptyDir: {}", "persistentVolumeClaim: {claimName: another}"}) {
    const auto query = bed_.Query(plugin_, Pod("p", volume));
    EXPECT_EQ(bed_.pre_filter.verdict.code, Code::kSkip) << volume;
    EXPECT_EQ(plugin_.WideVersion(*query), 0u);
  }
}

}  // namespace
}  // namespace koord::scheduler::volume_restrictions_test
