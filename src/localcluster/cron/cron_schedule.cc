#include "localcluster/cron/cron_schedule.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "base/duration.h"
#include "base/shorten.h"
#include "base/strings.h"

namespace koord::localcluster {
namespace {

constexpr int kYearsAhead = 5;

struct FieldKind {
  std::string_view name;
  int least, most;
  std::span<const std::string_view> words;  // for the numbers from `first_word` on
  int first_word = 0;
};

constexpr std::array<std::string_view, 12> kMonths{"jan", "feb", "mar", "apr", "may", "jun",
                                                   "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> kWeekdays{"sun", "mon", "tue", "wed",
                                                    "thu", "fri", "sat"};

const FieldKind kMinute{"minute", 0, 59, {}, 0};
const FieldKind kHour{"hour", 0, 23, {}, 0};
const FieldKind kDay{"day of month", 1, 31, {}, 0};
const FieldKind kMonth{"month", 1, 12, kMonths, 1};
const FieldKind kWeekday{"day of week", 0, 6, kWeekdays, 0};

struct NamedSchedule {
  std::string_view name, fields;
};
constexpr NamedSchedule kNamedSchedules[] = {
    {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"},
    {"@weekly", "0 0 * * 0"}, {"@daily", "0 0 * * *"},    {"@midnight", "0 0 * * *"},
    {"@hourly", "0 * * * *"},
};

bool Has(uint64_t set, int number) { return (set >> number & 1) != 0; }

StatusOr<int> ParseNumber(std::string_view text, const FieldKind& kind) {
  const std::string word = ToLower(text);
  const auto named = std::find(kind.words.begin(), kind.words.end(), word);
  if (named != kind.words.end()) {
    return static_cast<int>(named - kind.words.begin()) + kind.first_word;
  }
  const auto number = ParseInt(text);
  if (!number) return InvalidArgument("{}: expected a number, found \"{}\"", kind.name, text);
  if (*number < kind.least || *number > kind.most) {
    return InvalidArgument("{}: {} is not between {} and {}", kind.name, *number, kind.least,
                           kind.most);
  }
  return static_cast<int>(*number);
}

// "*", "5", "1-5", "*/15", "10-40/10" or "10/5", which goes on to the end.
StatusOr<uint64_t> ParseItem(std::string_view text, const FieldKind& kind, bool& any) {
  const auto parts = Split(text, '/');
  if (parts.size() > 2) return InvalidArgument("{}: too many slashes in \"{}\"", kind.name, text);
  int step = 1;
  if (parts.size() == 2) {
    const auto given = ParseInt(parts[1]);
    if (!given || *given < 1 || *given > kind.most) {
      return InvalidArgument("{}: expected a step of 1 to {}, found \"{}\"", kind.name, kind.most,
                             parts[1]);
    }
    step = static_cast<int>(*given);
  }
  int first = kind.least;
  int last = kind.most;
  if (parts[0] == "*" || parts[0] == "?") {
    any = any || step == 1;
  } else {
    const auto ends = Split(parts[0], '-');
    if (ends.size() > 2) {
      return InvalidArgument("{}: too many hyphens in \"{}\"", kind.name, text);
    }
    ASSIGN_OR_RETURN(first, ParseNumber(ends[0], kind));
    if (ends.size() == 2) {
      ASSIGN_OR_RETURN(last, ParseNumber(ends[1], kind));
    } else if (parts.size() == 1) {
      last = first;
    }
    if (first > last) {
      return InvalidArgument("{}: the range \"{}\" ends before it begins", kind.name, parts[0]);
    }
  }
  uint64_t set = 0;
  for (int number = first; number <= last; number += step) set |= uint64_t{1} << number;
  return set;
}

StatusOr<uint64_t> ParseField(std::string_view text, const FieldKind& kind, bool& any) {
  uint64_t set = 0;
  for (const std::string_view item : Split(text, ',')) {
    ASSIGN_OR_RETURN(const uint64_t more, ParseItem(item, kind, any));
    set |= more;
  }
  return set;
}

std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  for (const std::string_view word : Split(text, ' ')) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

// The library looks for a file of the name, any file, and remembers each name for ever.
bool MayBeTimeZone(std::string_view name) {
  constexpr size_t kLongest = 64;
  const bool is_word = std::ranges::all_of(ToLower(name), [](char c) {
    return (c >= 'a' && c <= 'z') || IsDigit(c) || c == '/' || c == '_' || c == '-' || c == '+';
  });
  return is_word && name.size() <= kLongest && !name.starts_with('/') && ToLower(name) != "local";
}

}  // namespace

StatusOr<CronSchedule> CronSchedule::Parse(std::string_view text) {
  constexpr std::string_view kEvery = "@every ";
  CronSchedule schedule;
  if (text.starts_with("TZ=") || text.starts_with("CRON_TZ=")) {
    return InvalidArgument("cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
  }
  if (text.starts_with(kEvery)) {
    ASSIGN_OR_RETURN(const Duration every, ParseDuration(text.substr(kEvery.size())));
    if (every <= Duration::zero()) return InvalidArgument("@every: must be more than 0");
    schedule.every_ = std::max<Duration>(std::chrono::floor<std::chrono::seconds>(every), 1s);
    return schedule;
  }
  if (text.starts_with('@')) {
    const auto* named = std::ranges::find(kNamedSchedules, text, &NamedSchedule::name);
    if (named == std::end(kNamedSchedules))
      return InvalidArgument("unrecognized descriptor: {}", text);
    text = named->fields;
  }
  const auto words = Words(text);
  if (words.size() != 5) {
    return InvalidArgument("expected exactly 5 fields, found {}: [{}]", words.size(),
                           Join(words, " "));
  }
  Fields& fields = schedule.fields_;
  bool ignored = false;
  ASSIGN_OR_RETURN(fields.minutes, ParseField(words[0], kMinute, ignored));
  ASSIGN_OR_RETURN(fields.hours, ParseField(words[1], kHour, ignored));
  ASSIGN_OR_RETURN(fields.days, ParseField(words[2], kDay, fields.any_day));
  ASSIGN_OR_RETURN(fields.months, ParseField(words[3], kMonth, ignored));
  ASSIGN_OR_RETURN(fields.weekdays, ParseField(words[4], kWeekday, fields.any_weekday));
  return schedule;
}

bool CronSchedule::MatchesDay(absl::CivilDay day) const {
  // absl counts from Monday on, cron from Sunday.
  const int weekday = (static_cast<int>(absl::GetWeekday(day)) + 1) % 7;
  const bool in_days = Has(fields_.days, day.day());
  const bool in_weekdays = Has(fields_.weekdays, weekday);
  if (fields_.any_day || fields_.any_weekday) return in_days && in_weekdays;
  return in_days || in_weekdays;
}

std::optional<WallTime> CronSchedule::Next(WallTime after, const absl::TimeZone& zone) const {
  if (every_) return std::chrono::floor<std::chrono::seconds>(after) + *every_;
  absl::Time time =
      absl::FromChrono(std::chrono::floor<std::chrono::minutes>(after)) + absl::Minutes(1);
  const absl::civil_year_t last_year = absl::ToCivilYear(time, zone).year() + kYearsAhead;
  while (true) {
    const absl::CivilMinute local = absl::ToCivilMinute(time, zone);
    if (local.year() > last_year) return {};
    if (!Has(fields_.months, local.month())) {
      time = absl::FromCivil(absl::CivilMonth(local) + 1, zone);
    } else if (!MatchesDay(absl::CivilDay(local))) {
      time = absl::FromCivil(absl::CivilDay(local) + 1, zone);
    } else if (!Has(fields_.hours, local.hour())) {
      time += absl::Minutes(60 - local.minute());
    } else if (!Has(fields_.minutes, local.minute())) {
      time += absl::Minutes(1);
    } else {
      return WallTime(std::chrono::nanoseconds(absl::ToUnixNanos(time)));
    }
  }
}

std::optional<WallTime> CronSchedule::Last(WallTime after, WallTime now,
                                           const absl::TimeZone& zone) const {
  const auto first = Next(after, zone);
  if (!first || *first > now) return {};
  if (every_) return *first + (now - *first) / *every_ * *every_;
  const auto second = Next(*first, zone);
  if (!second) return first;
  // Few steps even if years have passed: times shortly before now are looked for first.
  for (Duration back = *second - *first;; back *= 2) {
    const bool all = back >= now - *first;
    std::optional<WallTime> last = all ? first : std::nullopt;
    for (auto time = Next(all ? *first : now - back, zone); time && *time <= now;
         time = Next(*time, zone)) {
      last = time;
    }
    if (last) return last;
  }
}

StatusOr<absl::TimeZone> FindTimeZone(const std::string& name) {
  absl::TimeZone zone = absl::UTCTimeZone();
  if (name.empty() || name == "UTC") return zone;
  if (!MayBeTimeZone(name) || !absl::LoadTimeZone(name, &zone)) {
    return InvalidArgument("unknown time zone {}", Shorten(name, 64));
  }
  return zone;
}

}  // namespace koord::localcluster
