#include "kube/quantity.h"

#include <benchmark/benchmark.h>

namespace koord::kube {
namespace {

void Parse(benchmark::State& state, const char* text) {
  for (auto _ : state) benchmark::DoNotOptimize(Quantity::Parse(text));
}
BENCHMARK_CAPTURE(Parse, milli, "500m");
BENCHMARK_CAPTURE(Parse, binary, "128Gi");
BENCHMARK_CAPTURE(Parse, fraction, "1.5");

void ParseAndPrint(benchmark::State& state, const char* text) {
  for (auto _ : state) benchmark::DoNotOptimize(Quantity::Parse(text)->ToString());
}
BENCHMARK_CAPTURE(ParseAndPrint, milli, "500m");
BENCHMARK_CAPTURE(ParseAndPrint, binary, "128Gi");
BENCHMARK_CAPTURE(ParseAndPrint, fraction, "1.5");

void Add(benchmark::State& state) {
  Quantity sum;
  const Quantity a = *Quantity::Parse("250m");
  const Quantity b = *Quantity::Parse("2");
  for (auto _ : state) {
    sum += a;
    sum -= b;
    benchmark::DoNotOptimize(sum);
  }
}
BENCHMARK(Add);

void Compare(benchmark::State& state) {
  const Quantity a = *Quantity::Parse("250m");
  const Quantity b = *Quantity::Parse("2");
  for (auto _ : state) benchmark::DoNotOptimize(a < b);
}
BENCHMARK(Compare);

}  // namespace
}  // namespace koord::kube
