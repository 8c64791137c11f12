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
// Any RFC 3339 text: fraction and offset allowed.
std::optional<WallTime> ParseTime(std::string_view text);

// A time that is written with microseconds (Lease, events.k8s.io).
struct MicroTime {
  WallTime time;
  auto operator<=>(const MicroTime&) const = default;
};
template <>
struct Codec<MicroTime> {
  static Status Read(const Json& in, MicroTime& out);
  static Json Write(MicroTime value) { return Json(FormatMicroTime(value.time)); }
};

}  // namespace koord::kube
