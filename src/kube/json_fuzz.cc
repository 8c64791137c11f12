#include "kube/json.h"

#include "base/fuzz.h"

// Copying, writing and destroying must survive whatever parsing lets through.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace koord::kube;
  const auto parsed = ParseJson(koord::FuzzText(data, size));
  if (!parsed.ok()) return 0;
  const Json copy = *parsed;
  FUZZ_ASSERT(Equal(copy, *parsed));
  FUZZ_ASSERT(!IsTooDeep(copy));
  FUZZ_ASSERT(ParseJson(Serialize(copy)).ok());
  return 0;
}
