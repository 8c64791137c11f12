#include "base/fuzz.h"
#include "koordlet/reporters/device_report.h"

// Vendors' programs write these files.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto report = koord::koordlet::ReadXpuFile(koord::FuzzText(data, size));
  FUZZ_ASSERT(report.ok() || !report.status().message().empty());
  return 0;
}
