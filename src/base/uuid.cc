#include "base/uuid.h"

#include <fmt/format.h>

namespace koord {

std::string NewUuid(Random& random) {
  const uint64_t high = (random() & ~0xf000ull) | 0x4000ull;
  const uint64_t low = (random() & ~(0x3ull << 62)) | (0x2ull << 62);
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xffff,
                     high & 0xffff, low >> 48, low & 0xffffffffffff);
}

}  // namespace koord
