#include "kube/patch/merge_patch.h"

#include "kube/patch/patch_fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace koord::kube;
  const auto input = patch_internal::ReadFuzzInput(data, size);
  if (!input) return 0;
  const auto result = ApplyMergePatch(input->document, input->patch);
  if (!result.ok()) return 0;
  FUZZ_ASSERT(!IsTooDeep(*result));
  // The same patch again changes nothing, and neither does one made from no difference.
  FUZZ_ASSERT(Equal(*ApplyMergePatch(*result, input->patch), *result));
  FUZZ_ASSERT(!result->is_object() || CreateMergePatch(*result, *result) == Json(json::object()));
  return 0;
}
