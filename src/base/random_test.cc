#include "base/random.h"

#include <gtest/gtest.h>

#include <array>

namespace koord::random_test {
namespace {

TEST(Random, TheSameSeedGivesTheSameRun) {
  Random a(7);
  Random b(7);
  Random c(8);
  EXPECT_EQ(a(), b());
  EXPECT_EQ(a.Below(100), b.Below(100));
  EXPECT_NE(a(), c());
}

TEST(Random, StaysInBoundsAndSpreads) {
  Random random(1);
  std::array<int, 10> hits{};
  int heads = 0;
  for (int i = 0; i < 10'000; ++i) {
    ++hits.at(random.Below(10));
    const double fraction = random.Fraction();
    ASSERT_GE(fraction, 0.0);
    ASSERT_LT(fraction, 1.0);
    heads += random.Chance(0.25) ? 1 : 0;
  }
  for (const int count : hits) EXPECT_NEAR(count, 1000, 150);
  EXPECT_NEAR(heads, 2500, 200);
  EXPECT_FALSE(random.Chance(0));
  EXPECT_TRUE(random.Chance(1));
}

}  // namespace
}  // namespace koord::random_test
