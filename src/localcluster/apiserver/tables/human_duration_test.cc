#include "localcluster/apiserver/tables/human_duration.h"

#include <gtest/gtest.h>

#include "kube/time.h"

namespace koord::apiserver::human_duration_test {
namespace {

using std::chrono::days;
using std::chrono::duration_cast;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(HumanDuration, RoundsAsKubectlUsersExpect) {
  const struct {
    Duration duration;
    const char* text;
  } kCases[] = {
      {seconds(-2), "<invalid>"},
      {milliseconds(-1900), "0s"},
      {milliseconds(-999), "0s"},
      {seconds(0), "0s"},
      {milliseconds(119'900), "119s"},
      {seconds(120), "2m"},
      {seconds(121), "2m1s"},
      {seconds(599), "9m59s"},
      {seconds(600), "10m"},
      {seconds(601), "10m"},
      {minutes(179), "179m"},
      {hours(3), "3h"},
      {hours(3) + minutes(5), "3h5m"},
      {hours(7) + minutes(59), "7h59m"},
      {hours(8) + minutes(5), "8h"},
      {hours(47) + minutes(59), "47h"},
      {hours(48), "2d"},
      {hours(50), "2d2h"},
      {hours(191), "7d23h"},
      {hours(192), "8d"},
      {days(400), "400d"},
      {days(729), "729d"},
      {days(730), "2y"},
      {days(731), "2y1d"},
      {days(365 * 8 - 1), "7y364d"},
      {days(365 * 8), "8y"},
      {days(365 * 12 + 100), "12y"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(HumanDuration(c.duration), c.text)
        << duration_cast<seconds>(c.duration).count() << " s";
  }
}

TEST(HumanAge, ReadsTimes) {
  const WallTime now = kube::ParseTime("2026-07-01T10:00:00Z").value();
  EXPECT_EQ(HumanAge("2026-07-01T09:57:30Z", now), "2m30s");
  EXPECT_EQ(HumanAge("2026-07-01T11:59:00.000000+02:00", now), "60s");
  EXPECT_EQ(HumanAge("2026-07-01T10:00:05Z", now), "<invalid>");
  EXPECT_EQ(HumanAge("", now), "<unknown>");
  EXPECT_EQ(HumanAge("yesterday", now), "<invalid>");
}

}  // namespace
}  // namespace koord::apiserver::human_duration_test
