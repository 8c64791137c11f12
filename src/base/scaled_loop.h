#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/event_loop.h"

namespace koord {

// Another loop's time, run faster or slower: at speed 60 a minute passes every second. Tasks still
// run on the loop below; only clocks and delays are scaled.
//
// Time that runs faster waits for those who cannot keep up: it does not pass the moment of a timer
// that has not run yet. On a machine that is busy with other things it so passes more slowly,
// instead of making time-outs strike that have nothing to do with what they guard.
//
// A timer may be late by a hundredth of its delay, at most by a quarter of a second: timers that
// would be due at nearly the same moments run together, at one awakening.
class ScaledLoop final : public EventLoop {
 public:
  // speed > 0; `start` is the date that it begins with.
  ScaledLoop(EventLoop& real, double speed, WallTime start);
  ScaledLoop(EventLoop& real, double speed) : ScaledLoop(real, speed, real.clock().Now()) {}

  // From now on; pending timers follow.
  void SetSpeed(double speed);

  const Clock& clock() const override { return clock_; }
  void Post(Task task) override { real_.Post(std::move(task)); }
  TimerId Schedule(Duration delay, Task task) override;
  void Cancel(TimerId id) override;

 private:
  class ScaledClock final : public Clock {
   public:
    ScaledClock(const Clock& real, double speed, WallTime start)
        : real_(real), speed_(speed), start_(start), since_(real.Steady()), steady_(since_) {}
    // Both clocks follow the steady one, so that a jump of the machine's date is not magnified.
    WallTime Now() const override { return start_ + Elapsed(); }
    SteadyTime Steady() const override { return steady_ + Elapsed(); }
    double speed() const { return speed_; }
    void SetSpeed(double speed);

    std::optional<SteadyTime> first_due;  // the moment of the next timer

   private:
    Duration Elapsed() const;

    const Clock& real_;
    double speed_;
    WallTime start_;
    SteadyTime since_;          // of the loop below, when it went at this speed
    SteadyTime steady_;         // ours at that moment
    mutable Duration lost_{0};  // by waiting
    mutable Duration last_{0};  // what was last told: time does not go back
  };

  using Deadline = std::pair<SteadyTime, TimerId>;

  // All timers share one of the loop below: that of the first.
  void Arm();
  void Fire();
  void OnTimersChanged();

  EventLoop& real_;
  ScaledClock clock_;
  std::map<Deadline, Task> timers_;
  std::unordered_map<TimerId, SteadyTime> deadlines_;
  TimerId next_ = 1;
  std::optional<SteadyTime> armed_for_;  // the moment for which `below_` is set
  bool firing_ = false;
  Timer below_;
};

}  // namespace koord
