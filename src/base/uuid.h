#pragma once
#include <fmt/format.h>

#include <string>

#include "base/random.h"

namespace koord {

// A version 4 UUID: "9b2c1f0e-6c1d-4f0b-8a3e-1d2c3b4a5968".
inline std::string NewUuid(Random& random) {
  const uint64_t high = random(), low = random();
  return fmt::format("{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xffff,
                     high & 0xfff, 0x8000 | ((low >> 48) & 0x3fff), low & 0xffff'ffff'ffff);
}

}  // namespace koord
