#pragma once
#include <algorithm>

#include "base/clock.h"
#include "base/random.h"

namespace koord::kube {

// Pauses between attempts against a server in trouble: doubling from 0.8 s to a maximum, each
// stretched by a random factor of 1 to 2 so that clients which failed together do not return
// together. Two minutes without a failure start it over.
class Backoff {
 public:
  // For a server that answers, with errors: it is spared.
  static constexpr Duration kMaximum = std::chrono::seconds(30);
  // For one that does not answer at all: trying costs it nothing, and its return is waited for.
  static constexpr Duration kMaximumUnanswered = std::chrono::seconds(5);

  Backoff(const Clock& clock, uint64_t seed) : clock_(clock), random_(seed) {}

  Duration Next(Duration maximum = kMaximum) {
    const SteadyTime now = clock_.Steady();
    if (now - last_ > kReset) base_ = kInitial;
    last_ = now;
    const double stretch = 1.0 + random_.Fraction();
    const auto pause = std::chrono::duration_cast<Duration>(std::min(base_, maximum) * stretch);
    base_ = std::min(base_ * 2, maximum);
    return pause;
  }

 private:
  static constexpr Duration kInitial = std::chrono::milliseconds(800);
  static constexpr Duration kReset = std::chrono::minutes(2);

  const Clock& clock_;
  Random random_;
  Duration base_ = kInitial;
  SteadyTime last_{0};
};

}  // namespace koord::kube
