#pragma once
#include <optional>

#include "base/clock.h"

namespace koord::scheduler {

// How long a pod that failed must wait before it is tried again: twice as long after each failure,
// up to a limit. Moments are whole seconds, so that pods that fail together come back together.
struct Backoff {
  Duration initial = 1s;
  Duration max = 10s;  // 0: nobody waits

  Duration After(int failures) const;
  // The last second during which the pod still waits; nothing if it need not wait at all.
  std::optional<SteadyTime> Until(SteadyTime failed_at, int failures) const;
};

// Whether a pod that waits until `until` still does.
inline bool StillWaits(SteadyTime until, SteadyTime now) {
  return until >= std::chrono::floor<std::chrono::seconds>(now);
}

}  // namespace koord::scheduler
