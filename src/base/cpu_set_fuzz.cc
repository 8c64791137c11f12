#include "base/cpu_set.h"
#include "base/fuzz.h"

// Anybody who can annotate a pod writes lists of CPUs. What is read is written so that it reads the
// same.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto cpus = koord::CpuSet::Parse(koord::FuzzText(data, size));
  if (!cpus.ok()) {
    FUZZ_ASSERT(!cpus.status().message().empty());
    return 0;
  }
  size_t count = 0;
  int32_t last = -1;
  for (const int32_t cpu : *cpus) {
    FUZZ_ASSERT(last < cpu && koord::CpuSet::IsCpu(cpu) && cpus->Contains(cpu));
    last = cpu;
    ++count;
  }
  FUZZ_ASSERT(count == cpus->size());
  const auto again = koord::CpuSet::Parse(cpus->ToString());
  FUZZ_ASSERT(again.ok() && *again == *cpus);
  return 0;
}
