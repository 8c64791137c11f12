#include "base/scaled_loop.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace koord {
namespace {

// How late a timer may be: a 128th of its delay, and no more than a quarter of a second.
Duration SlackOf(Duration delay) {
  constexpr int64_t kMost = int64_t{1} << 28;
  const auto most = static_cast<uint64_t>(std::clamp<int64_t>(delay.count() / 128, 1, kMost));
  return Duration(static_cast<int64_t>(std::bit_floor(most)));
}

// The first multiple of the unit, a power of two, that is not before `time`.
SteadyTime RoundUp(SteadyTime time, Duration unit) {
  return SteadyTime((time.count() + unit.count() - 1) & ~(unit.count() - 1));
}

}  // namespace

ScaledLoop::ScaledLoop(EventLoop& real, double speed, WallTime start)
    : real_(real), clock_(real.clock(), speed, start), below_(real) {}

Duration ScaledLoop::ScaledClock::Elapsed() const {
  const auto real = static_cast<double>((real_.Steady() - since_).count());
  Duration elapsed = Duration(static_cast<int64_t>(real * speed_)) - lost_;
  if (speed_ > 1 && first_due) {
    const Duration most = std::max<Duration>(*first_due - steady_, last_);
    if (elapsed > most) {
      lost_ += elapsed - most;
      elapsed = most;
    }
  }
  last_ = elapsed;
  return elapsed;
}

void ScaledLoop::ScaledClock::SetSpeed(double speed) {
  const Duration elapsed = Elapsed();
  start_ += elapsed;
  steady_ += elapsed;
  since_ = real_.Steady();
  lost_ = last_ = Duration(0);
  speed_ = speed;
}

void ScaledLoop::SetSpeed(double speed) {
  clock_.SetSpeed(speed);
  armed_for_.reset();
  Arm();
}

EventLoop::TimerId ScaledLoop::Schedule(Duration delay, Task task) {
  const TimerId id = next_++;
  const SteadyTime due = RoundUp(clock_.Steady() + delay, SlackOf(delay));
  timers_.emplace(Deadline{due, id}, std::move(task));
  deadlines_.emplace(id, due);
  OnTimersChanged();
  return id;
}

void ScaledLoop::Cancel(TimerId id) {
  const auto found = deadlines_.find(id);
  if (found == deadlines_.end()) return;
  timers_.erase({found->second, id});
  deadlines_.erase(found);
  OnTimersChanged();
}

void ScaledLoop::OnTimersChanged() {
  clock_.first_due.reset();
  if (!timers_.empty()) clock_.first_due = timers_.begin()->first.first;
  if (!firing_) Arm();
}

void ScaledLoop::Arm() {
  if (!clock_.first_due) {
    armed_for_.reset();
    return below_.Cancel();
  }
  // One that comes too early, for a timer that was cancelled, arms itself anew.
  if (armed_for_ && *armed_for_ <= *clock_.first_due) return;
  armed_for_ = clock_.first_due;
  const auto left = static_cast<double>((*armed_for_ - clock_.Steady()).count());
  // Rounded up, so that it does not come a moment too early.
  const auto delay = static_cast<int64_t>(std::max(left, 0.0) / clock_.speed()) + 1;
  below_.Set(Duration(delay), [this] { Fire(); });
}

// Whatever is due together runs together. What that sets anew has to wait for its turn.
void ScaledLoop::Fire() {
  armed_for_.reset();
  firing_ = true;
  const SteadyTime now = clock_.Steady();
  const TimerId first_new = next_;
  while (!timers_.empty() && timers_.begin()->first <= Deadline{now, first_new - 1}) {
    auto timer = timers_.extract(timers_.begin());
    deadlines_.erase(timer.key().second);
    OnTimersChanged();
    timer.mapped()();
  }
  firing_ = false;
  Arm();
}

}  // namespace koord
