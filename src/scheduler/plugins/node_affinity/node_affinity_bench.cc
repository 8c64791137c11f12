#include "scheduler/plugins/node_affinity/node_affinity.h"
#include "scheduler/testing/plugin_bench.h"

namespace koord::scheduler {
namespace {

constexpr std::string_view kTwoZones = R"(
  spec:
    affinity:
      nodeAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms:
          - matchExpressions: [{key: zone, operator: In, values: [zone-a, zone-b]}]
        preferredDuringSchedulingIgnoredDuringExecution:
        - {weight: 3, preference: {matchExpressions: [{key: zone, operator: In, values: [zone-a]}]}}
        - {weight: 1, preference: {matchExpressions: [{key: disk, operator: Exists}]}})";

void FilterBySelector(benchmark::State& state) {
  PluginBench bench;
  NodeAffinity plugin(bench.bed.context, {});
  bench.Filter(state, plugin, "spec: {nodeSelector: {zone: zone-a}}");
}
BENCHMARK(FilterBySelector)->Arg(1)->Arg(kBenchNodes);

void FilterByAffinity(benchmark::State& state) {
  PluginBench bench;
  NodeAffinity plugin(bench.bed.context, {});
  bench.Filter(state, plugin, kTwoZones);
}
BENCHMARK(FilterByAffinity)->Arg(1)->Arg(kBenchNodes);

void Score(benchmark::State& state) {
  PluginBench bench;
  NodeAffinity plugin(bench.bed.context, {});
  bench.Score(state, plugin, kTwoZones);
}
BENCHMARK(Score)->Arg(1)->Arg(kBenchNodes);

}  // namespace
}  // namespace koord::scheduler
