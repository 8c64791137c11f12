#include "scheduler/topology/row_passes.h"

#include "base/hot.h"

namespace koord::scheduler {

KOORD_HOT void DropWhereZero(const ValueId* ids, const int32_t* counts, size_t rows,
                             uint8_t* __restrict keep) {
  for (size_t i = 0; i < rows; ++i) keep[i] &= static_cast<uint8_t>(counts[ids[i]] != 0);
}

KOORD_HOT void DropWhereNonZero(const ValueId* ids, const int32_t* counts, size_t rows,
                                uint8_t* __restrict keep) {
  for (size_t i = 0; i < rows; ++i) keep[i] &= static_cast<uint8_t>(counts[ids[i]] == 0);
}

KOORD_HOT void DropWhereMissing(const ValueId* ids, size_t rows, uint8_t* __restrict keep) {
  for (size_t i = 0; i < rows; ++i) keep[i] &= static_cast<uint8_t>(ids[i] != kNoValue);
}

KOORD_HOT void AddSums(const ValueId* ids, const int64_t* sums, size_t rows,
                       int64_t* __restrict scores) {
  for (size_t i = 0; i < rows; ++i) scores[i] += sums[ids[i]];
}

KOORD_HOT void AddWeightedCounts(const ValueId* ids, const int32_t* counts, int32_t weight,
                                 size_t rows, int64_t* __restrict scores) {
  for (size_t i = 0; i < rows; ++i) scores[i] += int64_t{counts[ids[i]]} * weight;
}

KOORD_HOT void OffsetsOf(const int64_t* scores, int64_t min, int64_t max, size_t rows,
                         int32_t* __restrict offsets) {
  for (size_t i = 0; i < rows; ++i) {
    const int64_t at_least = scores[i] < min ? min : scores[i];
    offsets[i] = static_cast<int32_t>((at_least > max ? max : at_least) - min);
  }
}

KOORD_HOT void Widen(const int32_t* from, size_t rows, int64_t* __restrict to) {
  for (size_t i = 0; i < rows; ++i) to[i] = from[i];
}

}  // namespace koord::scheduler
