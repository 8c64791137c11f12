#include "base/duration.h"

#include "base/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto duration = koord::ParseDuration(koord::FuzzText(data, size));
  if (!duration.ok()) return 0;
  const auto again = koord::ParseDuration(koord::FormatDuration(*duration));
  FUZZ_ASSERT(again.ok() && *again == *duration);
  return 0;
}
