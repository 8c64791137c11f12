#include "base/fuzz.h"
#include "base/virtual_loop.h"
#include "koordlet/prediction/usage_model.h"

// A model that is read from a checkpoint predicts amounts, and can be written and read again.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace koord::koordlet;
  const koord::Duration half_life = std::chrono::hours(12);
  const UsageShapes shapes{CpuHistogramShape(half_life), MemoryHistogramShape(half_life)};
  const koord::WallTime now = koord::VirtualLoop::kStart;
  auto model = UsageModel::FromCheckpoint(shapes, "uid", koord::FuzzText(data, size), now);
  if (!model.ok()) return 0;
  FUZZ_ASSERT(model->bytes() < 1 << 20);
  model->Add(1, 1 << 30, now);
  const CpuAndMemory peak = model->Peak();
  FUZZ_ASSERT(peak.cpu >= koord::MilliCpu() && peak.memory >= 0);
  FUZZ_ASSERT(UsageModel::FromCheckpoint(shapes, "uid", model->ToCheckpoint("uid"), now).ok());
  return 0;
}
