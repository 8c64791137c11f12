#include "localcluster/assembly/kept_date.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/scaled_loop.h"
#include "base/virtual_loop.h"

namespace koord::localcluster::kept_date_test {
namespace {

class KeptDateTest : public testing::Test {
 protected:
  KeptDateTest() { std::filesystem::remove(file_); }
  ~KeptDateTest() override { std::filesystem::remove(file_); }

  // As a program that runs for a while; one that is killed does not stop.
  WallTime Run(Duration real, bool killed) {
    KeptDate date(loop_, file_);
    ScaledLoop fast(loop_, 60, date.Start());
    date.Follow(fast.clock(), 60);
    loop_.Advance(real);
    const WallTime end = fast.clock().Now();
    if (!killed) date.Stop();
    return end;
  }

  VirtualLoop loop_;
  const std::string file_ = testing::TempDir() + "kept_date_test." + std::to_string(getpid());
};

TEST_F(KeptDateTest, StartsToday) {
  EXPECT_EQ(KeptDate(loop_, file_).Start(), loop_.clock().Now());
}

TEST_F(KeptDateTest, GoesOnWhereItStopped) {
  const WallTime end = Run(10min, false);
  EXPECT_EQ(KeptDate(loop_, file_).Start(), std::chrono::floor<std::chrono::seconds>(end));
}

TEST_F(KeptDateTest, NeverGoesBackAlsoWhenKilled) {
  const WallTime end = Run(10min + 3s, true);
  const WallTime next = KeptDate(loop_, file_).Start();
  EXPECT_GE(next, end);
  EXPECT_LT(next, end + 10min);
}

TEST_F(KeptDateTest, IsTodayOnceTodayIsLater) {
  Run(1min, false);
  loop_.Advance(2h);
  EXPECT_EQ(KeptDate(loop_, file_).Start(), loop_.clock().Now());
}

TEST_F(KeptDateTest, IsTodayWhereTheFileMakesNoSense) {
  std::ofstream(file_) << "yesterday\n";
  EXPECT_EQ(KeptDate(loop_, file_).Start(), loop_.clock().Now());
}

}  // namespace
}  // namespace koord::localcluster::kept_date_test
