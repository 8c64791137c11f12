#pragma once
#include <absl/functional/any_invocable.h>

#include <cstdint>
#include <utility>

#include "base/clock.h"

namespace koord {

using Task = absl::AnyInvocable<void()>;

// One thread that runs tasks one after the other: all of a program's reconcilers and I/O callbacks.
//
// Real programs run an AsioLoop; tests and simulations a VirtualLoop, on which time passes only
// when the test says so and the order of tasks is the same in every run. Only Post may be called
// from another thread.
class EventLoop {
 public:
  using TimerId = uint64_t;

  virtual ~EventLoop() = default;
  virtual const Clock& clock() const = 0;

  // Runs `task` after everything that is already queued; never inside this call.
  virtual void Post(Task task) = 0;

  // Runs `task` once, `delay` from now. Prefer Timer, which cannot outlive its owner.
  virtual TimerId Schedule(Duration delay, Task task) = 0;
  virtual void Cancel(TimerId id) = 0;
};

// A timer that is cancelled with its owner. Setting it again replaces what was pending.
class Timer {
 public:
  explicit Timer(EventLoop& loop) : loop_(loop) {}
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer() { Cancel(); }

  void Set(Duration delay, Task task) {
    Cancel();
    pending_ = true;
    id_ = loop_.Schedule(delay, [this, task = std::move(task)]() mutable {
      pending_ = false;
      Task run = std::move(task);
      run();
    });
  }
  void Cancel() {
    if (std::exchange(pending_, false)) loop_.Cancel(id_);
  }
  bool pending() const { return pending_; }

 private:
  EventLoop& loop_;
  EventLoop::TimerId id_ = 0;
  bool pending_ = false;
};

}  // namespace koord
