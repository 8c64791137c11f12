#include "kube/patch/strategic_merge_patch.h"

#include "kube/patch/patch_fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace koord::kube;
  const auto input = patch_internal::ReadFuzzInput(data, size);
  if (!input) return 0;
  static const Type& type = *FindBuiltinType("v1", "Pod");
  const auto result = ApplyStrategicMergePatch(input->document, input->patch, type);
  FUZZ_ASSERT(!result.ok() || !IsTooDeep(*result));
  return 0;
}
