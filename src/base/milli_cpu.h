#pragma once
#include <compare>
#include <cstdint>
#include <limits>

namespace koord {

// An amount of CPU, in thousandths of one. Beside it stand amounts in cores, in microseconds per
// period, in shares and in bytes, none of which may be taken for it.
//
// What does not fit becomes the largest or smallest amount.
class MilliCpu {
 public:
  constexpr MilliCpu() = default;
  constexpr explicit MilliCpu(int64_t value) : value_(value) {}
  static constexpr MilliCpu Max() { return MilliCpu(std::numeric_limits<int64_t>::max()); }
  static constexpr MilliCpu Min() { return MilliCpu(std::numeric_limits<int64_t>::min()); }
  // Towards zero; none at all for what is no number.
  static constexpr MilliCpu OfCores(double cores) {
    const double milli = cores * 1000;
    if (milli != milli) return MilliCpu();
    if (milli >= 0x1p63) return Max();
    if (milli < -0x1p63) return Min();
    return MilliCpu(static_cast<int64_t>(milli));
  }

  constexpr int64_t value() const { return value_; }
  constexpr double cores() const { return static_cast<double>(value_) / 1000; }

  friend constexpr MilliCpu operator+(MilliCpu a, MilliCpu b) {
    int64_t sum = 0;
    if (__builtin_add_overflow(a.value_, b.value_, &sum)) return b.value_ < 0 ? Min() : Max();
    return MilliCpu(sum);
  }
  friend constexpr MilliCpu operator-(MilliCpu a, MilliCpu b) {
    int64_t difference = 0;
    if (__builtin_sub_overflow(a.value_, b.value_, &difference)) {
      return b.value_ > 0 ? Min() : Max();
    }
    return MilliCpu(difference);
  }
  constexpr MilliCpu& operator+=(MilliCpu other) { return *this = *this + other; }
  constexpr MilliCpu& operator-=(MilliCpu other) { return *this = *this - other; }
  constexpr auto operator<=>(const MilliCpu&) const = default;

 private:
  int64_t value_ = 0;
};
static_assert(sizeof(MilliCpu) == sizeof(int64_t));

}  // namespace koord
