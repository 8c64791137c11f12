#pragma once
#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "kube/codec.h"

namespace koord::kube {

// An amount of a resource ("500m", "1.5Gi", "2e3"), exact down to 10^-9 and never a float.
//
// Amounts of up to 38 digits are exact; sums beyond that are rounded away from zero. An amount
// remembers how it was written: a parsed one that nobody has changed prints the text it came from
// where Kubernetes would (some odd spellings like "1.500" survive), everything else prints
// canonically. Comparing looks at the value alone: 1000m equals 1.
class Quantity {
 public:
  enum class Format : uint8_t { kDecimalSi, kBinarySi, kDecimalExponent };

  Quantity() = default;  // 0
  explicit Quantity(int64_t value, Format format = Format::kDecimalSi)
      : mantissa_(value), format_(format) {}
  static Quantity FromMilli(int64_t milli, Format format = Format::kDecimalSi);
  static StatusOr<Quantity> Parse(std::string_view text);

  Quantity(const Quantity& other) { *this = other; }
  Quantity& operator=(const Quantity& other);
  Quantity(Quantity&&) = default;
  Quantity& operator=(Quantity&&) = default;

  // Whole units and thousandths, rounded away from zero. What does not fit is the largest (or
  // smallest) number.
  int64_t Value() const { return Scaled(0); }
  int64_t MilliValue() const { return Scaled(-3); }
  double ToDouble() const;
  int Sign() const { return mantissa_ > 0 ? 1 : mantissa_ < 0 ? -1 : 0; }
  bool IsZero() const { return mantissa_ == 0; }
  Format format() const { return format_; }

  std::string ToString() const;

  // The left side keeps its format, unless it is zero.
  Quantity& operator+=(const Quantity& other);
  Quantity& operator-=(const Quantity& other);
  Quantity& operator*=(int64_t factor);
  Quantity operator-() const;
  friend Quantity operator+(Quantity a, const Quantity& b) { return std::move(a += b); }
  friend Quantity operator-(Quantity a, const Quantity& b) { return std::move(a -= b); }
  friend Quantity operator*(Quantity a, int64_t factor) { return std::move(a *= factor); }
  friend std::strong_ordering operator<=>(const Quantity& a, const Quantity& b);
  friend bool operator==(const Quantity& a, const Quantity& b) {
    return (a <=> b) == std::strong_ordering::equal;
  }

 private:
  using Wide = __int128;

  int64_t Scaled(int power_of_ten) const;
  std::string CanonicalText() const;

  Wide mantissa_ = 0;  // the value is mantissa_ * 10^exponent_
  int16_t exponent_ = 0;
  Format format_ = Format::kDecimalSi;
  std::unique_ptr<const std::string> text_;  // as written, where that differs from canonical
};

template <>
struct Codec<Quantity> {
  static Status Read(JsonView in, Quantity& out);  // a string or a bare number
  static Json Write(const Quantity& value) { return Json(value.ToString()); }
};

}  // namespace koord::kube
