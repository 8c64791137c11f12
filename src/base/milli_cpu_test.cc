#include "base/milli_cpu.h"

#include <gtest/gtest.h>

#include <cmath>
#include <type_traits>

namespace koord::milli_cpu_test {
namespace {

// A number alone does not say what it counts.
static_assert(!std::is_convertible_v<int64_t, MilliCpu>);
static_assert(!std::is_convertible_v<MilliCpu, int64_t>);

TEST(MilliCpuTest, CountsThousandths) {
  EXPECT_EQ(MilliCpu::OfCores(1.5), MilliCpu(1500));
  EXPECT_EQ(MilliCpu::OfCores(-0.0019), MilliCpu(-1)) << "towards zero";
  EXPECT_EQ(MilliCpu(1500).cores(), 1.5);
  EXPECT_EQ(MilliCpu(1500) + MilliCpu(250) - MilliCpu(2000), MilliCpu(-250));
  EXPECT_LT(MilliCpu(999), MilliCpu(1000));
}

TEST(MilliCpuTest, WhatDoesNotFitIsTheLargestOrSmallest) {
  EXPECT_EQ(MilliCpu::Max() + MilliCpu(1), MilliCpu::Max());
  EXPECT_EQ(MilliCpu::Min() + MilliCpu(-1), MilliCpu::Min());
  EXPECT_EQ(MilliCpu::Min() - MilliCpu(1), MilliCpu::Min());
  EXPECT_EQ(MilliCpu::Max() - MilliCpu(-1), MilliCpu::Max());
  EXPECT_EQ(MilliCpu() - MilliCpu::Min(), MilliCpu::Max());
  EXPECT_EQ(MilliCpu::OfCores(1e300), MilliCpu::Max());
  EXPECT_EQ(MilliCpu::OfCores(-1e300), MilliCpu::Min());
  EXPECT_EQ(MilliCpu::OfCores(std::nan("")), MilliCpu());
}

}  // namespace
}  // namespace koord::milli_cpu_test
