#include "scheduler/plugins/node_resources_balanced_allocation/node_resources_balanced_allocation.h"
#include "scheduler/testing/plugin_bench.h"

namespace koord::scheduler {
namespace {

void Score(benchmark::State& state) {
  PluginBench bench;
  NodeResourcesBalancedAllocation plugin(bench.bed.context, {});
  bench.Score(state, plugin, R"(
    spec: {containers: [{resources: {requests: {cpu: 100m, memory: 500Mi}}}]})");
}
BENCHMARK(Score)->Arg(1)->Arg(kBenchNodes);

}  // namespace
}  // namespace koord::scheduler
