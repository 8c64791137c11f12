#include "scheduler/plugins/node_unschedulable/node_unschedulable.h"
#include "scheduler/testing/plugin_bench.h"

namespace koord::scheduler {
namespace {

void Filter(benchmark::State& state) {
  PluginBench bench;
  NodeUnschedulable plugin(bench.bed.context);
  bench.Filter(state, plugin, "metadata: {name: p}");
}
BENCHMARK(Filter)->Arg(1)->Arg(kBenchNodes);

}  // namespace
}  // namespace koord::scheduler
