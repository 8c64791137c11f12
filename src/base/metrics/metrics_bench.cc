#include <benchmark/benchmark.h>

#include "base/metrics/metrics.h"

namespace koord::metrics {
namespace {

void BM_IncrementHandle(benchmark::State& state) {
  Registry registry;
  Counter& counter = registry.AddCounters("c", "", {"result", "profile"}).With({"scheduled", "p"});
  for (auto _ : state) counter.Increment();
}
BENCHMARK(BM_IncrementHandle);

void BM_LookUpAndIncrement(benchmark::State& state) {
  Registry registry;
  Counters& family = registry.AddCounters("c", "", {"result", "profile"});
  for (int i = 0; i < 100; ++i) family.With({std::to_string(i), "p"});
  for (auto _ : state) family.With({"42", "p"}).Increment();
}
BENCHMARK(BM_LookUpAndIncrement);

void BM_Observe(benchmark::State& state) {
  Registry registry;
  Histogram& histogram = registry.AddHistogram("h", "", ExponentialBuckets(0.001, 2, 15));
  double value = 0;
  for (auto _ : state) histogram.Observe(value += 0.0001);
}
BENCHMARK(BM_Observe);

void BM_Text(benchmark::State& state) {
  Registry registry;
  Gauges& family = registry.AddGauges("g", "", {"pod"});
  for (int i = 0; i < 1000; ++i) family.With({std::to_string(i)}).Set(i);
  for (auto _ : state) benchmark::DoNotOptimize(registry.Text());
}
BENCHMARK(BM_Text);

}  // namespace
}  // namespace koord::metrics
