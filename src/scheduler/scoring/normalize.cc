#include "scheduler/scoring/normalize.h"

#include <algorithm>

#include "base/hot.h"

namespace koord::scheduler {
namespace {

// Below this the quotient of floats truncates to the exact result: 100 * score is exact, and a
// quotient up to 100 differs from the next integer by more than its error.
constexpr int64_t kExactScale = int64_t{1} << 17;

// scores[i] = base + sign * trunc(100 * scores[i] / max)
KOORD_HOT void Scale(int32_t max, int32_t base, int32_t sign, size_t n, int64_t* scores) {
  const auto divisor = static_cast<float>(max);
  for (size_t i = 0; i < n; ++i) {
    const auto hundredfold = static_cast<float>(static_cast<int32_t>(scores[i]) * 100);
    scores[i] = base + sign * static_cast<int32_t>(hundredfold / divisor);
  }
}

void Normalize(int64_t max, int32_t base, int32_t sign, std::span<int64_t> scores) {
  if (max < kExactScale) {
    Scale(static_cast<int32_t>(max), base, sign, scores.size(), scores.data());
    return;
  }
  for (int64_t& score : scores) {
    score = base + sign * static_cast<int64_t>(static_cast<__int128>(score) * 100 / max);
  }
}

}  // namespace

void NormalizeByMax(int64_t max, std::span<int64_t> scores) {
  if (max > 0) Normalize(max, 0, 1, scores);
}

void NormalizeByMaxReversed(int64_t max, std::span<int64_t> scores) {
  if (max > 0) {
    Normalize(max, 100, -1, scores);
  } else {
    std::ranges::fill(scores, 100);
  }
}

}  // namespace koord::scheduler
