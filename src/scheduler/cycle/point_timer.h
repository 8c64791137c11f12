#pragma once
#include "base/clock.h"
#include "scheduler/cycle/attempt_observer.h"

namespace koord::scheduler {

// Tells the observer how long each part of an attempt took: one begins where the last one ended.
class PointTimer {
 public:
  PointTimer(const Clock& clock, AttemptObserver& observer) : clock_(clock), observer_(observer) {}

  const Clock& clock() const { return clock_; }
  AttemptObserver& observer() const { return observer_; }

  // Something else took the time until now.
  void Restart(Attempt& attempt) const { attempt.point_started = clock_.Steady(); }
  void End(CyclePoint point, Attempt& attempt, Code code) const {
    const SteadyTime now = clock_.Steady();
    observer_.OnPoint(point, attempt, code, now - attempt.point_started);
    attempt.point_started = now;
  }

 private:
  const Clock& clock_;
  AttemptObserver& observer_;
};

}  // namespace koord::scheduler
