#include "localcluster/cron/cron_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/time.h"

namespace koord::localcluster::cron_schedule_test {
namespace {

using testing::HasSubstr;

WallTime At(std::string_view text) { return *kube::ParseTime(text); }

std::string Next(std::string_view schedule, std::string_view after, const std::string& zone = "") {
  const auto parsed = CronSchedule::Parse(schedule);
  EXPECT_TRUE(parsed.ok()) << schedule << ": " << parsed.status();
  const auto next = parsed->Next(At(after), *FindTimeZone(zone));
  return next ? kube::FormatTime(*next) : "never";
}

TEST(CronSchedule, FindsTheNextTime) {
  // 2024-05-01 is a Wednesday.
  const struct {
    const char *schedule, *after, *next;
  } kCases[] = {
      {"* * * * *", "2024-05-01T12:00:00Z", "2024-05-01T12:01:00Z"},
      {"* * * * *", "2024-05-01T12:00:59Z", "2024-05-01T12:01:00Z"},
      {"*/15 * * * *", "2024-05-01T12:50:00Z", "2024-05-01T13:00:00Z"},
      {"5/20 * * * *", "2024-05-01T12:26:00Z", "2024-05-01T12:45:00Z"},
      {"10-12,40 3 * * *", "2024-05-01T03:12:00Z", "2024-05-01T03:40:00Z"},
      {"0 0 1 jan *", "2024-05-01T12:00:00Z", "2025-01-01T00:00:00Z"},
      {"0 9 * * MON-FRI", "2024-05-03T10:00:00Z", "2024-05-06T09:00:00Z"},
      {"0 9 * * 0", "2024-05-01T00:00:00Z", "2024-05-05T09:00:00Z"},
      {"0 0 13 * 5", "2024-05-01T00:00:00Z", "2024-05-03T00:00:00Z"},   // either day
      {"0 0 13 * ?", "2024-05-01T00:00:00Z", "2024-05-13T00:00:00Z"},   // both
      {"0 0 */2 * 1", "2024-05-01T00:00:00Z", "2024-05-03T00:00:00Z"},  // a step is no `*`
      {"0 0 29 2 *", "2024-05-01T00:00:00Z", "2028-02-29T00:00:00Z"},
      {"0 0 31 2 *", "2024-05-01T00:00:00Z", "never"},
      {"@hourly", "2024-05-01T12:00:00Z", "2024-05-01T13:00:00Z"},
      {"@daily", "2024-05-01T12:00:00Z", "2024-05-02T00:00:00Z"},
      {"@midnight", "2024-05-01T12:00:00Z", "2024-05-02T00:00:00Z"},
      {"@weekly", "2024-05-01T12:00:00Z", "2024-05-05T00:00:00Z"},
      {"@monthly", "2024-05-01T12:00:00Z", "2024-06-01T00:00:00Z"},
      {"@yearly", "2024-05-01T12:00:00Z", "2025-01-01T00:00:00Z"},
      {"@annually", "2024-05-01T12:00:00Z", "2025-01-01T00:00:00Z"},
      {"@every 1h30m", "2024-05-01T12:00:00Z", "2024-05-01T13:30:00Z"},
  };
  for (const auto& test : kCases) {
    EXPECT_EQ(Next(test.schedule, test.after), test.next) << test.schedule;
  }
}

TEST(CronSchedule, FollowsTheClocksOfAZone) {
  const std::string berlin = "Europe/Berlin";
  if (!FindTimeZone(berlin).ok()) GTEST_SKIP() << "no time zones on this machine";
  EXPECT_EQ(Next("0 9 * * *", "2024-05-01T00:00:00Z", berlin), "2024-05-01T07:00:00Z");
  EXPECT_EQ(Next("0 9 * * *", "2024-12-01T00:00:00Z", berlin), "2024-12-01T08:00:00Z");
  // 02:30 does not come on the day that clocks are put forward, and comes twice when back.
  EXPECT_EQ(Next("30 2 * * *", "2024-03-30T02:00:00Z", berlin), "2024-04-01T00:30:00Z");
  EXPECT_EQ(Next("30 2 * * *", "2024-10-27T00:00:00Z", berlin), "2024-10-27T00:30:00Z");
  EXPECT_EQ(Next("30 2 * * *", "2024-10-27T00:30:00Z", berlin), "2024-10-27T01:30:00Z");
  EXPECT_EQ(Next("15 * * * *", "2024-05-01T00:00:00Z", "Asia/Kolkata"), "2024-05-01T00:45:00Z");
}

TEST(CronSchedule, FindsTheLastTimeHoweverManyWereMissed) {
  const auto last = [](std::string_view schedule, std::string_view after, std::string_view now) {
    const auto found = CronSchedule::Parse(schedule)->Last(At(after), At(now), absl::UTCTimeZone());
    return found ? kube::FormatTime(*found) : "none";
  };
  EXPECT_EQ(last("0 * * * *", "2024-05-01T12:00:00Z", "2024-05-01T12:59:59Z"), "none");
  EXPECT_EQ(last("0 * * * *", "2024-05-01T12:00:00Z", "2024-05-01T13:00:00Z"),
            "2024-05-01T13:00:00Z");
  EXPECT_EQ(last("* * * * *", "1990-05-01T12:00:00Z", "2024-05-01T13:00:30Z"),
            "2024-05-01T13:00:00Z");
  EXPECT_EQ(last("0 0 29 2 *", "2000-05-01T12:00:00Z", "2027-05-01T13:00:30Z"),
            "2024-02-29T00:00:00Z");
  EXPECT_EQ(last("0-1 0 1 1 *", "2020-05-01T12:00:00Z", "2024-05-01T00:00:00Z"),
            "2024-01-01T00:01:00Z");
  EXPECT_EQ(last("@every 10m", "2024-05-01T12:00:05Z", "2024-05-01T12:35:00Z"),
            "2024-05-01T12:30:05Z");
}

TEST(CronSchedule, SaysWhatIsWrong) {
  const struct {
    const char *schedule, *complaint;
  } kCases[] = {
      {"hello", "expected exactly 5 fields, found 1: [hello]"},
      {"* * * *", "expected exactly 5 fields, found 4"},
      {"* * * * * *", "found 6"},
      {"60 * * * *", "minute: 60 is not between 0 and 59"},
      {"* * 0 * *", "day of month: 0 is not between 1 and 31"},
      {"* * * * 7", "day of week: 7 is not between 0 and 6"},
      {"5-1 * * * *", "minute: the range \"5-1\" ends before it begins"},
      {"*/0 * * * *", "minute: expected a step of 1 to 59, found \"0\""},
      {"1/2/3 * * * *", "too many slashes"},
      {"1-2-3 * * * *", "too many hyphens"},
      {"x * * * *", "minute: expected a number, found \"x\""},
      {", * * * *", "minute: expected a number, found \"\""},
      {"@often", "unrecognized descriptor: @often"},
      {"@every soon", "soon"},
      {"TZ=UTC * * * * *", "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"},
  };
  for (const auto& test : kCases) {
    const auto parsed = CronSchedule::Parse(test.schedule);
    EXPECT_FALSE(parsed.ok()) << test.schedule;
    EXPECT_THAT(std::string(Message(parsed.status())), HasSubstr(test.complaint));
  }
  EXPECT_FALSE(FindTimeZone("Europe/Atlantis").ok());
  EXPECT_FALSE(FindTimeZone("Local").ok());
  if (!FindTimeZone("Europe/Berlin").ok()) GTEST_SKIP() << "no time zones on this machine";
  for (const char* path : {"/usr/share/zoneinfo/Europe/Berlin", "file:Europe/Berlin",
                           "file:/usr/share/zoneinfo/Europe/Berlin", "Europe/../Europe/Berlin"}) {
    EXPECT_FALSE(FindTimeZone(path).ok()) << path << " would be any file";
  }
}

}  // namespace
}  // namespace koord::localcluster::cron_schedule_test
