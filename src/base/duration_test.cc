#include "base/duration.h"

#include <gtest/gtest.h>

#include <limits>

namespace koord::duration_test {
namespace {

struct Case {
  const char* text;
  Duration duration;
};

TEST(Duration, Parses) {
  const Case cases[] = {
      {"0", 0ns},
      {"+0", 0ns},
      {"0s", 0ns},
      {"5s", 5s},
      {"30m", 30min},
      {"24h", 24h},
      {"1h30m", 90min},
      {"1h15m30.918s", 1h + 15min + 30'918ms},
      {"1.5s", 1500ms},
      {".5s", 500ms},
      {"5.s", 5s},
      {"-300ms", -300ms},
      {"+5s", 5s},
      {"12us", 12us},
      {"12\u00b5s", 12us},
      {"12\u03bcs", 12us},
      {"7ns", 7ns},
      {"0.3333333333333333333h", 20min - 1ns},
      {"9223372036854775807ns", Duration::max()},
  };
  for (const Case& c : cases) {
    const StatusOr<Duration> parsed = ParseDuration(c.text);
    ASSERT_TRUE(parsed.ok()) << c.text << parsed.status();
    EXPECT_EQ(*parsed, c.duration) << c.text;
  }
}

TEST(Duration, RefusesOtherText) {
  for (const char* text : {"", "3", "-", "s", ".s", "+.s", "1x", "1 s", "--1s", "1h 5m", "1d",
                           "9223372036854775808ns", "99999999999999999999h", "3000000h"}) {
    const StatusOr<Duration> parsed = ParseDuration(text);
    ASSERT_FALSE(parsed.ok()) << text;
  }
  EXPECT_EQ(Message(ParseDuration("1d").status()),
            "invalid duration \"1d\", expected a form like 1h30m or 500ms");
}

TEST(Duration, SecondsThatNobodyMeansAreStillATime) {
  EXPECT_EQ(BoundedSeconds(90), 90s);
  EXPECT_EQ(BoundedSeconds(-1), -1s);
  EXPECT_EQ(BoundedSeconds(std::numeric_limits<int64_t>::max()), kCentury);
  EXPECT_EQ(BoundedSeconds(std::numeric_limits<int64_t>::min()), -kCentury);
}

TEST(Duration, PrintsTheLargestUnitFirst) {
  const Case cases[] = {
      {"24h0m0s", 24h},
      {"5m0s", 5min},
      {"1.5s", 1500ms},
      {"500ms", 500ms},
      {"0s", 0ns},
      {"1ns", 1ns},
      {"1.1\u00b5s", 1100ns},
      {"2.2ms", 2200us},
      {"1m0.000000001s", 1min + 1ns},
      {"-1h0m10s", -(1h + 10s)},
      {"2562047h47m16.854775807s", Duration::max()},
      {"-2562047h47m16.854775808s", Duration::min()},
  };
  for (const Case& c : cases) EXPECT_EQ(FormatDuration(c.duration), c.text);
}

}  // namespace
}  // namespace koord::duration_test
