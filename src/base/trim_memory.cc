#include "base/trim_memory.h"

#include <malloc.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>

namespace koord {
namespace {

// One part of the memory, as /proc/self/smaps tells of it line by line.
struct Mapping {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  bool is_of_file = false;  // which nobody may write to by way of it

  // False: the line is not the first one of a mapping.
  bool Parse(const char* line) {
    char permissions[5] = {};
    if (std::sscanf(line, "%lx-%lx %4s", &begin, &end, permissions) != 3) return false;
    is_of_file = permissions[1] == '-' && permissions[3] == 'p' && permissions[0] == 'r' &&
                 std::strchr(line, '/') != nullptr;
    return true;
  }
};

}  // namespace

void TrimMemory() {
  malloc_trim(0);
  const std::unique_ptr<FILE, int (*)(FILE*)> maps(std::fopen("/proc/self/smaps", "re"),
                                                   &std::fclose);
  if (maps == nullptr) return;
  Mapping mapping;
  char line[4096];
  while (std::fgets(line, sizeof line, maps.get()) != nullptr) {
    if (mapping.Parse(line)) continue;
    unsigned long copied = 0;  // what the loader has written to, and the file does not have
    if (std::sscanf(line, "Anonymous: %lu kB", &copied) != 1) continue;
    if (!mapping.is_of_file || copied > 0) continue;
    madvise(reinterpret_cast<void*>(mapping.begin), mapping.end - mapping.begin, MADV_DONTNEED);
  }
}

}  // namespace koord
