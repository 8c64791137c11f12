#include "kube/patch/json_patch.h"

#include "kube/patch/patch_fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace koord::kube;
  const auto input = patch_internal::ReadFuzzInput(data, size);
  if (!input) return 0;
  const auto result = ApplyJsonPatch(input->document, input->patch);
  FUZZ_ASSERT(!result.ok() || !IsTooDeep(*result));
  return 0;
}
