#include "base/return_memory.h"

#include <malloc.h>

// Of tcmalloc, in programs that are linked to it.
extern "C" __attribute__((weak)) void MallocExtension_ReleaseFreeMemory();

namespace koord {

void ReturnFreeMemory() {
  if (MallocExtension_ReleaseFreeMemory != nullptr) {
    MallocExtension_ReleaseFreeMemory();
  } else {
    malloc_trim(0);
  }
}

}  // namespace koord
