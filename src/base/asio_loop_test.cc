#include "base/asio_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace koord::asio_loop_test {
namespace {

using testing::ElementsAre;

TEST(AsioLoop, RunsTasksAndTimersInOrder) {
  AsioLoop loop;
  std::vector<std::string> ran;
  loop.Schedule(2ms, [&] {
    ran.push_back("late");
    loop.Stop();
  });
  loop.Schedule(0ms, [&] { ran.push_back("timer"); });
  loop.Post([&] {
    ran.push_back("task");
    loop.Post([&] { ran.push_back("posted"); });
  });
  loop.Run();
  ASSERT_EQ(ran.size(), 4u);
  EXPECT_EQ(ran.back(), "late");
  EXPECT_LT(std::find(ran.begin(), ran.end(), "task"), std::find(ran.begin(), ran.end(), "posted"));
}

TEST(AsioLoop, CancelledTimersDoNotRun) {
  AsioLoop loop;
  bool ran = false;
  const auto before = loop.Schedule(0ms, [&] { ran = true; });
  loop.Cancel(before);
  // One that is due at the same time as the task that cancels it.
  EventLoop::TimerId due = 0;
  loop.Schedule(1ms, [&] { loop.Cancel(due); });
  due = loop.Schedule(1ms, [&] { ran = true; });
  loop.Schedule(3ms, [&] { loop.Stop(); });
  loop.Run();
  EXPECT_FALSE(ran);
}

TEST(AsioLoop, RunsAgainAfterAStop) {
  AsioLoop loop;
  std::vector<int> ran;
  for (int round : {1, 2}) {
    loop.Post([&, round] {
      ran.push_back(round);
      loop.Stop();
    });
    loop.Run();
  }
  EXPECT_THAT(ran, ElementsAre(1, 2));
}

TEST(AsioLoop, TakesTasksFromOtherThreads) {
  AsioLoop loop;
  const auto loop_thread = std::this_thread::get_id();
  std::thread::id ran_on;
  std::thread other([&] {
    loop.Post([&] {
      ran_on = std::this_thread::get_id();
      loop.Stop();
    });
  });
  loop.Run();
  other.join();
  EXPECT_EQ(ran_on, loop_thread);
}

}  // namespace
}  // namespace koord::asio_loop_test
