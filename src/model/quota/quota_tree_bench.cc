#include <benchmark/benchmark.h>

#include "base/random.h"
#include "model/quota/quota_admission.h"

namespace koord::model {
namespace {

constexpr int kQuotas = 10'000;

QuotaInfo InfoOf(int i, std::string_view parent) {
  QuotaInfo info;
  info.name = "q" + std::to_string(i);
  info.parent = parent;
  info.min = {{"cpu", kube::Quantity(10)}, {"memory", kube::Quantity(int64_t{40} << 30)}};
  info.max = {{"cpu", kube::Quantity(1000)}, {"memory", kube::Quantity(int64_t{4} << 40)}};
  info.weight = info.max;
  return info;
}

// 10,000 quotas with `width` children each, in a cluster that has not enough for what they ask for,
// so that every change of one moves the share of all.
std::unique_ptr<QuotaTree> MakeTree(int width) {
  auto tree = std::make_unique<QuotaTree>(QuotaTreeOptions{});
  for (int i = 0; i < kQuotas; ++i) {
    const int parent = (i - width) / width;
    tree->Set(InfoOf(i, i < width ? std::string(api::kRootQuota) : "q" + std::to_string(parent)));
  }
  tree->SetClusterTotal(
      {{"cpu", kube::Quantity(150'000)}, {"memory", kube::Quantity(int64_t{600} << 40)}});
  Random random(1);
  for (int i = 0; i < kQuotas; ++i) {
    tree->AddRequest(*tree->Find("q" + std::to_string(i)),
                     {{0, 1000 * static_cast<Wide>(1 + random.Below(60))},
                      {1, static_cast<Wide>(1 + random.Below(200)) << 30}},
                     false, 1);
  }
  return tree;
}

// A pod is new, and somebody asks whether it may run.
void BM_RequestChange(benchmark::State& state) {
  const auto tree = MakeTree(static_cast<int>(state.range(0)));
  Random random(2);
  int sign = 1;
  Quota* quota = nullptr;
  const QuotaAmounts pod{{0, 500}, {1, Wide{1} << 30}};
  for (auto _ : state) {
    if (sign > 0) quota = tree->Find("q" + std::to_string(random.Below(kQuotas)));
    tree->AddRequest(*quota, pod, false, sign);
    benchmark::DoNotOptimize(CheckAdmission(*tree, *quota, {pod, false}, {}));
    sign = -sign;
  }
}
BENCHMARK(BM_RequestChange)->Arg(10'000)->Arg(100)->Arg(6);

// The same, and then everybody wants to know.
void BM_RequestChangeSeenByAll(benchmark::State& state) {
  const auto tree = MakeTree(static_cast<int>(state.range(0)));
  const QuotaAmounts pod{{0, 500}, {1, Wide{1} << 30}};
  int sign = 1;
  for (auto _ : state) {
    tree->AddRequest(*tree->Find("q9999"), pod, false, sign);
    for (const auto& [name, quota] : tree->quotas()) {
      benchmark::DoNotOptimize(tree->RuntimeOf(*quota));
    }
    sign = -sign;
  }
}
BENCHMARK(BM_RequestChangeSeenByAll)->Arg(10'000)->Arg(6)->Unit(benchmark::kMicrosecond);

// A quota is changed: all sums anew.
void BM_QuotaChange(benchmark::State& state) {
  const auto tree = MakeTree(6);
  for (auto _ : state) {
    tree->Set(InfoOf(9999, "q1665"));
    benchmark::DoNotOptimize(tree->RuntimeOf(*tree->Find("q9999")));
  }
}
BENCHMARK(BM_QuotaChange)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace koord::model
