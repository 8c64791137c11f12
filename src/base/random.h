#pragma once
#include <cstdint>
#include <limits>

namespace koord {

// A small seeded generator (splitmix64): the same seed gives the same run everywhere.
class Random {
 public:
  using result_type = uint64_t;
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t operator()() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() { return std::numeric_limits<uint64_t>::max(); }

  // Uniform in [0, bound); bound > 0.
  uint64_t Below(uint64_t bound) { return (*this)() % bound; }
  // Uniform in [0, 1).
  double Fraction() { return static_cast<double>((*this)() >> 11) * 0x1.0p-53; }
  bool Chance(double probability) { return Fraction() < probability; }

 private:
  uint64_t state_;
};

}  // namespace koord
