#pragma once
#include <utility>

#include "base/event_loop.h"

namespace koord {

// Another loop's time, run faster: at speed 60 a minute passes every second. Tasks still run on the
// loop below; only clocks and delays are scaled.
class ScaledLoop final : public EventLoop {
 public:
  // speed > 0; `start` is the date that it begins with.
  ScaledLoop(EventLoop& real, double speed, WallTime start)
      : real_(real), clock_(real.clock(), speed, start) {}
  ScaledLoop(EventLoop& real, double speed) : ScaledLoop(real, speed, real.clock().Now()) {}

  const Clock& clock() const override { return clock_; }
  void Post(Task task) override { real_.Post(std::move(task)); }
  TimerId Schedule(Duration delay, Task task) override {
    const double scaled = static_cast<double>(delay.count()) / clock_.speed;
    return real_.Schedule(Duration(static_cast<int64_t>(scaled)), std::move(task));
  }
  void Cancel(TimerId id) override { real_.Cancel(id); }

 private:
  struct ScaledClock final : Clock {
    ScaledClock(const Clock& real, double speed, WallTime start)
        : real(real), speed(speed), start(start), steady_start(real.Steady()) {}
    // Both clocks follow the steady one, so that a jump of the machine's date is not magnified.
    WallTime Now() const override { return start + Elapsed(); }
    SteadyTime Steady() const override { return steady_start + Elapsed(); }
    Duration Elapsed() const {
      const auto elapsed = static_cast<double>((real.Steady() - steady_start).count());
      return Duration(static_cast<int64_t>(elapsed * speed));
    }
    const Clock& real;
    const double speed;
    const WallTime start;
    const SteadyTime steady_start;
  };

  EventLoop& real_;
  ScaledClock clock_;
};

}  // namespace koord
