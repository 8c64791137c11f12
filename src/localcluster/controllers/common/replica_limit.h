#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "kube/int_or_string.h"

namespace koord::localcluster {

// What counts replicas has 32 bits, and users may write numbers that use them all. Sums are made
// with 64, and cut off here.
inline int32_t ToReplicas(int64_t count) {
  using Limits = std::numeric_limits<int32_t>;
  return static_cast<int32_t>(std::clamp<int64_t>(count, Limits::min(), Limits::max()));
}

// A number, or a percentage of `total`; `otherwise` if it is absent or makes no sense.
inline int32_t LimitOf(const std::optional<kube::IntOrString>& limit, int32_t total,
                       kube::IntOrString::Rounding rounding, int32_t otherwise) {
  if (!limit) return otherwise;
  const StatusOr<int64_t> scaled = limit->Scale(total, rounding);
  return scaled.ok() ? ToReplicas(*scaled) : otherwise;
}

}  // namespace koord::localcluster
