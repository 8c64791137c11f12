#include "scheduler/queue/backoff.h"

namespace koord::scheduler {

Duration Backoff::After(int failures) const {
  if (failures <= 0 || max <= Duration::zero()) return Duration::zero();
  const int doublings = failures - 1;
  // Asked this way round nothing overflows, however many failures there were.
  constexpr int kBits = 63;
  if (doublings >= kBits || initial.count() > (max.count() >> doublings)) return max;
  return Duration(initial.count() << doublings);
}

std::optional<SteadyTime> Backoff::Until(SteadyTime failed_at, int failures) const {
  if (failures <= 0 || max <= Duration::zero()) return std::nullopt;
  return std::chrono::floor<std::chrono::seconds>(failed_at + After(failures));
}

}  // namespace koord::scheduler
