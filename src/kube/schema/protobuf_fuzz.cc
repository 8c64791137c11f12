#include "kube/schema/protobuf.h"

#include "base/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace koord::kube;
  const auto decoded = DecodeProtobuf(koord::FuzzText(data, size));
  if (!decoded.ok()) return 0;
  FUZZ_ASSERT(!IsTooDeep(*decoded));
  FUZZ_ASSERT(ParseJson(Serialize(*decoded)).ok());
  return 0;
}
