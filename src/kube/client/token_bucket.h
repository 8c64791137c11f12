#pragma once
#include <algorithm>

#include "base/clock.h"

namespace koord::kube {

// Limits a rate: `burst` at once, then `rate` a second. A rate of zero is no limit.
class TokenBucket {
 public:
  TokenBucket(const Clock& clock, double rate, double burst)
      : clock_(clock), rate_(rate), burst_(burst), tokens_(burst), updated_(clock.Steady()) {}

  // Takes a token, if need be one of the future, and tells how long to wait for it. Callers are
  // served in the order in which they asked.
  Duration Reserve() {
    if (rate_ <= 0) return Duration::zero();
    Refill();
    tokens_ -= 1;
    if (tokens_ >= 0) return Duration::zero();
    return std::chrono::ceil<Duration>(std::chrono::duration<double>(-tokens_ / rate_));
  }

  // Takes a token if there is one now.
  bool TryTake() {
    if (rate_ <= 0) return true;
    Refill();
    if (tokens_ < 1) return false;
    tokens_ -= 1;
    return true;
  }

 private:
  void Refill() {
    const SteadyTime now = clock_.Steady();
    const double seconds = std::chrono::duration<double>(now - updated_).count();
    tokens_ = std::min(burst_, tokens_ + seconds * rate_);
    updated_ = now;
  }

  const Clock& clock_;
  double rate_;
  double burst_;
  double tokens_;
  SteadyTime updated_;
};

}  // namespace koord::kube
