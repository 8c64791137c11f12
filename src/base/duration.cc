#include "base/duration.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/strings.h"

namespace koord {
namespace {

struct Unit {
  std::string_view name;
  int64_t nanos;
};
// Longer names first, so that "ms" is not read as "m".
constexpr Unit kUnits[] = {
    {"ns", 1},         {"us", 1'000},        {"\u00b5s", 1'000},    {"\u03bcs", 1'000},
    {"ms", 1'000'000}, {"s", 1'000'000'000}, {"m", 60'000'000'000}, {"h", 3'600'000'000'000},
};

std::string_view TakeDigits(std::string_view& text) {
  const auto end = std::find_if_not(text.begin(), text.end(), IsDigit);
  const std::string_view digits(text.begin(), end);
  text.remove_prefix(digits.size());
  return digits;
}

// Fraction digits beyond the nanosecond are dropped.
int64_t FractionOf(std::string_view digits, int64_t unit) {
  __int128 sum = 0;
  __int128 scale = 1;
  for (const char c : digits.substr(0, 18)) {
    sum = sum * 10 + (c - '0');
    scale *= 10;
  }
  return static_cast<int64_t>(sum * unit / scale);
}

// Takes one "<number><unit>" off the front.
std::optional<__int128> TakePart(std::string_view& text) {
  const std::string_view whole = TakeDigits(text);
  std::string_view fraction;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    fraction = TakeDigits(text);
  }
  if (whole.empty() && fraction.empty()) return {};
  for (const Unit& unit : kUnits) {
    if (!text.starts_with(unit.name)) continue;
    text.remove_prefix(unit.name.size());
    const std::optional<int64_t> number = whole.empty() ? 0 : ParseInt(whole);
    if (!number) return {};
    return __int128{*number} * unit.nanos + FractionOf(fraction, unit.nanos);
  }
  return {};
}

// "1.5" for 1500 thousandths.
std::string Decimal(int64_t value, int64_t unit, std::string_view name) {
  std::string text = fmt::format("{}", value / unit);
  if (const int64_t rest = value % unit; rest != 0) {
    std::string digits = fmt::format("{}", unit + rest).substr(1);
    digits.erase(digits.find_last_not_of('0') + 1);
    text += "." + digits;
  }
  return text.append(name);
}

}  // namespace

StatusOr<Duration> ParseDuration(std::string_view text) {
  const std::string_view whole = text;
  const auto invalid = [&] {
    return InvalidArgument("invalid duration {}, expected a form like 1h30m or 500ms",
                           Quote(whole, 64));
  };
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text == "0") return Duration::zero();
  if (text.empty()) return invalid();
  __int128 sum = 0;
  while (!text.empty()) {
    const std::optional<__int128> part = TakePart(text);
    if (!part) return invalid();
    sum += *part;
    if (sum > std::numeric_limits<int64_t>::max()) return invalid();
  }
  return Duration(static_cast<int64_t>(negative ? -sum : sum));
}

std::string FormatDuration(Duration duration) {
  const int64_t count = duration.count();
  if (count == 0) return "0s";
  if (count < 0) {
    // The smallest number has no positive counterpart.
    if (count == std::numeric_limits<int64_t>::min()) return "-2562047h47m16.854775808s";
    return "-" + FormatDuration(-duration);
  }
  if (count < 1'000) return fmt::format("{}ns", count);
  if (count < 1'000'000) return Decimal(count, 1'000, "\u00b5s");
  if (count < 1'000'000'000) return Decimal(count, 1'000'000, "ms");
  const int64_t minutes = count / 60'000'000'000;
  std::string text;
  if (minutes >= 60) text += fmt::format("{}h", minutes / 60);
  if (minutes > 0) text += fmt::format("{}m", minutes % 60);
  return text + Decimal(count % 60'000'000'000, 1'000'000'000, "s");
}

}  // namespace koord
