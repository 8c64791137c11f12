// Three objects, a line each: one that is created, what somebody makes of it, and what somebody
// else applies. Owners may be anything, as clients can write them.
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/fuzz.h"
#include "base/strings.h"
#include "kube/schema/type.h"
#include "localcluster/apiserver/apply/managed_fields.h"

namespace {

using namespace koord;
using namespace koord::apiserver;

void Write(const std::vector<kube::Json>& objects, const FieldSchema& schema) {
  kube::Json live = objects[0];
  TrackUpdate(nullptr, live, {"creator", "v1", "", WallTime()}, schema);
  if (objects.size() < 2) return;
  kube::Json updated = objects[1];
  TrackUpdate(&live, updated, {"editor", "v1", "", WallTime()}, schema);
  if (objects.size() < 3) return;

  const ApplyOptions force{{"applier", "v1", "", WallTime()}, true, nullptr};
  const auto applied = Apply(&updated, objects[2], force, schema);
  if (!applied.ok()) return;
  const auto again = Apply(&*applied, objects[2], force, schema);
  FUZZ_ASSERT(again.ok());
  FUZZ_ASSERT(UnchangedButForTimes(*applied, *again));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = FuzzText(data, size);
  std::vector<kube::Json> objects;
  for (const std::string_view line : Split(text, '\n')) {
    auto object = kube::ParseJson(line);
    if (!object.ok()) return 0;
    objects.push_back(*std::move(object));
  }
  if (objects.empty()) return 0;
  Write(objects, FieldSchema::Of(kube::FindBuiltinType("v1", "Pod")));
  Write(objects, FieldSchema::Untyped());
  return 0;
}
