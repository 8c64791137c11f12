#include "scheduler/plugins/scarce_resource_avoidance/scarce_resource_avoidance.h"
#include "scheduler/testing/plugin_bench.h"

namespace koord::scheduler {
namespace {

void Score(benchmark::State& state) {
  PluginBench bench;
  ScarceResourceAvoidance plugin(bench.bed.context, {.resources = {"nvidia.com/gpu"}});
  bench.Score(state, plugin, "spec: {containers: [{resources: {requests: {cpu: 1}}}]}");
}
BENCHMARK(Score)->Arg(1)->Arg(kBenchNodes);

}  // namespace
}  // namespace koord::scheduler
