#include "kube/yaml.h"

#include "base/fuzz.h"

// What is printed must read as the same document.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace koord::kube;
  const auto documents = ParseYamlDocuments(koord::FuzzText(data, size));
  if (!documents.ok()) return 0;
  for (const YamlDocument& document : *documents) {
    FUZZ_ASSERT(!IsTooDeep(document.value));
    const auto again = ParseYaml(ToYaml(document.value));
    FUZZ_ASSERT(again.ok() && Equal(*again, document.value));
  }
  return 0;
}
