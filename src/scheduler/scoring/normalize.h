#pragma once
#include <cstdint>
#include <span>

namespace koord::scheduler {

// Brings raw scores, none below 0 and `max` the largest one that counts, to 0..100 in proportion:
// trunc(100 * score / max). If all are 0 they stay so.
void NormalizeByMax(int64_t max, std::span<int64_t> scores);

// The same the other way round, for raw scores that count what is bad: 100 less that.
void NormalizeByMaxReversed(int64_t max, std::span<int64_t> scores);

}  // namespace koord::scheduler
