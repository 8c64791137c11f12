#include "kube/schema/strict.h"

#include "base/fuzz.h"

// A document that conforms stays as it is.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace koord::kube;
  const std::string_view text = koord::FuzzText(data, size);
  FindDuplicateFields(text);
  auto parsed = ParseJson(text);
  if (!parsed.ok()) return 0;
  static const Type* const kTypes[] = {
      FindBuiltinType("v1", "Pod"),
      FindBuiltinType("v1", "Node"),
      FindBuiltinType("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
  };
  for (const Type* type : kTypes) {
    Json document = *parsed;
    ReportedFields unknown;
    if (!Conform(*type, document, unknown).ok()) continue;
    Json again = document;
    ReportedFields still_unknown;
    FUZZ_ASSERT(Conform(*type, again, still_unknown).ok());
    FUZZ_ASSERT(still_unknown.empty() && Equal(again, document));
  }
  return 0;
}
