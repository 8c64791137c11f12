#pragma once
#include <chrono>

namespace koord {

using Duration = std::chrono::nanoseconds;
using namespace std::chrono_literals;

// Time of day, for people: timestamps, log lines, lease records. May jump.
using WallTime = std::chrono::sys_time<Duration>;

// Time since an arbitrary start, for durations and deadlines. Never jumps, never goes back.
using SteadyTime = Duration;

// The only source of time. Nothing outside base/ asks the system.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual WallTime Now() const = 0;
  virtual SteadyTime Steady() const = 0;
};

// The machine's own clocks.
class SystemClock final : public Clock {
 public:
  WallTime Now() const override { return std::chrono::system_clock::now(); }
  SteadyTime Steady() const override { return std::chrono::steady_clock::now().time_since_epoch(); }
};

}  // namespace koord
