#include "kube/time.h"

#include <fmt/format.h>

#include <charconv>

#include "base/duration.h"

namespace koord::kube {
namespace {

// Any year that RFC 3339 can write; WallTime covers fewer.
struct Instant {
  std::chrono::sys_seconds seconds;
  int64_t nanos = 0;  // less than a second
};

std::string FormatInstant(const Instant& instant, int fraction_digits) {
  const auto day = std::chrono::floor<std::chrono::days>(instant.seconds);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(instant.seconds - day);
  std::string text =
      fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                  time.hours().count(), time.minutes().count(), time.seconds().count());
  if (fraction_digits > 0) {
    text += '.';
    text += fmt::format("{:09}", instant.nanos).substr(0, static_cast<size_t>(fraction_digits));
  }
  return text += 'Z';
}

Instant SplitSeconds(WallTime time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  return {seconds, (time - seconds).count()};
}

// Takes `width` digits and then `follow` (if not NUL) off the front of text.
bool TakeNumber(std::string_view& text, size_t width, char follow, int& out) {
  const size_t length = width + (follow != '\0' ? 1 : 0);
  if (text.size() < length) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + width, out);
  if (error != std::errc{} || end != text.data() + width || out < 0) return false;
  if (follow != '\0' && text[width] != follow) return false;
  text.remove_prefix(length);
  return true;
}

bool TakeFraction(std::string_view& text, int64_t& nanos) {
  if (text.empty() || text.front() != '.') return true;
  text.remove_prefix(1);
  int64_t scale = 100'000'000;
  size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
    nanos += (text[digits] - '0') * scale;
    scale /= 10;
    ++digits;
  }
  text.remove_prefix(digits);
  return digits > 0;
}

bool TakeOffset(std::string_view& text, std::chrono::minutes& offset) {
  if (text == "Z" || text == "z") {
    text = {};
    return true;
  }
  if (text.empty() || (text.front() != '+' && text.front() != '-')) return false;
  const int sign = text.front() == '-' ? -1 : 1;
  text.remove_prefix(1);
  int hours = 0;
  int minutes = 0;
  if (!TakeNumber(text, 2, ':', hours) || !TakeNumber(text, 2, '\0', minutes)) return false;
  offset = sign * std::chrono::minutes(hours * 60 + minutes);
  return true;
}

std::optional<Instant> Parse(std::string_view text) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  int64_t nanos = 0;
  std::chrono::minutes offset{0};
  if (!TakeNumber(text, 4, '-', year) || !TakeNumber(text, 2, '-', month) ||
      !TakeNumber(text, 2, '\0', day) || text.empty() || (text[0] != 'T' && text[0] != 't')) {
    return {};
  }
  text.remove_prefix(1);
  if (!TakeNumber(text, 2, ':', hour) || !TakeNumber(text, 2, ':', minute) ||
      !TakeNumber(text, 2, '\0', second) || !TakeFraction(text, nanos) ||
      !TakeOffset(text, offset) || !text.empty()) {
    return {};
  }
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok() || hour > 23 || minute > 59 || second > 59) return {};
  const std::chrono::sys_seconds seconds = std::chrono::sys_days(date) + std::chrono::hours(hour) +
                                           std::chrono::minutes(minute) +
                                           std::chrono::seconds(second) - offset;
  return Instant{seconds, nanos};
}

bool InFourDigitYear(const Instant& instant) {
  constexpr std::chrono::sys_seconds kFirst{std::chrono::sys_days{std::chrono::year{0} / 1 / 1}};
  constexpr std::chrono::sys_seconds kLast{std::chrono::sys_days{std::chrono::year{10000} / 1 / 1}};
  return instant.seconds >= kFirst && instant.seconds < kLast;
}

}  // namespace

std::string FormatTime(WallTime time) { return FormatInstant(SplitSeconds(time), 0); }
std::string FormatMicroTime(WallTime time) { return FormatInstant(SplitSeconds(time), 6); }

std::optional<WallTime> ParseTime(std::string_view text) {
  const std::optional<Instant> instant = Parse(text);
  if (!instant) return {};
  // In seconds: nanoseconds do not reach that far.
  if (instant->seconds < std::chrono::floor<std::chrono::seconds>(kEarliestTime)) {
    return kEarliestTime;
  }
  if (instant->seconds >= std::chrono::floor<std::chrono::seconds>(kLatestTime)) {
    return kLatestTime;
  }
  return WallTime(instant->seconds) + Duration(instant->nanos);
}

std::optional<std::string> NormalizeTime(std::string_view text, int fraction_digits) {
  const std::optional<Instant> instant = Parse(text);
  if (!instant || !InFourDigitYear(*instant)) return {};
  return FormatInstant(*instant, fraction_digits);
}

std::optional<std::string> FormatUnixTime(int64_t seconds, int64_t nanos, int fraction_digits) {
  const Instant instant{std::chrono::sys_seconds(std::chrono::seconds(seconds)), nanos};
  if (nanos < 0 || nanos > 999'999'999 || !InFourDigitYear(instant)) return {};
  return FormatInstant(instant, fraction_digits);
}

Status Codec<MicroTime>::Read(JsonView in, MicroTime& out) {
  return Codec<WallTime>::Read(in, out.time);
}

Status Codec<WallTime>::Read(JsonView in, WallTime& out) {
  if (!in.is_string()) return codec_internal::WrongType("an RFC 3339 time", in);
  const std::string_view text = in.get_string();
  const auto time = ParseTime(text);
  if (!time) return codec_internal::WrongType("an RFC 3339 time", in);
  out = *time;
  return absl::OkStatus();
}

Json Codec<WallTime>::Write(WallTime value) { return Json(FormatTime(value)); }

Status Codec<Duration>::Read(JsonView in, Duration& out) {
  if (!in.is_string()) return codec_internal::WrongType("a duration", in);
  const StatusOr<Duration> parsed = ParseDuration(in.get_string());
  if (!parsed.ok()) return InvalidArgument(": {}", Message(parsed.status()));
  out = *parsed;
  return absl::OkStatus();
}

Json Codec<Duration>::Write(Duration value) { return Json(FormatDuration(value)); }

}  // namespace koord::kube
