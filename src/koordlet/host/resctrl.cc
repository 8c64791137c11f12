#include "koordlet/host/resctrl.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>

#include "base/strings.h"

namespace koord::koordlet {
namespace {

constexpr int64_t kAmdEighthsOfGigabytes = 160;  // of one socket: 25 GB/s at 80 percent
constexpr int64_t kAmdUnlimited = 2048;

int64_t CeilOfPercent(int64_t whole, int64_t percent) { return (whole * percent + 99) / 100; }

}  // namespace

StatusOr<std::string> L3MaskOf(std::string_view cbm, int64_t start_percent, int64_t end_percent) {
  const std::string_view text = Trim(cbm);
  uint64_t whole = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole, 16);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  if (!is_number || whole == 0 || whole >> 32 != 0 || !std::has_single_bit(whole + 1)) {
    return InvalidArgument("cache mask is {}, expected ones without gaps in hexadecimal",
                           Quote(text));
  }
  if (start_percent < 0 || start_percent >= end_percent || end_percent > 100) {
    return InvalidArgument("cache range is {} to {} percent, expected 0 <= from < to <= 100",
                           start_percent, end_percent);
  }
  const int width = std::bit_width(whole);
  const uint64_t from = uint64_t{1} << CeilOfPercent(width, start_percent);
  const uint64_t to = uint64_t{1} << CeilOfPercent(width, end_percent);
  if (from == to) {
    return InvalidArgument("cache range of {} to {} percent is less than one of {} ways",
                           start_percent, end_percent, width);
  }
  return fmt::format("{:x}", to - from);
}

std::optional<int64_t> MbaValueOf(std::string_view cpu_vendor, int64_t percent) {
  if (percent <= 0 || percent > 100) return std::nullopt;
  if (cpu_vendor != "AuthenticAMD") return (percent + 9) / 10 * 10;
  return percent == 100 ? kAmdUnlimited : kAmdEighthsOfGigabytes * percent / 100;
}

std::vector<int32_t> ParseCacheIds(std::string_view schemata, std::string_view kind) {
  std::vector<int32_t> ids;
  for (const std::string_view line : Split(schemata, '\n')) {
    const size_t colon = line.find(':');
    if (colon == line.npos || Trim(line.substr(0, colon)) != kind) continue;
    for (const std::string_view part : Split(line.substr(colon + 1), ';')) {
      const auto id = ParseInt(Trim(part.substr(0, part.find('='))));
      if (id && *id >= 0 && *id <= INT32_MAX) ids.push_back(static_cast<int32_t>(*id));
    }
  }
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

std::string FormatSchemata(std::string_view kind, const std::vector<CacheValue>& values) {
  std::string line = fmt::format("{}:", kind);
  for (const CacheValue& value : values) {
    fmt::format_to(std::back_inserter(line), "{}={};", value.cache, value.value);
  }
  return line += '\n';
}

}  // namespace koord::koordlet
