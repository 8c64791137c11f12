#pragma once
#include <deque>
#include <map>
#include <utility>

#include "base/event_loop.h"

namespace koord {

// An event loop on virtual time. Deterministic: tasks run in the order in which they were posted,
// timers in the order of their deadlines (then of their setting), and nothing ever waits.
class VirtualLoop final : public EventLoop {
 public:
  // Tests see the same dates in every run.
  static constexpr WallTime kStart{std::chrono::sys_days{std::chrono::year{2026} / 7 / 1}};

  explicit VirtualLoop(WallTime start = kStart) : clock_(start) {}

  const Clock& clock() const override { return clock_; }
  void Post(Task task) override { ready_.push_back(std::move(task)); }
  TimerId Schedule(Duration delay, Task task) override;
  void Cancel(TimerId id) override;

  // Runs what is due now, and what that posts, until nothing is. Time stands still. Returns the
  // number of tasks run; stops at `limit` so that a livelock fails a test instead of hanging it.
  size_t RunReady(size_t limit = 10'000'000);

  // Lets `span` pass, running every timer at its own moment.
  void Advance(Duration span);

  // Lets `span` pass without running anything, as on a machine that is busy elsewhere: timers that
  // were due meanwhile run late, all at the same moment.
  void Stall(Duration span) { clock_.steady += span; }

  // Advances to the next timer that is due within `horizon` and runs it. False if there is none.
  bool Step(Duration horizon);

  // Advances until `done` holds; false if it does not within `horizon`.
  template <class Predicate>
  bool RunUntil(Predicate done, Duration horizon = std::chrono::hours(1)) {
    const SteadyTime end = clock_.Steady() + horizon;
    RunReady();
    while (!done()) {
      if (!Step(end - clock_.Steady())) return false;
    }
    return true;
  }

  // Moves the wall clock only, as NTP or an administrator would.
  void JumpWallClock(Duration by) { clock_.skew += by; }

  bool idle() const { return ready_.empty(); }

 private:
  struct VirtualClock final : Clock {
    explicit VirtualClock(WallTime start) : start(start) {}
    WallTime Now() const override { return start + steady + skew; }
    SteadyTime Steady() const override { return steady; }
    WallTime start;
    Duration skew{0};
    SteadyTime steady{0};
  };
  using Deadline = std::pair<SteadyTime, TimerId>;

  VirtualClock clock_;
  std::deque<Task> ready_;
  std::map<Deadline, Task> timers_;
  std::map<TimerId, SteadyTime> deadlines_;
  TimerId next_id_ = 1;
};

}  // namespace koord
