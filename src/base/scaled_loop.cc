#include "base/scaled_loop.h"

#include <algorithm>
#include <utility>

namespace koord {

ScaledLoop::ScaledLoop(EventLoop& real, double speed, WallTime start)
    : real_(real), clock_(real.clock(), speed, start) {}

ScaledLoop::~ScaledLoop() {
  for (const auto& [id, pending] : pending_) real_.Cancel(pending.below);
}

Duration ScaledLoop::ScaledClock::Elapsed() const {
  const auto real = static_cast<double>((real_.Steady() - since_).count());
  Duration elapsed = Duration(static_cast<int64_t>(real * speed_)) - lost_;
  if (speed_ > 1 && !due.empty()) {
    const Duration most = std::max<Duration>(*due.begin() - steady_, last_);
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
  for (auto& [id, pending] : pending_) {
    real_.Cancel(pending.below);
    Arm(id, pending);
  }
}

EventLoop::TimerId ScaledLoop::Schedule(Duration delay, Task task) {
  const TimerId id = next_++;
  Pending& pending = pending_[id];
  pending.due = clock_.Steady() + delay;
  pending.task = std::move(task);
  clock_.due.insert(pending.due);
  Arm(id, pending);
  return id;
}

void ScaledLoop::Arm(TimerId id, Pending& pending) {
  const auto left = static_cast<double>((pending.due - clock_.Steady()).count());
  // Rounded up, so that it does not come a moment too early.
  const auto delay = static_cast<int64_t>(std::max(left, 0.0) / clock_.speed()) + 1;
  pending.below = real_.Schedule(Duration(delay), [this, id] { Fire(id); });
}

void ScaledLoop::Fire(TimerId id) {
  const auto found = pending_.find(id);
  if (found == pending_.end()) return;
  // Time had to wait for somebody else since this was armed.
  if (clock_.Steady() < found->second.due) return Arm(id, found->second);
  Task task = std::move(found->second.task);
  Forget(found);
  task();
}

void ScaledLoop::Cancel(TimerId id) {
  const auto found = pending_.find(id);
  if (found == pending_.end()) return;
  real_.Cancel(found->second.below);
  Forget(found);
}

void ScaledLoop::Forget(std::map<TimerId, Pending>::iterator timer) {
  clock_.due.erase(clock_.due.find(timer->second.due));
  pending_.erase(timer);
}

}  // namespace koord
