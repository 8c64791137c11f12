#include "scheduler/plugins/pod_topology_spread/hard_spread.h"

#include <algorithm>
#include <limits>

#include "base/hot.h"

namespace koord::scheduler {
namespace {

KOORD_HOT int32_t LeastCount(const int32_t* counts, const uint8_t* domains, size_t values) {
  int32_t least = std::numeric_limits<int32_t>::max();
  for (size_t i = 0; i < values; ++i) {
    const int32_t count = domains[i] ? counts[i] : std::numeric_limits<int32_t>::max();
    least = std::min(least, count);
  }
  return least;
}

// Whether any changed.
KOORD_HOT bool MarkAbove(const int32_t* counts, int32_t limit, size_t values,
                         int32_t* __restrict above) {
  int32_t changed = 0;
  for (size_t i = 0; i < values; ++i) {
    const int32_t mark = counts[i] > limit ? 1 : 0;
    changed |= mark ^ above[i];
    above[i] = mark;
  }
  return changed != 0;
}

}  // namespace

void HardSpread::Refresh(const NodeTable& nodes, const PodIndex& pods, const PodQuery& query) {
  counts_.Refresh(pods, query);
  if (counts_version_ == counts_.version()) return;
  counts_version_ = counts_.version();
  const size_t values = counts_.size();
  const bool too_few = counts_.all().domain_count() < min_domains_;
  least_ = too_few ? 0 : LeastCount(counts_.data(), counts_.all().domains().data(), values);
  full_.resize(values, 0);
  const int64_t limit = int64_t{max_skew_} - itself_ + least_;
  const auto bounded =
      static_cast<int32_t>(std::clamp<int64_t>(limit, -1, std::numeric_limits<int32_t>::max()));
  full_[kNoValue] = 0;
  const bool changed = MarkAbove(counts_.data(), bounded, values, full_.data());
  full_[kNoValue] = 1;
  if (changed || topology_version_ != nodes.topology_version()) ++version_;
  topology_version_ = nodes.topology_version();
}

int64_t HardSpread::LeastOfOthers(ValueId value) const {
  int64_t least = std::numeric_limits<int64_t>::max();
  for (ValueId other = 1; other < counts_.size(); ++other) {
    if (other != value && counts_.all().domains()[other]) {
      least = std::min<int64_t>(least, counts_.data()[other]);
    }
  }
  return least;
}

bool HardSpread::IsFull(ValueId value, int32_t more_pods) const {
  if (more_pods == 0) return full_[value] != 0;
  const int64_t before = counts_.Of(value);
  const int64_t count = before + more_pods;
  int64_t least = least_;
  if (counts_.all().domain_count() >= min_domains_) {
    // Only the domain with the fewest pods can raise the least.
    const bool may_rise = more_pods > 0 && before == least_;
    least = std::min(may_rise ? LeastOfOthers(value) : least_, count);
  }
  return count + itself_ - least > max_skew_;
}

}  // namespace koord::scheduler
