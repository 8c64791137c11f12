#pragma once
#include <algorithm>
#include <compare>
#include <cstdint>

namespace koord::koordlet {

// A bound of the kernel that may be absent. Unlimited is more than any number; it is -1 or "max" in
// files only, so that nobody calculates with it.
class Limit {
 public:
  static constexpr Limit Unlimited() { return Limit(INT64_MAX, true); }
  static constexpr Limit Of(int64_t value) { return Limit(value, false); }

  constexpr bool unlimited() const { return unlimited_; }
  constexpr int64_t value() const { return value_; }  // INT64_MAX where unlimited

  constexpr std::strong_ordering operator<=>(const Limit& other) const {
    return value_ <=> other.value_;
  }
  constexpr bool operator==(const Limit& other) const { return value_ == other.value_; }

 private:
  constexpr Limit(int64_t value, bool unlimited) : value_(value), unlimited_(unlimited) {}

  int64_t value_;
  bool unlimited_;
};

}  // namespace koord::koordlet
