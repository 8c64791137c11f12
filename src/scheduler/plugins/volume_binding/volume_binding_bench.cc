#include "scheduler/plugins/volume_binding/volume_binding.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler {
namespace {

constexpr int kNodes = 5000;

struct Bench {
  explicit Bench(int volumes) {
    for (int i = 0; i < kNodes; ++i) {
      bed.AddNode(fmt::format("{{metadata: {{name: n{}, labels: {{zone: z{}, host: n{}}}}}}}", i,
                              i % 3, i));
    }
    bed.objects.storage_classes.Set(FromYaml<kube::StorageClass>(
        "{metadata: {name: local}, provisioner: kubernetes.io/no-provisioner, volumeBindingMode: "
        "WaitForFirstConsumer}"));
    for (int i = 0; i < volumes; ++i)
      AddVolume(fmt::format("local-{}", i), "host", fmt::format("n{}", i));
    AddVolume("zonal", "zone", "z1");
    AddClaim("bound", "volumeName: zonal", "Bound");
    AddClaim("waiting", "storageClassName: local", "Pending");
  }
  void AddVolume(std::string_view name, std::string_view key, std::string_view value) {
    bed.objects.persistent_volumes.Set(FromYaml<kube::PersistentVolume>(fmt::format(
        "{{metadata: {{name: {}}}, spec: {{capacity: {{storage: 10Gi}}, storageClassName: local, "
        "nodeAffinity: {{required: {{nodeSelectorTerms: [{{matchExpressions: [{{key: {}, operator: "
        "In, values: [{}]}}]}}]}}}}}}, status: {{phase: Available}}}}",
        name, key, value)));
  }
  void AddClaim(std::string_view name, std::string_view spec, std::string_view phase) {
    bed.objects.persistent_volume_claims.Set(FromYaml<kube::PersistentVolumeClaim>(
        fmt::format("{{metadata: {{name: {}, namespace: default}}, spec: {{{}}}, status: {{phase: "
                    "{}}}}}",
                    name, spec, phase)));
  }
  std::unique_ptr<PodQuery> Query(std::string_view claim) {
    return bed.Query(
        plugin, fmt::format("{{metadata: {{name: p}}, spec: {{containers: [{{name: c}}], volumes: "
                            "[{{name: v, persistentVolumeClaim: {{claimName: {}}}}}]}}}}",
                            claim));
  }

  PluginBed bed;
  VolumeBinding plugin{bed.context, {}};
};

void Run(benchmark::State& state, Bench& bench, std::string_view claim) {
  const auto query = bench.Query(claim);
  std::vector<uint8_t> keep(kNodes);
  for (auto _ : state) {
    query->SetState(0, bench.plugin.Compile(query->shape()));
    std::fill(keep.begin(), keep.end(), 1);
    bench.plugin.Filter(*query, RowRange::First(kNodes), keep.data());
    benchmark::ClobberMemory();
  }
}

void BoundToAZone(benchmark::State& state) {
  Bench bench(0);
  Run(state, bench, "bound");
}
BENCHMARK(BoundToAZone);

void OneOfManyLocalVolumes(benchmark::State& state) {
  Bench bench(static_cast<int>(state.range(0)));
  Run(state, bench, "waiting");
}
BENCHMARK(OneOfManyLocalVolumes)->Arg(50)->Arg(1000);

}  // namespace
}  // namespace koord::scheduler
