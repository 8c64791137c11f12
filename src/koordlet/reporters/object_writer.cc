#include "koordlet/reporters/object_writer.h"

#include <utility>

#include "base/log.h"
#include "kube/controller/write.h"

namespace koord::koordlet {

ObjectWriter::ObjectWriter(kube::Client& client, kube::Resource resource, std::string name)
    : client_(client), resource_(std::move(resource)), name_(std::move(name)) {}

void ObjectWriter::Create(const kube::Json& object) {
  if (std::exchange(busy_, true)) return;
  client_.Create(resource_, "", kube::Create(resource_, object).body, {.ignore_answer = true},
                 Sent("create"));
}

void ObjectWriter::Patch(const kube::Json& patch, const std::string& subresource) {
  if (std::exchange(busy_, true)) return;
  client_.Patch(resource_, {"", name_}, kube::PatchType::kMerge, patch,
                {.subresource = subresource, .ignore_answer = true}, Sent("patch"));
}

kube::Client::Done ObjectWriter::Sent(const char* verb) {
  return scope_.Wrap([this, verb](const StatusOr<kube::Json>& answer) {
    busy_ = false;
    Answered(verb, answer.status());
  });
}

void ObjectWriter::Answered(const char* verb, const Status& status) {
  if (status.ok()) return known_problems_.Resolve({.object = resource_.kind, .kind = verb});
  // Somebody else was faster, or the object has gone: the next round sees it.
  const bool is_race =
      absl::IsAborted(status) || absl::IsAlreadyExists(status) || absl::IsNotFound(status);
  if (is_race) {
    LOG_V(4, "A report came too late", {"kind", resource_.kind}, {"err", status});
  } else if (known_problems_.IsNew({.object = resource_.kind, .kind = verb}, Message(status))) {
    LOG_ERROR("Failed to report", {"kind", resource_.kind}, {"verb", verb}, {"err", status});
  }
}

}  // namespace koord::koordlet
