#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <absl/time/time.h>
#include "base/clock.h"
#include "base/status.h"

namespace koord::localcluster {

// When a CronJob is due: five fields (minute, hour, day of month, month, day of week) with `*`,
// lists, ranges, steps and names, or one of @yearly, @annually, @monthly, @weekly, @daily,
// @midnight, @hourly and @every DURATION.
//
// A day has to match both day fields, or one of them if neither is `*`. Times that the clocks of a
// zone skip do not come; those that they repeat come twice.
class CronSchedule {
 public:
  static StatusOr<CronSchedule> Parse(std::string_view text);

  // The first time after `after`; none in the next five years.
  std::optional<WallTime> Next(WallTime after, const absl::TimeZone& zone) const;
  // The last time after `after` that is not after `now`; none if the first is still to come.
  std::optional<WallTime> Last(WallTime after, WallTime now, const absl::TimeZone& zone) const;

 private:
  // Sets of numbers, as bits.
  struct Fields {
    uint64_t minutes = 0, hours = 0, days = 0, months = 0, weekdays = 0;
    bool any_day = false, any_weekday = false;  // `*` was written
  };

  bool MatchesDay(absl::CivilDay day) const;

  Fields fields_;
  std::optional<Duration> every_;  // instead of the fields
};

// By its name in the IANA database; UTC if it is empty.
StatusOr<absl::TimeZone> FindTimeZone(const std::string& name);

}  // namespace koord::localcluster
