#pragma once
#include <cstdint>
#include <limits>
#include <optional>

namespace koord::api {

// The number if it fits.
inline std::optional<int32_t> ToInt32(std::optional<int64_t> value) {
  if (!value || *value < std::numeric_limits<int32_t>::min() ||
      *value > std::numeric_limits<int32_t>::max()) {
    return std::nullopt;
  }
  return static_cast<int32_t>(*value);
}

}  // namespace koord::api
