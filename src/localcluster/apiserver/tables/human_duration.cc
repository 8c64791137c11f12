#include "localcluster/apiserver/tables/human_duration.h"

#include <fmt/format.h>

#include "kube/time.h"

namespace koord::apiserver {
namespace {

// "3h5m", or "3h" if the smaller unit is zero.
std::string TwoUnits(int64_t big, char big_unit, int64_t small, char small_unit) {
  if (small == 0) return fmt::format("{}{}", big, big_unit);
  return fmt::format("{}{}{}{}", big, big_unit, small, small_unit);
}

}  // namespace

std::string HumanDuration(Duration duration) {
  const int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(duration).count();
  const int64_t minutes = seconds / 60, hours = minutes / 60, days = hours / 24, years = days / 365;
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return fmt::format("{}s", seconds);
  if (minutes < 10) return TwoUnits(minutes, 'm', seconds % 60, 's');
  if (hours < 3) return fmt::format("{}m", minutes);
  if (hours < 8) return TwoUnits(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return fmt::format("{}h", hours);
  if (days < 8) return TwoUnits(days, 'd', hours % 24, 'h');
  if (years < 2) return fmt::format("{}d", days);
  if (years < 8) return TwoUnits(years, 'y', days % 365, 'd');
  return fmt::format("{}y", years);
}

std::string HumanAge(std::string_view time, WallTime now) {
  if (time.empty()) return "<unknown>";
  const auto parsed = kube::ParseTime(time);
  return parsed ? HumanDuration(now - *parsed) : "<invalid>";
}

}  // namespace koord::apiserver
