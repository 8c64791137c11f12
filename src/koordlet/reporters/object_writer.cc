#include "koordlet/reporters/object_writer.h"

#include "base/log.h"

namespace koord::koordlet {

ObjectWriter::ObjectWriter(kube::Client& client, kube::Resource resource, std::string name)
    : client_(client), resource_(std::move(resource)), name_(std::move(name)) {}

ObjectWriter::~ObjectWriter() { *alive_ = false; }

void ObjectWriter::Create(const kube::Json& object) {
  if (busy_) return;
  // Kubernetes takes no object of a custom kind that does not say what it is.
  kube::json::object typed{{"apiVersion", resource_.api_version()}, {"kind", resource_.kind}};
  for (const auto& [key, value] : object.as_object()) typed[key] = value;
  client_.Create(resource_, "", typed, {}, Answered("create"));
}

void ObjectWriter::Patch(const kube::Json& patch, const std::string& subresource) {
  if (busy_) return;
  kube::WriteOptions options;
  options.subresource = subresource;
  client_.Patch(resource_, {"", name_}, kube::PatchType::kMerge, patch, options, Answered("patch"));
}

kube::Client::Done ObjectWriter::Answered(const char* verb) {
  busy_ = true;
  return [this, alive = alive_, verb](const StatusOr<kube::Json>& answer) {
    if (!*alive) return;
    busy_ = false;
    if (answer.ok()) return complaints_.Forget(resource_.kind, verb);
    const Status& status = answer.status();
    // Somebody else was faster, or the object has gone: the next round sees it.
    const bool is_race =
        absl::IsAborted(status) || absl::IsAlreadyExists(status) || absl::IsNotFound(status);
    if (is_race) {
      LOG_V(4, "A report came too late", {"kind", resource_.kind}, {"err", status});
    } else if (complaints_.IsNew(resource_.kind, verb, Message(status))) {
      LOG_ERROR("Failed to report", {"kind", resource_.kind}, {"verb", verb}, {"err", status});
    }
  };
}

}  // namespace koord::koordlet
