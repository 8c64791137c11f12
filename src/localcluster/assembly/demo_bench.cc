// What the demo costs while it runs: everything but sockets and the disk.
#include <benchmark/benchmark.h>

#include "base/log.h"
#include "base/virtual_loop.h"
#include "localcluster/assembly/local_cluster.h"

namespace koord::localcluster {
namespace {

// CPU time of a minute of the cluster's time, once jobs have filled it. Always the same minutes:
// `valgrind --tool=callgrind --toggle-collect='*DemoMinutes*'` counts the same work before and
// after a change.
void DemoMinutes(benchmark::State& state) {
  constexpr int kMinutes = 5;
  log::SetSink([](std::string_view) {});
  VirtualLoop loop;
  LocalClusterOptions options;
  options.demo = true;
  options.defaults = true;
  auto cluster = std::move(*LocalCluster::Start(loop, options));
  loop.Advance(std::chrono::minutes(30));
  if (cluster->Summarize().of(api::QosClass::kBe).pods == 0) state.SkipWithError("nothing runs");
  for (auto _ : state) loop.Advance(std::chrono::minutes(kMinutes));
  state.SetItemsProcessed(int64_t{kMinutes} * 60 * static_cast<int64_t>(state.iterations()));
}
BENCHMARK(DemoMinutes)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace koord::localcluster
