// A schema and an object of it, a line each. What compiles must do its work on any object, and
// doing it twice must change nothing more.
#include <cstdint>
#include <string_view>

#include "base/fuzz.h"
#include "localcluster/apiserver/crd/definition.h"

namespace {

using namespace koord;
using namespace koord::apiserver;

void ProcessObject(const StructuralSchema& schema, kube::Json object) {
  schema.Prune(object);
  FUZZ_ASSERT(schema.Prune(object).empty());
  schema.ApplyDefaults(object);
  kube::Json again = object;
  schema.ApplyDefaults(again);
  FUZZ_ASSERT(kube::Equal(object, again));
  schema.Validate(object);
  FUZZ_ASSERT(schema.Validate(object, &again).size() <= schema.Validate(object).size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = FuzzText(data, size);
  const size_t line = text.find('\n');
  const auto schema = kube::ParseJson(text.substr(0, line));
  if (!schema.ok()) return 0;
  kube::Json definition = *schema;
  DefaultDefinition(definition);
  ValidateDefinition(definition);

  FieldErrors errors;
  const auto compiled = StructuralSchema::Compile(*schema, "", errors);
  if (compiled == nullptr || line == std::string_view::npos) return 0;
  const auto object = kube::ParseJson(text.substr(line + 1));
  if (object.ok()) ProcessObject(*compiled, *object);
  return 0;
}
