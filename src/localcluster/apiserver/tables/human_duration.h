#pragma once
#include <string>
#include <string_view>

#include "base/clock.h"

namespace koord::apiserver {

// An age for people, exact where it is small: "119s", "3h5m", "2d2h", "400d", "2y1d".
// "<invalid>" if it lies more than a second in the future.
std::string HumanDuration(Duration duration);

// How long ago an RFC 3339 time was; "<unknown>" if the text is empty, "<invalid>" if it is no
// time.
std::string HumanAge(std::string_view time, WallTime now);

}  // namespace koord::apiserver
