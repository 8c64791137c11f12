#include "base/scaled_loop.h"

#include <gmock/gmock.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/virtual_loop.h"

namespace koord::scaled_loop_test {
namespace {

using testing::ElementsAre;

// A loop that is not asked for a while: what has become due runs late, in order.
class LateLoop final : public EventLoop {
 public:
  const Clock& clock() const override { return clock_; }
  void Post(Task task) override { Schedule(Duration(0), std::move(task)); }
  TimerId Schedule(Duration delay, Task task) override {
    timers_.emplace(std::pair(clock_.now + delay, next_), std::move(task));
    return next_++;
  }
  void Cancel(TimerId id) override {
    std::erase_if(timers_, [&](const auto& timer) { return timer.first.second == id; });
  }

  // Nothing runs for so long, then all that has become due.
  void Stall(Duration span) {
    clock_.now += span;
    while (!timers_.empty() && timers_.begin()->first.first <= clock_.now) {
      Task task = std::move(timers_.extract(timers_.begin()).mapped());
      task();
    }
  }

 private:
  struct LateClock final : Clock {
    WallTime Now() const override { return WallTime(now); }
    SteadyTime Steady() const override { return now; }
    SteadyTime now{std::chrono::hours(1)};
  };
  LateClock clock_;
  std::map<std::pair<SteadyTime, TimerId>, Task> timers_;
  TimerId next_ = 1;
};

TEST(ScaledLoop, TimePassesFasterAndTimersWithIt) {
  VirtualLoop real;
  ScaledLoop loop(real, 60);
  const WallTime start = loop.clock().Now();
  int fired = 0;
  loop.Schedule(10min, [&] { ++fired; });
  real.Advance(9900ms);
  EXPECT_EQ(fired, 0);
  real.Advance(200ms);
  EXPECT_EQ(fired, 1);
  real.Advance(49900ms);
  EXPECT_NEAR(std::chrono::duration<double>(loop.clock().Now() - start).count(), 3600, 0.01);
}

TEST(ScaledLoop, StartsAtTheDateGiven) {
  VirtualLoop real;
  const WallTime date = real.clock().Now() + 48h;
  EXPECT_EQ(ScaledLoop(real, 60, date).clock().Now(), date);
}

TEST(ScaledLoop, TimersFollowWhenTheSpeedChanges) {
  VirtualLoop real;
  ScaledLoop loop(real, 1);
  const WallTime start = loop.clock().Now();
  int fired = 0;
  loop.Schedule(10min, [&] { ++fired; });
  real.Advance(4min);
  loop.SetSpeed(60);
  real.Advance(5900ms);
  EXPECT_EQ(fired, 0);
  real.Advance(200ms);
  EXPECT_EQ(fired, 1);
  EXPECT_NEAR(std::chrono::duration<double>(loop.clock().Now() - start).count(), 606, 0.1);
}

TEST(ScaledLoop, CancelledTimersDoNotRun) {
  VirtualLoop real;
  ScaledLoop loop(real, 60);
  loop.Cancel(loop.Schedule(1min, [] { FAIL(); }));
  real.Advance(1min);
}

TEST(ScaledLoop, TimersRunInTheOrderOfTheirMomentsWhateverIsSetAndCancelledMeanwhile) {
  VirtualLoop real;
  ScaledLoop loop(real, 60);
  std::vector<std::string> order;
  const auto note = [&](std::string name) {
    return [&order, name = std::move(name)] { order.push_back(name); };
  };
  const auto first = loop.Schedule(1min, note("cancelled before"));
  loop.Schedule(3min, note("third"));
  EventLoop::TimerId same = 0;
  loop.Schedule(2min, [&] {
    order.emplace_back("second");
    loop.Cancel(same);
    loop.Schedule(Duration(0), note("set by the second"));
    loop.Schedule(30s, note("before the third"));
  });
  same = loop.Schedule(2min, note("cancelled by its neighbour"));
  loop.Schedule(90s, note("first"));
  loop.Cancel(first);
  real.Advance(4s);
  EXPECT_THAT(order,
              ElementsAre("first", "second", "set by the second", "before the third", "third"));
}

TEST(ScaledLoop, ATimerThatSetsItselfAgainAtOnceLetsOthersRun) {
  VirtualLoop real;
  ScaledLoop loop(real, 1);
  bool other = false;
  std::function<void()> again = [&] {
    if (!other) loop.Schedule(Duration(0), [&] { again(); });
  };
  again();
  loop.Schedule(Duration(0), [&] { loop.Post([&] { other = true; }); });
  real.Advance(1s);
  EXPECT_TRUE(other);
}

TEST(ScaledLoop, TimeWaitsForThoseWhoCannotKeepUp) {
  LateLoop real;
  ScaledLoop loop(real, 240);
  std::vector<std::string> order;
  bool answered = false;
  loop.Schedule(5s, [&] { loop.Post([&] { answered = true; }); });
  loop.Schedule(30s, [&] { order.emplace_back(answered ? "answered" : "timed out"); });
  const SteadyTime start = loop.clock().Steady();
  real.Stall(2s);  // eight minutes, in which both have become due
  EXPECT_THAT(order, ElementsAre());
  EXPECT_LT(loop.clock().Steady() - start, Duration(30s));
  for (int i = 0; i < 200; ++i) real.Stall(1ms);
  EXPECT_THAT(order, ElementsAre("answered"));
}

TEST(ScaledLoop, WhatIsDueAtNearlyTheSameMomentRunsTogether) {
  VirtualLoop real;
  ScaledLoop loop(real, 1);
  std::set<SteadyTime> moments;
  for (int i = 0; i < 50; ++i) {
    const SteadyTime due = loop.clock().Steady() + Duration(15s);
    loop.Schedule(15s, [&, due] {
      const SteadyTime now = loop.clock().Steady();
      EXPECT_GE(now, due);
      EXPECT_LE(now - due, Duration(150ms));
      moments.insert(now);
    });
    real.Advance(1ms);
  }
  real.Advance(16s);
  EXPECT_THAT(moments.size(), testing::AllOf(testing::Ge(1u), testing::Le(2u)));
}

TEST(ScaledLoop, LongTimersAreExactToAQuarterOfASecondAndShortOnesToAHundredth) {
  VirtualLoop real;
  ScaledLoop loop(real, 1);
  for (const Duration delay : {Duration(1h), Duration(10ms)}) {
    bool fired = false;
    const SteadyTime due = loop.clock().Steady() + delay;
    loop.Schedule(delay, [&] { fired = true; });
    real.Advance(delay - Duration(1us));
    EXPECT_FALSE(fired);
    real.Advance(std::min<Duration>(delay / 100, 270ms) + Duration(1us));
    EXPECT_TRUE(fired) << due.count();
  }
}

TEST(ScaledLoop, AtTheSpeedOfTheWorldItFollowsTheWorld) {
  LateLoop real;
  ScaledLoop loop(real, 1);
  const WallTime start = loop.clock().Now();
  loop.Schedule(1s, [] {});
  real.Stall(1min);
  EXPECT_EQ(loop.clock().Now() - start, Duration(1min));
}

}  // namespace
}  // namespace koord::scaled_loop_test
