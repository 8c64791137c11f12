#include "model/device/device_score.h"

#include <algorithm>

namespace koord::model {
namespace {

constexpr int64_t kMax = 100;

int64_t Percent(int64_t part, int64_t whole) {
  return static_cast<int64_t>(static_cast<__int128>(part) * kMax / whole);
}

}  // namespace

int64_t DeviceScore(const DeviceScoring& scoring, const DeviceAmounts& request,
                    const DeviceAmounts& total, const DeviceAmounts& free) {
  int64_t sum = 0, weights = 0;
  for (const DeviceScoring::Weight& each : scoring.weights) {
    const int64_t capacity = total.Get(each.resource);
    if (capacity <= 0) continue;
    const int64_t left = free.Get(each.resource);
    const int64_t requested =
        left > capacity ? capacity : capacity - left + request.Get(each.resource);
    const int64_t used = std::min(requested, capacity);
    sum += each.weight * Percent(scoring.most_allocated ? used : capacity - used, capacity);
    weights += each.weight;
  }
  return weights == 0 ? 0 : sum / weights;
}

}  // namespace koord::model
