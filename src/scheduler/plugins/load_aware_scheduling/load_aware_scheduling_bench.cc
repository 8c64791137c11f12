#include "scheduler/plugins/load_aware_scheduling/load_aware_scheduling.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "kube/time.h"
#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler {
namespace {

constexpr int kNodes = 5000;
constexpr int kBusyNodes = 200;  // with pods
constexpr int kPodsPerNode = 30;

struct Bench {
  explicit Bench(int nodes = kNodes, int pods_per_node = 0) {
    LoadAwareSchedulingArgs args;
    args.SetDefaults();
    plugin = std::make_unique<LoadAwareScheduling>(bed.context, args);
    for (int i = 0; i < nodes; ++i) {
      bed.AddNode(fmt::format(
          "{{metadata: {{name: n{}}}, status: {{allocatable: {{cpu: 32, memory: 128Gi}}}}}}", i));
      for (int p = 0; p < pods_per_node; ++p) {
        bed.AddPod(fmt::format(
            "{{metadata: {{name: some-deployment-5d5d8c9f4-p{}-{}}}, spec: {{nodeName: n{}, "
            "containers: [{{name: c, resources: {{requests: {{cpu: 1, memory: 1Gi}}}}}}]}}}}",
            i, p, i));
      }
      metrics.push_back(Metric(i, pods_per_node));
      bed.objects.node_metrics.Set(metrics.back());
    }
    query = bed.Query(*plugin,
                      "{metadata: {name: p}, spec: {containers: [{name: c, resources: {requests: "
                      "{cpu: 2, memory: 4Gi}}}]}}");
  }

  std::shared_ptr<const api::NodeMetric> Metric(int i, int pods) {
    std::string usages;
    for (int p = 0; p < pods; ++p) {
      usages += fmt::format(
          "{}{{name: some-deployment-5d5d8c9f4-p{}-{}, namespace: default, priority: koord-prod, "
          "podUsage: {{resources: {{cpu: 523m, memory: 734003200}}}}}}",
          p == 0 ? "" : ", ", i, p);
    }
    return FromYaml<api::NodeMetric>(fmt::format(
        "{{metadata: {{name: n{}}}, status: {{updateTime: '{}', nodeMetric: {{nodeUsage: "
        "{{resources: {{cpu: {}m, memory: {}Mi}}}}}}, podsMetric: [{}]}}}}",
        i, kube::FormatTime(bed.loop.clock().Now()), 5000 + i * 3 % 20'000, 1000 + i * 7 % 90'000,
        usages));
  }

  PluginBed bed;
  std::unique_ptr<LoadAwareScheduling> plugin;
  std::vector<std::shared_ptr<const api::NodeMetric>> metrics;
  std::unique_ptr<PodQuery> query;
};

void FilterRows(benchmark::State& state) {
  Bench bench;
  const RowRange rows = RowRange::First(static_cast<size_t>(state.range(0)));
  std::vector<uint8_t> keep(kNodes, 1);
  for (auto _ : state) {
    bench.plugin->Filter(*bench.query, rows, keep.data());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(FilterRows)->Arg(1)->Arg(kNodes);

void ScoreRowsOf(benchmark::State& state) {
  Bench bench;
  const RowRange rows = RowRange::First(static_cast<size_t>(state.range(0)));
  std::vector<int64_t> scores(kNodes);
  for (auto _ : state) {
    bench.plugin->Score(*bench.query, rows, scores.data());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(ScoreRowsOf)->Arg(1)->Arg(kNodes);

void CompileShape(benchmark::State& state) {
  Bench bench;
  for (auto _ : state) benchmark::DoNotOptimize(bench.plugin->Compile(bench.query->shape()));
}
BENCHMARK(CompileShape);

// A pod is assumed and taken back.
void BookPod(benchmark::State& state) {
  Bench bench(kBusyNodes, kPodsPerNode);
  PodInfo info;
  info.pod = PodOf("{metadata: {name: one-more}, spec: {containers: [{name: c}]}}");
  info.shape = bench.query->shared_shape();
  info.place = kPodsPerNode;
  NodeRow row{0};
  for (auto _ : state) {
    info.row = row = NodeRow((row + 97) % kBusyNodes);
    bench.plugin->OnPodAdded(info);
    bench.plugin->OnPodRemoved(info);
  }
}
BENCHMARK(BookPod);

void UpdateMetric(benchmark::State& state) {
  Bench bench(kBusyNodes, kPodsPerNode);
  NodeRow row{0};
  for (auto _ : state) {
    row = NodeRow((row + 97) % kBusyNodes);
    bench.bed.objects.node_metrics.Set(bench.metrics[row]);
  }
}
BENCHMARK(UpdateMetric);

void CycleWithNothingDue(benchmark::State& state) {
  Bench bench;
  for (auto _ : state) bench.plugin->BeforeCycle(bench.bed.loop.clock().Now());
}
BENCHMARK(CycleWithNothingDue);

}  // namespace
}  // namespace koord::scheduler
