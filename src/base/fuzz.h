#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

// For fuzz targets: what must hold for every input.
#define FUZZ_ASSERT(condition) \
  do {                         \
    if (!(condition)) abort(); \
  } while (false)

namespace koord {

inline std::string_view FuzzText(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace koord
