#include "base/trim_memory.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "base/return_memory.h"

namespace koord {
namespace {

// One part of the memory, as /proc/self/smaps tells of it line by line.
struct Mapping {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  bool is_of_file = false;  // which nobody may write to by way of it

  // None: the line is not the first one of a mapping.
  static std::optional<Mapping> Parse(const char* line) {
    Mapping mapping;
    char permissions[5] = {};
    if (std::sscanf(line, "%lx-%lx %4s", &mapping.begin, &mapping.end, permissions) != 3) return {};
    mapping.is_of_file = std::string_view(permissions).starts_with("r-") && permissions[3] == 'p' &&
                         std::strchr(line, '/') != nullptr;
    return mapping;
  }
};

}  // namespace

void TrimMemory() {
  ReturnFreeMemory();
  const std::unique_ptr<FILE, int (*)(FILE*)> maps(std::fopen("/proc/self/smaps", "re"),
                                                   &std::fclose);
  if (maps == nullptr) return;
  Mapping mapping;
  char line[4096];
  while (std::fgets(line, sizeof line, maps.get()) != nullptr) {
    if (const auto next = Mapping::Parse(line)) {
      mapping = *next;
      continue;
    }
    unsigned long copied = 0;  // what the loader has written to, and the file does not have
    if (std::sscanf(line, "Anonymous: %lu kB", &copied) != 1) continue;
    if (!mapping.is_of_file || copied > 0) continue;
    madvise(reinterpret_cast<void*>(mapping.begin), mapping.end - mapping.begin, MADV_DONTNEED);
  }
}

}  // namespace koord
