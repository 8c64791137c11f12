// Tables of the kernel that collectors read: amounts that come out of them are never negative.
#include "base/fuzz.h"
#include "koordlet/metrics/collectors/cold_memory.h"
#include "koordlet/metrics/collectors/meminfo.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = koord::FuzzText(data, size);
  const auto cold = koord::koordlet::ParseColdBytes(text);
  FUZZ_ASSERT(!cold.ok() || *cold >= 0);
  const auto memory = koord::koordlet::ParseMemInfoUsage(text);
  FUZZ_ASSERT(!memory.ok() || (memory->used >= 0 && memory->with_page_cache >= 0));
  return 0;
}
