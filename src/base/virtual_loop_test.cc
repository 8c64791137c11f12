#include "base/virtual_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/scope.h"

namespace koord::virtual_loop_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Recorder {
  std::vector<std::string> ran;
  Task Run(std::string name) {
    return [this, name = std::move(name)] { ran.push_back(name); };
  }
};

TEST(VirtualLoop, TasksRunInTheOrderOfTheirPosting) {
  VirtualLoop loop;
  Recorder recorder;
  loop.Post([&] {
    recorder.ran.push_back("a");
    loop.Post(recorder.Run("c"));
  });
  loop.Post(recorder.Run("b"));
  EXPECT_FALSE(loop.idle());
  EXPECT_EQ(loop.RunReady(), 3u);
  EXPECT_THAT(recorder.ran, ElementsAre("a", "b", "c"));
  EXPECT_TRUE(loop.idle());
}

TEST(VirtualLoop, TimersRunByDeadlineThenByOrderOfSetting) {
  VirtualLoop loop;
  Recorder recorder;
  loop.Schedule(2s, recorder.Run("late"));
  loop.Schedule(1s, recorder.Run("first"));
  loop.Schedule(1s, recorder.Run("second"));
  loop.Advance(999ms);
  EXPECT_THAT(recorder.ran, IsEmpty());
  loop.Advance(1ms);
  EXPECT_THAT(recorder.ran, ElementsAre("first", "second"));
  loop.Advance(10s);
  EXPECT_THAT(recorder.ran, ElementsAre("first", "second", "late"));
}

TEST(VirtualLoop, EachTimerSeesItsOwnMoment) {
  VirtualLoop loop;
  std::vector<SteadyTime> moments;
  for (const Duration delay : {3s, 1s}) {
    loop.Schedule(delay, [&] {
      moments.push_back(loop.clock().Steady());
      loop.Schedule(500ms, [&] { moments.push_back(loop.clock().Steady()); });
    });
  }
  loop.Advance(10s);
  EXPECT_THAT(moments, ElementsAre(1s, 1500ms, 3s, 3500ms));
  EXPECT_EQ(loop.clock().Steady(), 10s);
  EXPECT_EQ(loop.clock().Now(), VirtualLoop::kStart + 10s);
}

TEST(VirtualLoop, CancelledTimersDoNotRun) {
  VirtualLoop loop;
  Recorder recorder;
  const auto id = loop.Schedule(1s, recorder.Run("never"));
  const auto other = loop.Schedule(1s, recorder.Run("kept"));
  loop.Cancel(id);
  loop.Cancel(id);
  loop.Advance(2s);
  loop.Cancel(other);
  EXPECT_THAT(recorder.ran, ElementsAre("kept"));
}

TEST(VirtualLoop, NegativeDelaysAreDueAtOnce) {
  VirtualLoop loop;
  Recorder recorder;
  loop.Schedule(-5s, recorder.Run("now"));
  loop.RunReady();
  EXPECT_THAT(recorder.ran, ElementsAre("now"));
  EXPECT_EQ(loop.clock().Steady(), 0s);
}

TEST(VirtualLoop, RunUntilStopsAtTheConditionOrTheHorizon) {
  VirtualLoop loop;
  int ticks = 0;
  std::function<void()> tick = [&] {
    ++ticks;
    loop.Schedule(1s, [&] { tick(); });
  };
  tick();
  EXPECT_TRUE(loop.RunUntil([&] { return ticks == 5; }));
  EXPECT_EQ(loop.clock().Steady(), 4s);
  EXPECT_FALSE(loop.RunUntil([&] { return ticks == 1000; }, 10s));
  EXPECT_EQ(ticks, 15);
}

TEST(VirtualLoop, ALivelockEnds) {
  VirtualLoop loop;
  std::function<void()> again = [&] { loop.Post([&] { again(); }); };
  again();
  EXPECT_EQ(loop.RunReady(1000), 1000u);
}

TEST(VirtualLoop, TheWallClockJumpsAlone) {
  VirtualLoop loop;
  loop.JumpWallClock(1h);
  EXPECT_EQ(loop.clock().Now(), VirtualLoop::kStart + 1h);
  EXPECT_EQ(loop.clock().Steady(), 0s);
}

TEST(Timer, IsReplacedBySettingItAgain) {
  VirtualLoop loop;
  Recorder recorder;
  Timer timer(loop);
  timer.Set(1s, recorder.Run("old"));
  timer.Set(2s, recorder.Run("new"));
  EXPECT_TRUE(timer.pending());
  loop.Advance(5s);
  EXPECT_FALSE(timer.pending());
  EXPECT_THAT(recorder.ran, ElementsAre("new"));
}

TEST(Timer, MayBeSetFromItsOwnTask) {
  VirtualLoop loop;
  Timer timer(loop);
  int runs = 0;
  std::function<void()> again = [&] {
    if (++runs < 3) timer.Set(1s, [&] { again(); });
  };
  timer.Set(1s, [&] { again(); });
  loop.Advance(10s);
  EXPECT_EQ(runs, 3);
}

TEST(Timer, DiesWithItsOwner) {
  VirtualLoop loop;
  Recorder recorder;
  {
    Timer timer(loop);
    timer.Set(1s, recorder.Run("never"));
  }
  loop.Advance(5s);
  EXPECT_THAT(recorder.ran, IsEmpty());
}

TEST(Scope, SilencesCallbacksOfTheDead) {
  int calls = 0;
  auto scope = std::make_unique<Scope>();
  auto callback = scope->Wrap([&](int by) { calls += by; });
  callback(1);
  scope.reset();
  callback(1);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace koord::virtual_loop_test
