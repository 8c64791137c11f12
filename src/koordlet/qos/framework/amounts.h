#pragma once
#include <cstdint>
#include <limits>

#include "base/milli_cpu.h"

// Arithmetic on numbers that users write: what does not fit becomes the largest or smallest number.
namespace koord::koordlet {

constexpr int64_t Saturate(__int128 value) {
  constexpr __int128 kMax = std::numeric_limits<int64_t>::max();
  constexpr __int128 kMin = std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value > kMax ? kMax : value < kMin ? kMin : value);
}

// factor * numerator / denominator, towards zero.
constexpr int64_t Scale(int64_t amount, int64_t numerator, int64_t denominator) {
  return Saturate(static_cast<__int128>(amount) * numerator / denominator);
}

constexpr int64_t PercentOf(int64_t amount, int64_t percent) { return Scale(amount, percent, 100); }
constexpr MilliCpu PercentOf(MilliCpu cpu, int64_t percent) {
  return MilliCpu(PercentOf(cpu.value(), percent));
}

constexpr int64_t Plus(int64_t a, int64_t b) { return Saturate(static_cast<__int128>(a) + b); }
constexpr int64_t Minus(int64_t a, int64_t b) { return Saturate(static_cast<__int128>(a) - b); }

// Towards zero; 0 for what is no number.
constexpr int64_t Truncate(double value) {
  if (value != value) return 0;
  if (value >= 0x1p63) return std::numeric_limits<int64_t>::max();
  if (value < -0x1p63) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value);
}

constexpr int64_t CeilDivide(int64_t a, int64_t b) {  // b > 0
  return a / b + (a % b > 0 ? 1 : 0);
}

}  // namespace koord::koordlet
