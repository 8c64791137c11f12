#include "scheduler/plugins/volume_zone/volume_zone.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::volume_zone_test {
namespace {

constexpr std::string_view kPod = R"(
metadata: {name: p}
spec: {containers: [{name: c}], volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]}
)";
constexpr std::string_view kReason =
    "UnschedulableAndUnresolvable: node(s) had no available volume zone";

void SetVolume(PluginBed& bed, std::string_view labels) {
  bed.objects.persistent_volume_claims.Set(FromYaml<kube::PersistentVolumeClaim>(R"(
metadata: {name: data, namespace: default}
spec: {volumeName: pv}
status: {phase: Bound}
)"));
  bed.objects.persistent_volumes.Set(FromYaml<kube::PersistentVolume>(
      fmt::format("{{metadata: {{name: pv, labels: {{{}}}}}}}", labels)));
}

TEST(VolumeZone, VolumesStayInTheirZone) {
  struct Case {
    std::string_view volume, node;
    bool fits;
  };
  const Case cases[] = {
      {"topology.kubernetes.io/zone: a", "topology.kubernetes.io/zone: a", true},
      {"topology.kubernetes.io/zone: a", "topology.kubernetes.io/zone: b", false},
      {"topology.kubernetes.io/zone: a__b", "topology.kubernetes.io/zone: b", true},
      {"topology.kubernetes.io/zone: a__b", "topology.kubernetes.io/zone: a__b", false},
      {"topology.kubernetes.io/zone: a", "", true},
      {"topology.kubernetes.io/zone: a", "topology.kubernetes.io/region: r", false},
      {"topology.kubernetes.io/zone: a, topology.kubernetes.io/region: r",
       "topology.kubernetes.io/zone: a, topology.kubernetes.io/region: s", false},
      {"failure-domain.beta.kubernetes.io/zone: a", "topology.kubernetes.io/zone: a", true},
      {"failure-domain.beta.kubernetes.io/zone: a", "topology.kubernetes.io/zone: b", false},
      {"failure-domain.beta.kubernetes.io/zone: a", "failure-domain.beta.kubernetes.io/zone: a",
       true},
      {"topology.kubernetes.io/zone: a", "failure-domain.beta.kubernetes.io/zone: a", false},
  };
  for (const Case& test : cases) {
    PluginBed bed;
    VolumeZone plugin(bed.context);
    SetVolume(bed, test.volume);
    bed.AddNode(fmt::format("{{metadata: {{name: n, labels: {{{}}}}}}}", test.node));
    const auto query = bed.Query(plugin, kPod);
    EXPECT_EQ(bed.Check(plugin, *query, "n"), test.fits ? "" : kReason)
        << test.volume << " on " << test.node;
  }
}

TEST(VolumeZone, ZonesThatAppearLater) {
  PluginBed bed;
  VolumeZone plugin(bed.context);
  SetVolume(bed, "topology.kubernetes.io/zone: c");
  const auto query = bed.Query(plugin, kPod);
  bed.AddNode("{metadata: {name: b, labels: {topology.kubernetes.io/zone: b}}}");
  EXPECT_EQ(bed.Check(plugin, *query, "b"), kReason);
  bed.AddNode("{metadata: {name: c, labels: {topology.kubernetes.io/zone: c}}}");
  EXPECT_EQ(bed.Check(plugin, *query, "c"), "");
}

TEST(VolumeZone, SkipsPodsWithoutZonalVolumes) {
  PluginBed bed;
  VolumeZone plugin(bed.context);
  bed.Query(plugin, "{metadata: {name: p}, spec: {containers: [{name: c}]}}");
  EXPECT_EQ(bed.pre_filter.verdict.code, Code::kSkip);
  SetVolume(bed, "other: label");
  const auto query = bed.Query(plugin, kPod);
  EXPECT_EQ(bed.pre_filter.verdict.code, Code::kSkip);
  const uint64_t version = plugin.VersionFor(query->shape());
  SetVolume(bed, "topology.kubernetes.io/zone: a");
  EXPECT_NE(plugin.VersionFor(query->shape()), version) << "must be asked again";
}

}  // namespace
}  // namespace koord::scheduler::volume_zone_test
