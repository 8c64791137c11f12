#include "base/trim_memory.h"

#include <malloc.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>

namespace koord {

void TrimMemory() {
  malloc_trim(0);
  const std::unique_ptr<FILE, int (*)(FILE*)> maps(std::fopen("/proc/self/maps", "re"),
                                                   &std::fclose);
  if (maps == nullptr) return;
  char line[4096];
  while (std::fgets(line, sizeof line, maps.get()) != nullptr) {
    uintptr_t begin = 0;
    uintptr_t end = 0;
    char permissions[5] = {};
    if (std::sscanf(line, "%lx-%lx %4s", &begin, &end, permissions) != 3) continue;
    // Code only: it is never written, so that nothing can be lost.
    if (std::strcmp(permissions, "r-xp") != 0 || std::strchr(line, '/') == nullptr) continue;
    madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
}

}  // namespace koord
