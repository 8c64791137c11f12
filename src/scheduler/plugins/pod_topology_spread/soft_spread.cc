#include "scheduler/plugins/pod_topology_spread/soft_spread.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/hot.h"
#include "scheduler/topology/row_passes.h"

namespace koord::scheduler {
namespace {

constexpr double kSmall = 1 << 30;

KOORD_HOT void AddWorth(const ValueId* ids, const double* worth, size_t rows,
                        double* __restrict sums) {
  for (size_t i = 0; i < rows; ++i) sums[i] += worth[ids[i]];
}

KOORD_HOT void AddRowWorth(const ValueId* ids, const int32_t* counts, double weight,
                           double allowance, size_t rows, double* __restrict sums) {
  for (size_t i = 0; i < rows; ++i) {
    const double has_key = ids[i] != kNoValue ? 1 : 0;
    sums[i] += has_key * (static_cast<double>(counts[i]) * weight + allowance);
  }
}

// Half away from zero; sums are not negative.
KOORD_HOT void RoundSmall(const double* sums, size_t rows, int32_t* __restrict rounded) {
  for (size_t i = 0; i < rows; ++i) {
    const auto whole = static_cast<int32_t>(sums[i]);
    rounded[i] = static_cast<int32_t>(2 * (sums[i] - whole)) + whole;
  }
}

void RoundLarge(const double* sums, size_t rows, int64_t* scores) {
  for (size_t i = 0; i < rows; ++i) scores[i] = std::llround(sums[i]);
}

KOORD_HOT void IgnoreWhereMissing(const ValueId* ids, size_t rows, int64_t* __restrict scores) {
  for (size_t i = 0; i < rows; ++i) scores[i] = ids[i] == kNoValue ? kIgnoredRow : scores[i];
}

// offsets[i]: how much more than the least. A quotient of at most 100 is exact as a double,
// truncated.
KOORD_HOT void SharesOf(double max, size_t rows, int32_t* __restrict offsets) {
  for (size_t i = 0; i < rows; ++i) {
    offsets[i] = static_cast<int32_t>(100.0 * (max - static_cast<double>(offsets[i])) / max);
  }
}

KOORD_HOT void SetUnlessIgnored(const int32_t* from, size_t rows, int64_t* __restrict scores) {
  for (size_t i = 0; i < rows; ++i) scores[i] = scores[i] == kIgnoredRow ? 0 : int64_t{from[i]};
}

void NormalizeSmall(ScoreRange range, std::span<int64_t> scores) {
  std::array<int32_t, kPassBlock> shares;
  for (size_t begin = 0; begin < scores.size(); begin += kPassBlock) {
    const size_t rows = std::min(kPassBlock, scores.size() - begin);
    OffsetsOf(scores.data() + begin, range.min, range.max, rows, shares.data());
    SharesOf(static_cast<double>(range.max), rows, shares.data());
    SetUnlessIgnored(shares.data(), rows, scores.data() + begin);
  }
}

}  // namespace

void SoftSpread::Set(std::vector<Constraint> constraints, bool needs_all_keys) {
  constraints_ = std::move(constraints);
  needs_all_keys_ = needs_all_keys;
  topology_version_ = 0;
}

uint64_t SoftSpread::Refresh(const PodIndex& pods, const PodQuery& query) {
  uint64_t version = 0;
  for (Constraint& each : constraints_) {
    each.counts.Refresh(pods, query);
    version += each.counts.version();
  }
  return version;
}

void SoftSpread::Forget(const NodeTable& nodes) {
  topology_version_ = nodes.topology_version();
  feasible_.assign(nodes.rows(), 0);
  feasible_rows_ = 0;
  for (Constraint& each : constraints_) {
    each.present = 0;
    each.rows.assign(each.by_row() ? 0 : each.key->values(), 0);
  }
}

bool SoftSpread::IsIgnored(NodeRow row) const {
  return needs_all_keys_ && std::ranges::any_of(constraints_, [&](const Constraint& each) {
           return each.key->At(row) == kNoValue;
         });
}

void SoftSpread::Count(NodeRow row, int by) {
  if (IsIgnored(row)) return;
  feasible_rows_ += by;
  for (Constraint& each : constraints_) {
    if (each.by_row()) continue;
    int32_t& rows = each.rows[each.key->At(row)];
    const int before = rows != 0 ? 1 : 0;
    rows += by;
    each.present += (rows != 0 ? 1 : 0) - before;
  }
}

void SoftSpread::CountAll(std::span<const uint8_t> feasible) {
  std::ranges::copy(feasible, feasible_.begin());
  std::vector<uint8_t> counted = feasible_;
  if (needs_all_keys_) {
    for (const Constraint& each : constraints_) {
      DropWhereMissing(each.key->data(), counted.size(), counted.data());
    }
  }
  feasible_rows_ = std::ranges::count(counted, 1);
  for (Constraint& each : constraints_) {
    if (each.by_row()) continue;
    const ValueId* ids = each.key->data();
    for (size_t row = 0; row < counted.size(); ++row) each.rows[ids[row]] += counted[row];
    each.present = static_cast<int64_t>(each.rows.size()) - std::ranges::count(each.rows, 0);
  }
}

void SoftSpread::SetFeasible(const NodeTable& nodes, std::span<const uint8_t> feasible) {
  if (topology_version_ != nodes.topology_version()) {
    Forget(nodes);
    if (feasible.size() == feasible_.size()) CountAll(feasible);
  }
  const size_t rows = std::min(feasible.size(), feasible_.size());
  for (size_t begin = 0; begin < rows; begin += kPassBlock) {
    const size_t end = std::min(begin + kPassBlock, rows);
    if (std::memcmp(feasible.data() + begin, feasible_.data() + begin, end - begin) == 0) continue;
    for (size_t row = begin; row < end; ++row) {
      if (feasible[row] == feasible_[row]) continue;
      feasible_[row] = feasible[row];
      Count(static_cast<NodeRow>(row), feasible[row] ? 1 : -1);
    }
  }
  double largest = 0;
  for (Constraint& each : constraints_) {
    Weigh(each);
    largest += static_cast<double>(each.counts.total()) * each.weight + each.allowance;
  }
  small_ = largest < kSmall;
}

void SoftSpread::Weigh(Constraint& constraint) {
  const int64_t size = constraint.by_row() ? feasible_rows_ : constraint.present;
  const double weight = std::log(static_cast<double>(size + 2));
  const SeenCounts& counts = constraint.counts;
  if (constraint.weight == weight && constraint.counts_version == counts.version()) return;
  constraint.weight = weight;
  constraint.counts_version = counts.version();
  if (constraint.by_row()) return;
  constraint.worth.resize(counts.size());
  for (size_t value = 0; value < counts.size(); ++value) {
    constraint.worth[value] =
        static_cast<double>(counts.data()[value]) * weight + constraint.allowance;
  }
  constraint.worth[kNoValue] = 0;
}

void SoftSpread::Score(RowRange rows, int64_t* scores) {
  for (NodeRow begin = rows.begin; begin < rows.end; begin += kPassBlock) {
    const auto end = std::min(rows.end, static_cast<NodeRow>(begin + kPassBlock));
    ScoreBlock({begin, end}, scores + (begin - rows.begin));
  }
}

void SoftSpread::ScoreBlock(RowRange rows, int64_t* scores) const {
  std::array<double, kPassBlock> sums;
  std::fill_n(sums.begin(), rows.size(), 0);
  for (const Constraint& each : constraints_) {
    const ValueId* ids = each.key->data() + rows.begin;
    if (each.by_row()) {
      AddRowWorth(ids, each.counts.data() + rows.begin, each.weight, each.allowance, rows.size(),
                  sums.data());
    } else {
      AddWorth(ids, each.worth.data(), rows.size(), sums.data());
    }
  }
  if (small_) {
    std::array<int32_t, kPassBlock> rounded;
    RoundSmall(sums.data(), rows.size(), rounded.data());
    Widen(rounded.data(), rows.size(), scores);
  } else {
    RoundLarge(sums.data(), rows.size(), scores);
  }
  if (!needs_all_keys_) return;
  for (const Constraint& each : constraints_) {
    IgnoreWhereMissing(each.key->data() + rows.begin, rows.size(), scores);
  }
}

void NormalizeSpread(ScoreRange range, std::span<int64_t> scores) {
  if (range.max > 0 && range.max <= std::numeric_limits<int32_t>::max() && range.min >= 0) {
    NormalizeSmall(range, scores);
    return;
  }
  for (int64_t& score : scores) {
    if (score == kIgnoredRow) {
      score = 0;
    } else if (range.max == 0) {
      score = kMaxScore;
    } else {
      score = std::clamp(score, range.min, range.max);
      score = kMaxScore * (range.max + range.min - score) / range.max;
    }
  }
}

}  // namespace koord::scheduler
