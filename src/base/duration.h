#pragma once
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

}  // namespace koord
