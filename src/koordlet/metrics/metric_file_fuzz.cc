#include <boost/crc.hpp>

#include "base/fuzz.h"
#include "base/fuzz_file.h"
#include "base/virtual_loop.h"
#include "koordlet/metrics/metric_store.h"

// What an earlier koordlet has saved is loaded, or nothing is. The magic number and the checksum
// are right here, since a fuzzer would hardly find them.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace koord;
  std::string text = "KOORDMT1";
  text += FuzzText(data, size);
  boost::crc_32_type checksum;
  checksum.process_bytes(text.data(), text.size());
  const uint32_t sum = checksum.checksum();
  text.append(reinterpret_cast<const char*>(&sum), sizeof(sum));

  const FuzzFile file("metrics.bin", text);
  VirtualLoop loop;
  koordlet::MetricStore store(loop.clock(), {.max_bytes = 1 << 20});
  if (!store.Load(file.directory()).ok()) {
    FUZZ_ASSERT(store.series() == 0);
    return 0;
  }
  const koordlet::MetricKey key{koordlet::Metric::kNodeCpu};
  store.Append(key, 1);
  FUZZ_ASSERT(store.Last(key, std::chrono::hours(1)) == 1);
  store.Summarize(key, std::chrono::hours(1));
  store.CollectGarbage();
  return 0;
}
