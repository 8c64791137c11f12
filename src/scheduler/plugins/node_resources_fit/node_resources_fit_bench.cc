#include "scheduler/plugins/node_resources_fit/node_resources_fit.h"
#include "scheduler/testing/plugin_bench.h"

namespace koord::scheduler {
namespace {

constexpr std::string_view kPod = R"(
  spec: {containers: [{resources: {requests: {cpu: 100m, memory: 500Mi}}}]})";

void Filter(benchmark::State& state) {
  PluginBench bench;
  NodeResourcesFit plugin(bench.bed.context, {});
  bench.Filter(state, plugin, kPod);
}
BENCHMARK(Filter)->Arg(1)->Arg(kBenchNodes);

void Score(benchmark::State& state) {
  PluginBench bench;
  constexpr std::string_view kTypes[] = {kLeastAllocated, kMostAllocated,
                                         kRequestedToCapacityRatio};
  NodeResourcesFitArgs args;
  args.scoring_strategy = ScoringStrategy{std::string(kTypes[state.range(1)]),
                                          {},
                                          RequestedToCapacityRatio{{{0, 0}, {60, 10}, {100, 4}}}};
  NodeResourcesFit plugin(bench.bed.context, args);
  bench.Score(state, plugin, kPod);
}
BENCHMARK(Score)->ArgsProduct({{1, kBenchNodes}, {0, 1, 2}});

}  // namespace
}  // namespace koord::scheduler
