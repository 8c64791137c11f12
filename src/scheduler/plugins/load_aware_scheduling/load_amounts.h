#pragma once
#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "kube/objects/resource_list.h"

namespace koord::scheduler {

// Amounts of the tracked resources, in their order.
using LoadAmounts = absl::InlinedVector<int64_t, 2>;

// Amounts beyond this (8 PiB of memory) count as this, and negative ones as nothing: sums cannot
// overflow and doubles hold every amount exactly, whatever somebody writes into an object.
inline constexpr int64_t kMostLoad = int64_t{1} << 53;

inline int64_t BoundedLoad(int64_t amount) { return std::clamp<int64_t>(amount, 0, kMostLoad); }

// The resources whose load is looked at, by ascending name.
class LoadResources {
 public:
  explicit LoadResources(std::vector<std::string> names) : names_(std::move(names)) {
    std::ranges::sort(names_);
    names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
  }

  size_t size() const { return names_.size(); }
  const std::string& name(size_t i) const { return names_[i]; }
  LoadAmounts Zero() const { return LoadAmounts(size(), 0); }

  // Milli-cores of cpu, whole units of everything else; what is not listed is 0.
  int64_t AmountIn(const kube::ResourceList& list, size_t i) const {
    const auto found = list.find(names_[i]);
    return found == list.end() ? 0 : AmountOf(i, found->second);
  }
  void Read(const kube::ResourceList& list, LoadAmounts& amounts) const {
    for (size_t i = 0; i < size(); ++i) amounts[i] = AmountIn(list, i);
  }
  LoadAmounts AmountsIn(const kube::ResourceList& list) const {
    LoadAmounts amounts = Zero();
    Read(list, amounts);
    return amounts;
  }
  int64_t AmountOf(size_t i, const kube::Quantity& quantity) const {
    return BoundedLoad(names_[i] == kube::kCpu ? quantity.MilliValue() : quantity.Value());
  }

 private:
  std::vector<std::string> names_;
};

// Times at the ends of what WallTime holds stay there.
inline WallTime LaterBy(WallTime time, Duration span) {
  Duration::rep moved;
  const auto from = time.time_since_epoch().count();
  if (__builtin_add_overflow(from, span.count(), &moved)) {
    return span.count() > 0 ? WallTime::max() : WallTime::min();
  }
  return WallTime(Duration(moved));
}
// Seconds as configured, at most a century: longer ones mean the same and could overflow.
inline Duration SecondsOf(int64_t seconds) {
  constexpr int64_t kCentury = int64_t{100} * 366 * 24 * 3600;
  return std::chrono::seconds(std::clamp(seconds, -kCentury, kCentury));
}

}  // namespace koord::scheduler
