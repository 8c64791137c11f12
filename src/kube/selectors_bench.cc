#include "kube/selectors.h"

#include <benchmark/benchmark.h>

namespace koord::kube {
namespace {

void ParseLabelSelector(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(LabelMatcher::Parse("app=web,tier in (frontend,backend),!canary"));
  }
}
BENCHMARK(ParseLabelSelector);

void MatchLabels(benchmark::State& state) {
  const LabelMatcher matcher = *LabelMatcher::Parse("app=web,tier in (frontend,backend),!canary");
  const std::map<std::string, std::string, std::less<>> labels = {
      {"app", "web"}, {"pod-template-hash", "7d4b9c6f5"}, {"tier", "frontend"}};
  for (auto _ : state) benchmark::DoNotOptimize(matcher.Matches(labels));
}
BENCHMARK(MatchLabels);

}  // namespace
}  // namespace koord::kube
