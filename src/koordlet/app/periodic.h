#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "base/event_loop.h"

namespace koord::koordlet {

// Runs things again and again, each at its own pace. Those of the same pace run one after the other
// in the order in which they were added, from a single timer.
class Periodic {
 public:
  explicit Periodic(EventLoop& loop) : loop_(loop) {}

  // The first time after one interval.
  void Add(Duration interval, std::function<void()> run) {
    for (const auto& pace : paces_) {
      if (pace->interval != interval) continue;
      pace->runs.push_back(std::move(run));
      return;
    }
    paces_.push_back(std::make_unique<Pace>(loop_, interval));
    paces_.back()->runs.push_back(std::move(run));
    Set(*paces_.back());
  }
  void Clear() { paces_.clear(); }

 private:
  struct Pace {
    Pace(EventLoop& loop, Duration interval)
        : interval(interval), next(loop.clock().Steady() + interval), timer(loop) {}
    const Duration interval;
    SteadyTime next;
    Timer timer;
    std::vector<std::function<void()>> runs;
  };

  // Keeps to the beat; what was missed while the loop was busy is not made up for.
  void Set(Pace& pace) {
    const SteadyTime now = loop_.clock().Steady();
    if (pace.next < now) pace.next = now;
    pace.timer.Set(pace.next - now, [this, &pace] {
      pace.next += pace.interval;
      Set(pace);
      // A run may add others, but never removes any.
      for (size_t i = 0; i < pace.runs.size(); ++i) pace.runs[i]();
    });
  }

  EventLoop& loop_;
  std::vector<std::unique_ptr<Pace>> paces_;
};

}  // namespace koord::koordlet
