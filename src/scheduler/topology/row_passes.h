#pragma once
#include <cstdint>

#include "scheduler/cluster/label_column.h"

// The loops over rows: `ids` are the rows' values of a topology key, `counts` has a number for each
// value, 0 for the value of rows without the key.
namespace koord::scheduler {

void DropWhereZero(const ValueId* ids, const int32_t* counts, size_t rows, uint8_t* keep);
void DropWhereNonZero(const ValueId* ids, const int32_t* counts, size_t rows, uint8_t* keep);
void DropWhereMissing(const ValueId* ids, size_t rows, uint8_t* keep);

void AddSums(const ValueId* ids, const int64_t* sums, size_t rows, int64_t* scores);
void AddWeightedCounts(const ValueId* ids, const int32_t* counts, int32_t weight, size_t rows,
                       int64_t* scores);

// Divisions are quickest of 32-bit numbers: offsets[i] = scores[i] - min, brought into
// [0, max - min], which must fit. Only rows that are not feasible can be out of range.
void OffsetsOf(const int64_t* scores, int64_t min, int64_t max, size_t rows, int32_t* offsets);
void Widen(const int32_t* from, size_t rows, int64_t* to);
inline constexpr size_t kPassBlock = 512;  // rows at a time, where a pass needs room for numbers

}  // namespace koord::scheduler
