#include "scheduler/plugins/taint_toleration/taint_toleration.h"
#include "scheduler/testing/plugin_bench.h"

namespace koord::scheduler {
namespace {

constexpr std::string_view kPod = "spec: {tolerations: [{key: spot, operator: Exists}]}";

void Filter(benchmark::State& state) {
  PluginBench bench;
  TaintToleration plugin(bench.bed.context);
  bench.Filter(state, plugin, kPod);
}
BENCHMARK(Filter)->Arg(1)->Arg(kBenchNodes);

void Score(benchmark::State& state) {
  PluginBench bench;
  TaintToleration plugin(bench.bed.context);
  bench.Score(state, plugin, kPod);
}
BENCHMARK(Score)->Arg(1)->Arg(kBenchNodes);

void Normalize(benchmark::State& state) {
  PluginBench bench;
  TaintToleration plugin(bench.bed.context);
  bench.Normalize(state, plugin, kPod);
}
BENCHMARK(Normalize)->Arg(kBenchNodes);

}  // namespace
}  // namespace koord::scheduler
