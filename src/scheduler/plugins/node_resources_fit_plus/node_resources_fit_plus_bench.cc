#include "scheduler/plugins/node_resources_fit_plus/node_resources_fit_plus.h"
#include "scheduler/testing/plugin_bench.h"

namespace koord::scheduler {
namespace {

void Score(benchmark::State& state) {
  PluginBench bench;
  NodeResourcesFitPlus plugin(bench.bed.context,
                              {.resources = {{"nvidia.com/gpu", {"MostAllocated", 2}},
                                             {"cpu", {"LeastAllocated", 1}},
                                             {"memory", {"LeastAllocated", 1}}}});
  bench.Score(state, plugin, R"(
    spec: {containers: [{resources: {requests: {cpu: 1, memory: 5Gi, nvidia.com/gpu: 1}}}]})");
}
BENCHMARK(Score)->Arg(1)->Arg(kBenchNodes);

}  // namespace
}  // namespace koord::scheduler
