#include "scheduler/plugins/load_aware_scheduling/load_columns.h"

#include <algorithm>
#include <array>

#include "base/hot.h"

namespace koord::scheduler {
namespace {

constexpr size_t kBlock = 256;

// Added and taken away again it leaves the nearest whole number, in a way that compiles to vectors.
constexpr double kToWhole = 0x1.8p52;

// trunc(100 * x / capacity) for whole x, without dividing: adding half a hundredth of a unit keeps
// the product away from whole numbers by far more than it can be off by, as long as capacities are
// below kMostQuickCapacity. What is used up counts 0.
KOORD_HOT void AddResource(const double* __restrict free, const double* __restrict percent_per_unit,
                           double need, double weight, size_t n, double* __restrict sum,
                           double* __restrict least) {
  for (size_t i = 0; i < n; ++i) {
    const double percent = (free[i] - need + 0.005) * percent_per_unit[i];
    const double whole = (percent - 0.5 + kToWhole) - kToWhole;
    const double score = whole > 0 ? whole : 0;
    sum[i] += score * weight;
    least[i] = score < least[i] ? score : least[i];
  }
}

// trunc((sum + least * dominant) / total), in the same way.
KOORD_HOT void Combine(const double* __restrict sum, const double* __restrict least,
                       double dominant, double per_total, size_t n, int64_t* __restrict scores) {
  for (size_t i = 0; i < n; ++i) {
    scores[i] = static_cast<int32_t>((sum[i] + least[i] * dominant + 0.5) * per_total);
  }
}

}  // namespace

LoadColumns::LoadColumns(size_t resources) : percent_per_unit(resources) {
  for (ByResource* columns : {&room[kOthers], &room[kProd], &free[kOthers], &free[kProd]}) {
    columns->resize(resources);
  }
}

void LoadColumns::Resize(size_t rows) {
  for (ByResource* columns :
       {&room[kOthers], &room[kProd], &free[kOthers], &free[kProd], &percent_per_unit}) {
    for (Column& column : *columns) column.resize(rows, 0);
  }
}

KOORD_HOT void KeepWithRoom(const double* __restrict room, double need, size_t n,
                            uint8_t* __restrict keep) {
  for (size_t i = 0; i < n; ++i) keep[i] &= static_cast<uint8_t>(room[i] >= need);
}

void ScoreRows(const LoadColumns& columns, LoadColumns::View view, const LoadWeights& weights,
               const std::vector<double>& need, RowRange rows, int64_t* scores) {
  if (weights.total == 0) {
    std::fill_n(scores, rows.size(), 0);
    return;
  }
  const double per_total = 1 / weights.total;
  std::array<double, kBlock> sum, least;
  for (size_t begin = rows.begin; begin < rows.end; begin += kBlock) {
    const size_t n = std::min<size_t>(kBlock, rows.end - begin);
    std::fill_n(sum.begin(), n, 0);
    std::fill_n(least.begin(), n, 100);
    for (size_t r = 0; r < need.size(); ++r) {
      AddResource(columns.free[view][r].data() + begin, columns.percent_per_unit[r].data() + begin,
                  need[r], weights.weights[r], n, sum.data(), least.data());
    }
    Combine(sum.data(), least.data(), weights.dominant, per_total, n,
            scores + (begin - rows.begin));
  }
}

}  // namespace koord::scheduler
