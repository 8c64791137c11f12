#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/status.h"

// Durations as Kubernetes writes them: "1h30m", "1.5s", "-300ms", "0".
namespace koord {

StatusOr<Duration> ParseDuration(std::string_view text);

// The largest unit first and all smaller ones down to seconds ("24h0m0s", "1.5s"); below a second
// one unit only ("500ms", "1.5µs").
std::string FormatDuration(Duration duration);

// Longer than anybody means, and short enough to be added to any time of today.
inline constexpr Duration kCentury = std::chrono::hours(24 * 365 * 100);

// Seconds as a client wrote them: whatever the number, at most a century either way.
constexpr Duration BoundedSeconds(int64_t seconds) {
  constexpr int64_t kMost = std::chrono::duration_cast<std::chrono::seconds>(kCentury).count();
  return std::chrono::seconds(std::clamp(seconds, -kMost, kMost));
}

}  // namespace koord
