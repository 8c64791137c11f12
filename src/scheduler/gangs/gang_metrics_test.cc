#include "scheduler/gangs/gang_metrics.h"

#include <gtest/gtest.h>

namespace koord::scheduler::gang_metrics_test {
namespace {

TEST(GangMetricsTest, SizesAreInSteps) {
  EXPECT_EQ(JobSizeOf(0), "0");
  EXPECT_EQ(JobSizeOf(1), "1-100");
  EXPECT_EQ(JobSizeOf(100), "1-100");
  EXPECT_EQ(JobSizeOf(101), "101-200");
  EXPECT_EQ(JobSizeOf(1000), "901-1000");
  EXPECT_EQ(JobSizeOf(1001), "1000+");
}

}  // namespace
}  // namespace koord::scheduler::gang_metrics_test
