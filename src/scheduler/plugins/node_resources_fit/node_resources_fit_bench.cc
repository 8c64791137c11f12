#include <benchmark/benchmark.h>

#include "scheduler/plugins/node_resources_fit/node_resources_fit.h"
#include "scheduler/testing/random_cluster.h"

namespace koord::scheduler {
namespace {

constexpr std::string_view kPod = R"(
  spec: {containers: [{resources: {requests: {cpu: 100m, memory: 500Mi}}}]})";

struct Bench {
  explicit Bench(NodeResourcesFitArgs args = {}) : plugin(bed.context, args) {
    Random random(1);
    FillCluster(bed, random, 5000, 2);
    query = bed.Query(plugin, kPod);
  }

  PluginBed bed;
  NodeResourcesFit plugin;
  std::unique_ptr<PodQuery> query;
  std::vector<uint8_t> keep = std::vector<uint8_t>(5000, 1);
  std::vector<int64_t> scores = std::vector<int64_t>(5000);
};

void Filter(benchmark::State& state) {
  Bench bench;
  for (auto _ : state) {
    bench.plugin.Filter(*bench.query, {0, static_cast<NodeRow>(state.range(0))}, bench.keep.data());
    benchmark::DoNotOptimize(bench.keep.data());
  }
}
BENCHMARK(Filter)->Arg(1)->Arg(5000);

void Score(benchmark::State& state) {
  Bench bench({.strategy = static_cast<NodeResourcesFitArgs::Strategy>(state.range(1)),
               .shape = {{0, 0}, {60, 10}, {100, 4}}});
  for (auto _ : state) {
    bench.plugin.Score(*bench.query, {0, static_cast<NodeRow>(state.range(0))},
                       bench.scores.data());
    benchmark::DoNotOptimize(bench.scores.data());
  }
}
BENCHMARK(Score)->ArgsProduct({{1, 5000}, {0, 1, 2}});

}  // namespace
}  // namespace koord::scheduler
