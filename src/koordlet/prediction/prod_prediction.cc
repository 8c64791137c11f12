#include "koordlet/prediction/prod_prediction.h"

#include <algorithm>

namespace koord::koordlet {
namespace {

template <class F>
CpuAndMemory Combine(const CpuAndMemory& a, const CpuAndMemory& b, F function) {
  return {MilliCpu(function(a.cpu.value(), b.cpu.value())), function(a.memory, b.memory)};
}

CpuAndMemory Plus(const CpuAndMemory& a, const CpuAndMemory& b) {
  return Combine(a, b, [](int64_t x, int64_t y) {
    int64_t sum = 0;
    return __builtin_add_overflow(x, y, &sum) ? INT64_MAX : sum;
  });
}
CpuAndMemory MinusAtLeastZero(const CpuAndMemory& a, const CpuAndMemory& b) {
  return Combine(a, b,
                 [](int64_t x, int64_t y) { return x > y ? x - std::max<int64_t>(y, 0) : 0; });
}
CpuAndMemory Least(const CpuAndMemory& a, const CpuAndMemory& b) {
  return Combine(a, b, [](int64_t x, int64_t y) { return std::min(x, y); });
}
CpuAndMemory Most(const CpuAndMemory& a, const CpuAndMemory& b) {
  return Combine(a, b, [](int64_t x, int64_t y) { return std::max(x, y); });
}

int64_t WithMargin(int64_t amount, int64_t margin_percent) {
  const double scaled =
      static_cast<double>(amount) * (1 + static_cast<double>(margin_percent) / 100);
  return scaled >= 9e18 ? INT64_MAX : static_cast<int64_t>(scaled);
}
CpuAndMemory WithMargin(const CpuAndMemory& amounts, int64_t margin_percent) {
  return {MilliCpu(WithMargin(amounts.cpu.value(), margin_percent)),
          WithMargin(amounts.memory, margin_percent)};
}

struct PodSums {
  CpuAndMemory peak;
  CpuAndMemory unpredicted;
  CpuAndMemory reclaimable;
  CpuAndMemory request;  // of those that the priority predictor counts
};

PodSums SumPods(std::span<const PredictedPod> pods, int64_t margin_percent) {
  PodSums sums;
  for (const PredictedPod& pod : pods) {
    const bool is_predicted = !pod.is_young && !pod.is_ending && pod.peak.has_value();
    if (pod.is_young || (!pod.is_ending && !pod.peak.has_value())) {
      sums.unpredicted = Plus(sums.unpredicted, pod.request);
    }
    if (is_predicted) {
      const CpuAndMemory peak = WithMargin(*pod.peak, margin_percent);
      sums.peak = Plus(sums.peak, peak);
      sums.reclaimable = Plus(sums.reclaimable, MinusAtLeastZero(pod.request, peak));
    }
    if (!pod.is_ending && (pod.is_young || is_predicted)) {
      sums.request = Plus(sums.request, pod.request);
    }
  }
  return sums;
}

}  // namespace

ProdPrediction PredictProd(std::span<const PredictedPod> pods,
                           const std::optional<PriorityPeaks>& priorities,
                           const std::optional<CpuAndMemory>& allocatable, int64_t margin_percent) {
  ProdPrediction result;
  const PodSums sums = SumPods(pods, margin_percent);
  result.peak_by_pods = Plus(sums.peak, sums.unpredicted);
  if (allocatable.has_value()) {
    result.reclaimable_by_pods = Least(MinusAtLeastZero(*allocatable, sums.peak), sums.reclaimable);
  }
  if (!priorities.has_value()) return result;
  const CpuAndMemory used =
      WithMargin(Plus(priorities->sys, Plus(priorities->prod, priorities->none)), margin_percent);
  result.peak_by_priority = used;
  result.peak = Most(*result.peak_by_pods, used);
  if (allocatable.has_value()) {
    result.reclaimable_by_priority =
        Least(MinusAtLeastZero(*allocatable, used), MinusAtLeastZero(sums.request, used));
    result.reclaimable = Least(*result.reclaimable_by_pods, *result.reclaimable_by_priority);
  }
  return result;
}

}  // namespace koord::koordlet
