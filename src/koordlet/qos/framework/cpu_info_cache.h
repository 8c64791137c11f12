#pragma once
#include <optional>

#include "base/clock.h"
#include "koordlet/host/host.h"

namespace koord::koordlet {

// The processors of the machine. They hardly ever change and take long to read, so that they are
// looked at once a minute; while they cannot be read, what was seen last holds.
class CpuInfoCache {
 public:
  CpuInfoCache(const Host& host, const Clock& clock) : host_(host), clock_(clock) {}

  // Null: never seen yet.
  const CpuInfo* Get();

 private:
  static constexpr Duration kMaxAge = std::chrono::seconds(60);

  const Host& host_;
  const Clock& clock_;
  std::optional<CpuInfo> info_;
  std::optional<SteadyTime> read_at_;
};

}  // namespace koord::koordlet
