#include "koordlet/metrics/metric_store.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "base/virtual_loop.h"

namespace koord::koordlet {
namespace {

// A node with 110 pods of three containers and half an hour of samples behind it.
struct FullStore {
  FullStore() {
    for (int i = 0; i < 440; ++i) ids.push_back(fmt::format("{:064x}", i));
    for (int second = 0; second < 1800; ++second) Round(second);
  }

  void Round(int second) {
    for (const std::string& id : ids) {
      for (const Metric metric :
           {Metric::kContainerCpu, Metric::kContainerColdMemory, Metric::kContainerThrottled}) {
        store.Append({metric, id}, 0.5 + second % 17);
      }
    }
    for (int numa = 0; numa < 15; ++numa) {
      store.Append({Metric::kNodeNumaCpu, "", ids[numa]}, 0.5 + second * 31 % 97);
    }
    loop.Advance(std::chrono::seconds(1));
  }

  VirtualLoop loop;
  MetricStore store{loop.clock(), {}};
  std::vector<std::string> ids;
};

FullStore& Store() {
  static FullStore store;
  return store;
}

void BM_AppendRound1335Series(benchmark::State& state) {
  FullStore& full = Store();
  int second = 0;
  for (auto _ : state) full.Round(++second);
  state.counters["bytes"] = static_cast<double>(full.store.bytes());
}
BENCHMARK(BM_AppendRound1335Series)->Unit(benchmark::kMicrosecond)->Iterations(3000);

void BM_Last(benchmark::State& state) {
  FullStore& full = Store();
  const MetricKey key{Metric::kContainerCpu, full.ids[7]};
  for (auto _ : state) benchmark::DoNotOptimize(full.store.Last(key, 2s));
}
BENCHMARK(BM_Last);

void BM_AverageOf5Minutes(benchmark::State& state) {
  FullStore& full = Store();
  const MetricKey key{Metric::kContainerCpu, full.ids[7]};
  for (auto _ : state) benchmark::DoNotOptimize(full.store.Average(key, 5min));
}
BENCHMARK(BM_AverageOf5Minutes);

void BM_SummaryOf30Minutes(benchmark::State& state) {
  FullStore& full = Store();
  const MetricKey key{Metric::kNodeNumaCpu, "", full.ids[7]};
  for (auto _ : state) benchmark::DoNotOptimize(full.store.Summarize(key, 30min));
}
BENCHMARK(BM_SummaryOf30Minutes);

void BM_CollectGarbage(benchmark::State& state) {
  FullStore& full = Store();
  for (auto _ : state) full.store.CollectGarbage();
}
BENCHMARK(BM_CollectGarbage)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace koord::koordlet
