#include "scheduler/plugins/node_volume_limits/node_volume_limits.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler {
namespace {

constexpr int kNodes = 5000;

void FilterRows(benchmark::State& state) {
  PluginBed bed;
  NodeVolumeLimits plugin(bed.context);
  for (int i = 0; i < kNodes; ++i) {
    bed.AddNode(fmt::format("{{metadata: {{name: n{}}}}}", i));
    bed.objects.csi_nodes.Set(FromYaml<kube::CsiNode>(fmt::format(
        "{{metadata: {{name: n{}}}, spec: {{drivers: [{{name: disk, nodeID: n, allocatable: "
        "{{count: 20}}}}]}}}}",
        i)));
  }
  bed.objects.persistent_volume_claims.Set(FromYaml<kube::PersistentVolumeClaim>(
      "{metadata: {name: data, namespace: default}, spec: {volumeName: pv}}"));
  bed.objects.persistent_volumes.Set(FromYaml<kube::PersistentVolume>(
      "{metadata: {name: pv}, spec: {csi: {driver: disk, volumeHandle: h}}}"));
  const auto query = bed.Query(plugin,
                               "{metadata: {name: p}, spec: {containers: [{name: c}], volumes: "
                               "[{name: v, persistentVolumeClaim: {claimName: data}}]}}");
  std::vector<uint8_t> keep(kNodes, 1);
  for (auto _ : state) {
    plugin.Filter(*query, RowRange::First(kNodes), keep.data());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(FilterRows);

}  // namespace
}  // namespace koord::scheduler
