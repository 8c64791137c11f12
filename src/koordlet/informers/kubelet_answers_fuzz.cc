#include <algorithm>

#include "base/fuzz.h"
#include "koordlet/informers/kubelet_client.h"

// Whatever the kubelet answers: the same list is read the same, also by one who knows its pods.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace koord;
  const std::string_view text = FuzzText(data, size);
  koordlet::PodListReader reader;
  const auto pods = reader.Read(text);
  const auto again = reader.Read(text);
  FUZZ_ASSERT(pods.ok() == again.ok());
  const auto same = [](const auto& a, const auto& b) { return *a == *b; };
  FUZZ_ASSERT(!pods.ok() || std::ranges::equal(pods->pods, again->pods, same));
  koordlet::ParseKubeletConfig(text).IgnoreError();
  return 0;
}
