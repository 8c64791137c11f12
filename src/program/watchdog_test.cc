#include "program/watchdog.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <utility>

#include "base/asio_loop.h"

namespace koord::program::watchdog_test {
namespace {

TEST(WatchdogTest, NoticesALoopThatDoesNotRun) {
  AsioLoop loop;
  std::promise<void> hung;
  const Watchdog watchdog(loop, 20ms, [&] { hung.set_value(); });
  EXPECT_EQ(hung.get_future().wait_for(30s), std::future_status::ready);
}

TEST(WatchdogTest, IsContentWithOneThatDoes) {
  constexpr Duration kLimit = 400ms;
  AsioLoop loop;
  std::atomic<bool> hung = false;
  Duration longest_gap{0};
  {
    const Watchdog watchdog(loop, kLimit, [&] { hung = true; });
    SteadyTime last = loop.clock().Steady();
    const SteadyTime end = last + 2 * kLimit;
    while (last < end) {
      loop.RunOnce(10ms);
      const SteadyTime now = loop.clock().Steady();
      longest_gap = std::max(longest_gap, now - std::exchange(last, now));
    }
  }
  // A machine that does not let the test run is a hang indeed.
  EXPECT_TRUE(!hung || longest_gap > kLimit / 2);
}

TEST(WatchdogDeathTest, EndsTheProcess) {
  EXPECT_EXIT(
      {
        AsioLoop loop;
        const Watchdog watchdog(loop, 1ms);
        std::promise<void> never;
        never.get_future().wait();
      },
      testing::ExitedWithCode(1), "event loop has not run");
}

}  // namespace
}  // namespace koord::program::watchdog_test
