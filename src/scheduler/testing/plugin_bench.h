#pragma once
#include <benchmark/benchmark.h>

#include "scheduler/testing/random_cluster.h"

// What a pass of one plugin over rows of a cluster of 5,000 nodes costs; state.range(0) says over
// how many of them.
namespace koord::scheduler {

inline constexpr int kBenchNodes = 5000;

// Plugins come before nodes, as they do in a scheduler.
class PluginBench {
 public:
  PluginBed bed;

  void Fill() {
    Random random(1);
    FillCluster(bed, random, kBenchNodes, 2);
  }

  void Filter(benchmark::State& state, FilterPlugin& plugin, std::string_view pod_yaml) {
    Fill();
    const auto query = bed.Query(plugin, pod_yaml);
    const RowRange rows = RowRange::First(static_cast<size_t>(state.range(0)));
    std::vector<uint8_t> keep(kBenchNodes, 1);
    for (auto _ : state) {
      plugin.Filter(*query, rows, keep.data());
      benchmark::DoNotOptimize(keep.data());
      benchmark::ClobberMemory();
    }
  }

  void Score(benchmark::State& state, ScorePlugin& plugin, std::string_view pod_yaml) {
    Fill();
    const auto query = bed.Query(plugin, pod_yaml);
    const RowRange rows = RowRange::First(static_cast<size_t>(state.range(0)));
    std::vector<int64_t> scores(kBenchNodes);
    plugin.PreScore(*query, {bed.ledger.nodes().live(), bed.ledger.nodes().rows()});
    for (auto _ : state) {
      plugin.Score(*query, rows, scores.data());
      benchmark::DoNotOptimize(scores.data());
      benchmark::ClobberMemory();
    }
  }

  void Normalize(benchmark::State& state, ScorePlugin& plugin, std::string_view pod_yaml) {
    Fill();
    const auto query = bed.Query(plugin, pod_yaml);
    std::vector<int64_t> raw(kBenchNodes);
    plugin.Score(*query, RowRange::First(kBenchNodes), raw.data());
    const ScoreRange range{0, std::ranges::max(raw)};
    std::vector<int64_t> scores = raw;
    for (auto _ : state) {
      std::ranges::copy(raw, scores.begin());
      plugin.Normalize(*query, range, scores);
      benchmark::DoNotOptimize(scores.data());
      benchmark::ClobberMemory();
    }
  }
};

}  // namespace koord::scheduler
