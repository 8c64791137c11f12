#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "kube/codec.h"

namespace koord::kube {

// "2026-07-01T10:00:00Z": fractions are dropped.
std::string FormatTime(WallTime time);
// "2026-07-01T10:00:00.000000Z"
std::string FormatMicroTime(WallTime time);
// Any RFC 3339 text, fraction and offset allowed. Times beyond these bounds are taken for the
// bound: whoever writes "9999-12-31T00:00:00Z" means never, and the time between any two that were
// read fits a Duration.
inline constexpr WallTime kEarliestTime{std::chrono::sys_days{std::chrono::year{1900} / 1 / 1}};
inline constexpr WallTime kLatestTime{std::chrono::sys_days{std::chrono::year{2160} / 1 / 1}};
std::optional<WallTime> ParseTime(std::string_view text);

// RFC 3339 text as Kubernetes would write it back, in UTC and with this many fraction digits
// (further ones are dropped). All years from 0 to 9999; nullopt if it is no time.
std::optional<std::string> NormalizeTime(std::string_view text, int fraction_digits);
// Likewise, from seconds since 1970; nullopt outside those years.
std::optional<std::string> FormatUnixTime(int64_t seconds, int64_t nanos, int fraction_digits);

// A time that is written with microseconds (Lease, events.k8s.io).
struct MicroTime {
  WallTime time;
  auto operator<=>(const MicroTime&) const = default;
};
template <>
struct Codec<MicroTime> {
  static Status Read(JsonView in, MicroTime& out);
  static Json Write(MicroTime value) { return Json(FormatMicroTime(value.time)); }
};

// A Go duration: "1m30s".
template <>
struct Codec<Duration> {
  static Status Read(JsonView in, Duration& out);
  static Json Write(Duration value);
};

}  // namespace koord::kube
