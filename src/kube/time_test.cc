#include "kube/time.h"

#include <gtest/gtest.h>

namespace koord::kube::time_test {
namespace {

constexpr WallTime kTime{std::chrono::sys_days{std::chrono::year{2026} / 7 / 1} + 10h + 5min + 9s +
                         123456789ns};

TEST(Time, Formats) {
  EXPECT_EQ(FormatTime(kTime), "2026-07-01T10:05:09Z");
  EXPECT_EQ(FormatMicroTime(kTime), "2026-07-01T10:05:09.123456Z");
  EXPECT_EQ(FormatMicroTime(WallTime{}), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(FormatTime(WallTime{-1ns}), "1969-12-31T23:59:59Z");
}

TEST(Time, ParsesRfc3339) {
  EXPECT_EQ(ParseTime("2026-07-01T10:05:09.123456789Z"), kTime);
  EXPECT_EQ(ParseTime("2026-07-01t12:05:09.123456789+02:00"), kTime);
  EXPECT_EQ(ParseTime("2026-07-01T05:35:09.123456789123-04:30"), kTime);
  EXPECT_EQ(ParseTime("1970-01-01T00:00:00z"), WallTime{});
}

TEST(Time, RefusesOtherText) {
  for (const char* text : {"", "now", "2026-07-01", "2026-07-01 10:05:09Z", "2026-07-01T10:05:09",
                           "2026-13-01T10:05:09Z", "2026-02-29T10:05:09Z", "2026-07-01T24:05:09Z",
                           "2026-07-01T10:60:09Z", "2026-07-01T10:05:60Z", "2026-07-01T10:05:09.Z",
                           "2026-07-01T10:05:09+0200", "2026-07-01T10:05:09Zx",
                           "-026-07-01T10:05:09Z", "2026-7-1T10:05:09Z"}) {
    EXPECT_EQ(ParseTime(text), std::nullopt) << text;
  }
}

TEST(Time, KeepsToTimesThatCanBeSubtracted) {
  for (const char* text : {"0000-01-01T00:00:00Z", "1066-07-01T10:05:09Z", "1687-06-30T23:00:00Z",
                           "1899-12-31T23:59:59.999Z"}) {
    EXPECT_EQ(ParseTime(text), kEarliestTime) << text;
  }
  for (const char* text : {"2160-01-01T00:00:00.001Z", "9999-12-31T23:59:59-12:00"}) {
    EXPECT_EQ(ParseTime(text), kLatestTime) << text;
  }
  EXPECT_EQ(ParseTime("1900-01-01T00:00:00.5Z"), kEarliestTime + 500ms);
  EXPECT_GT(kLatestTime - kEarliestTime, Duration(0));
  EXPECT_LT(kEarliestTime - kLatestTime, Duration(0));
}

TEST(Time, NormalizesAsKubernetesWritesBack) {
  EXPECT_EQ(NormalizeTime("2026-07-01T12:05:09.5+02:00", 0), "2026-07-01T10:05:09Z");
  EXPECT_EQ(NormalizeTime("2026-07-01T10:05:09.1234567Z", 6), "2026-07-01T10:05:09.123456Z");
  EXPECT_EQ(NormalizeTime("2026-07-01T10:05:09Z", 6), "2026-07-01T10:05:09.000000Z");
  EXPECT_EQ(NormalizeTime("9999-12-31T23:59:59Z", 0), "9999-12-31T23:59:59Z");
  EXPECT_EQ(NormalizeTime("0001-01-01T00:00:00Z", 0), "0001-01-01T00:00:00Z");
  EXPECT_EQ(NormalizeTime("9999-12-31T23:59:59-01:00", 0), std::nullopt);
  EXPECT_EQ(NormalizeTime("0000-01-01T00:00:00+01:00", 0), std::nullopt);
  EXPECT_EQ(NormalizeTime("yesterday", 0), std::nullopt);
}

TEST(Time, FormatsUnixTime) {
  EXPECT_EQ(FormatUnixTime(0, 0, 0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(FormatUnixTime(1, 999'999'999, 6), "1970-01-01T00:00:01.999999Z");
  EXPECT_EQ(FormatUnixTime(253402300799, 0, 0), "9999-12-31T23:59:59Z");
  EXPECT_EQ(FormatUnixTime(253402300800, 0, 0), std::nullopt);
  EXPECT_EQ(FormatUnixTime(0, 1'000'000'000, 6), std::nullopt);
  EXPECT_EQ(FormatUnixTime(0, -1, 6), std::nullopt);
  EXPECT_EQ(FormatUnixTime(INT64_MIN, 0, 0), std::nullopt);
  EXPECT_EQ(FormatUnixTime(INT64_MAX, 0, 0), std::nullopt);
}

TEST(Time, Json) {
  EXPECT_EQ(Decode<WallTime>(Json("1970-01-01T00:00:01Z")).value(), WallTime{1s});
  EXPECT_EQ(Encode(WallTime{1s}), Json("1970-01-01T00:00:01Z"));
  EXPECT_EQ(Encode(MicroTime{WallTime{1s}}), Json("1970-01-01T00:00:01.000000Z"));
  EXPECT_EQ(Message(Decode<WallTime>(Json(5)).status()),
            ": expected an RFC 3339 time, found a number");
  EXPECT_EQ(Decode<Duration>(Json("1m30s")).value(), 90s);
  EXPECT_EQ(Encode(Duration(90s)), Json("1m30s"));
  EXPECT_FALSE(Decode<Duration>(Json(5)).ok());
  EXPECT_FALSE(Decode<Duration>(Json("5")).ok());
}

}  // namespace
}  // namespace koord::kube::time_test
