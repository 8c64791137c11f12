#include "scheduler/plugins/node_ports/node_ports.h"
#include "scheduler/testing/plugin_bench.h"

namespace koord::scheduler {
namespace {

void Filter(benchmark::State& state) {
  PluginBench bench;
  NodePorts plugin(bench.bed.context);
  bench.Filter(state, plugin, "spec: {containers: [{ports: [{hostPort: 8001}]}]}");
}
BENCHMARK(Filter)->Arg(1)->Arg(kBenchNodes);

}  // namespace
}  // namespace koord::scheduler
