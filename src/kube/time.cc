#include "kube/time.h"

#include <fmt/format.h>

#include <charconv>

namespace koord::kube {
namespace {

struct Broken {
  std::chrono::year_month_day date;
  std::chrono::hh_mm_ss<Duration> time;
};

Broken BreakDown(WallTime time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  return {std::chrono::year_month_day(day), std::chrono::hh_mm_ss<Duration>(time - day)};
}

std::string FormatSeconds(const Broken& b) {
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(b.date.year()),
                     static_cast<unsigned>(b.date.month()), static_cast<unsigned>(b.date.day()),
                     b.time.hours().count(), b.time.minutes().count(), b.time.seconds().count());
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

}  // namespace

std::string FormatTime(WallTime time) { return FormatSeconds(BreakDown(time)) + "Z"; }

std::string FormatMicroTime(WallTime time) {
  const Broken broken = BreakDown(time);
  return fmt::format("{}.{:06}Z", FormatSeconds(broken), broken.time.subseconds().count() / 1000);
}

std::optional<WallTime> ParseTime(std::string_view text) {
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
  return std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
         std::chrono::seconds(second) + Duration(nanos) - offset;
}

Status Codec<MicroTime>::Read(const Json& in, MicroTime& out) {
  return Codec<WallTime>::Read(in, out.time);
}

Status Codec<WallTime>::Read(const Json& in, WallTime& out) {
  if (!in.is_string()) return codec_internal::WrongType("an RFC 3339 time", in);
  const std::string_view text = in.get_string();
  const auto time = ParseTime(text);
  if (!time) return codec_internal::WrongType("an RFC 3339 time", in);
  out = *time;
  return absl::OkStatus();
}

Json Codec<WallTime>::Write(WallTime value) { return Json(FormatTime(value)); }

}  // namespace koord::kube
