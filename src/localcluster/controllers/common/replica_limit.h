#pragma once
#include <cstdint>
#include <optional>

#include "kube/int_or_string.h"

namespace koord::localcluster {

// A number, or a percentage of `total`; `otherwise` if it is absent or makes no sense.
inline int32_t LimitOf(const std::optional<kube::IntOrString>& limit, int32_t total,
                       kube::IntOrString::Rounding rounding, int32_t otherwise) {
  if (!limit) return otherwise;
  const StatusOr<int64_t> scaled = limit->Scale(total, rounding);
  return scaled.ok() ? static_cast<int32_t>(*scaled) : otherwise;
}

}  // namespace koord::localcluster
