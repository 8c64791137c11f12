#include "scheduler/plugins/image_locality/image_locality.h"
#include "scheduler/testing/plugin_bench.h"

namespace koord::scheduler {
namespace {

void Score(benchmark::State& state, std::string_view pod) {
  PluginBench bench;
  ImageLocality plugin(bench.bed.context);
  bench.Score(state, plugin, pod);
}

void ScoreKnownImages(benchmark::State& state) {
  Score(state, "spec: {containers: [{image: registry/app-1}, {image: registry/app-2}]}");
}
BENCHMARK(ScoreKnownImages)->Arg(1)->Arg(kBenchNodes);

void ScoreUnknownImage(benchmark::State& state) {
  Score(state, "spec: {containers: [{image: x}]}");
}
BENCHMARK(ScoreUnknownImage)->Arg(1)->Arg(kBenchNodes);

}  // namespace
}  // namespace koord::scheduler
