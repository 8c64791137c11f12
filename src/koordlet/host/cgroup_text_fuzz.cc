#include "base/fuzz.h"
#include "koordlet/host/cgroups.h"

// Whatever a file of the kernel holds: a value in its range, or an error.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using koord::koordlet::CgroupVersion;
  const std::string_view text = koord::FuzzText(data, size);
  for (const CgroupVersion version : {CgroupVersion::kV1, CgroupVersion::kV2}) {
    const auto usage = koord::koordlet::ParseCpuUsage(text, version);
    FUZZ_ASSERT(!usage.ok() || *usage >= 0);
    const auto memory = koord::koordlet::ParseMemoryStat(text, version);
    FUZZ_ASSERT(!memory.ok() || memory->active_anon >= 0);
    const auto pages = koord::koordlet::ParseNumaStat(text, version);
    FUZZ_ASSERT(!pages.ok() || (!pages->by_node.empty() && pages->by_node.size() <= 1024));
    FUZZ_ASSERT(!pages.ok() || !pages->lists || pages->lists->anon >= 0);
  }
  const auto pressure = koord::koordlet::ParsePressure(text);
  FUZZ_ASSERT(!pressure.ok() || (pressure->some.avg10 >= 0 && pressure->some.avg10 <= 100));
  const auto limit = koord::koordlet::ParseLimit(text);
  FUZZ_ASSERT(!limit.ok() || limit->value() >= 0);
  koord::koordlet::ParseCpuStat(text).IgnoreError();
  koord::koordlet::ParseIds(text).IgnoreError();
  return 0;
}
