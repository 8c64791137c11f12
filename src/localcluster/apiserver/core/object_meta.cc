#include "localcluster/apiserver/core/object_meta.h"

#include "localcluster/apiserver/core/errors.h"
#include "localcluster/apiserver/registry/json_edit.h"
#include "localcluster/apiserver/registry/registry.h"

namespace koord::apiserver {
namespace {

constexpr size_t kMaxGeneratedBase = 58;

json::object& MetaOf(Json& object) {
  Json& meta = kube::At(object, {"metadata"});
  return meta.is_object() ? meta.get_object() : meta.emplace_object();
}

Status AcceptNamespace(const ResourceInfo& info, std::string_view ns, json::object& meta) {
  const std::string_view own = StringAt(meta, "namespace");
  if (!own.empty() && own != ns && info.resource.namespaced) {
    return BadRequest(
        "the namespace of the provided object does not match the namespace sent on the request");
  }
  if (info.resource.namespaced) {
    meta["namespace"] = ns;
  } else {
    meta.erase("namespace");
  }
  return absl::OkStatus();
}

// What is empty is not there.
void DropEmpty(json::object& meta) {
  for (const char* field : {"labels", "annotations", "ownerReferences", "finalizers"}) {
    const Json* value = meta.if_contains(field);
    if (value == nullptr) continue;
    const bool empty = (value->is_object() && value->get_object().empty()) ||
                       (value->is_array() && value->get_array().empty());
    if (empty) meta.erase(field);
  }
}

// Everything but metadata and status.
bool ContentDiffers(const json::object& now, const json::object& before) {
  const auto counts = [](std::string_view key) {
    return key != "metadata" && key != "status" && key != "apiVersion" && key != "kind";
  };
  size_t members = 0;
  for (const auto& member : now) {
    if (!counts(member.key())) continue;
    ++members;
    const Json* old = before.if_contains(member.key());
    if (old == nullptr || !kube::Equal(*old, member.value())) return true;
  }
  for (const auto& member : before) members -= counts(member.key()) ? 1 : 0;
  return members != 0;
}

bool Differs(const Json& object, const Json& old, std::initializer_list<std::string_view> path) {
  const Json* now = kube::Find(object, path);
  const Json* before = kube::Find(old, path);
  if (now == nullptr || before == nullptr) return now != before;
  return !kube::Equal(*now, *before);
}

bool CountsAsNewGeneration(const ResourceInfo& info, const Json& object, const Json& old) {
  switch (StrategyOf(info).generation) {
    case GenerationRule::kNever:
      return false;
    case GenerationRule::kSpec:
      return Differs(object, old, {"spec"});
    case GenerationRule::kSpecAndAnnotations:
      return Differs(object, old, {"spec"}) || Differs(object, old, {"metadata", "annotations"});
    case GenerationRule::kContent:
      if (!info.has_status() && Differs(object, old, {"status"})) return true;
      return ContentDiffers(object.as_object(), old.as_object());
  }
  return false;
}

}  // namespace

Status AcceptNewMeta(const ResourceInfo& info, std::string_view ns, Json& object) {
  json::object& meta = MetaOf(object);
  if (!StringAt(meta, "resourceVersion").empty()) {
    return PlainError("resourceVersion should not be set on objects to be created");
  }
  for (const char* field : {"resourceVersion", "uid", "creationTimestamp", "deletionTimestamp",
                            "deletionGracePeriodSeconds", "selfLink", "generation"}) {
    meta.erase(field);
  }
  DropEmpty(meta);
  return AcceptNamespace(info, ns, meta);
}

Status AcceptMutatedMeta(const ResourceInfo& info, std::string_view ns, Json& object) {
  return AcceptNamespace(info, ns, MetaOf(object));
}

void CompleteNewMeta(Core& core, const ResourceInfo& info, Json& object) {
  json::object& meta = MetaOf(object);
  if (const std::string_view base = StringAt(meta, "generateName");
      StringAt(meta, "name").empty() && !base.empty()) {
    const std::string name = std::string(base.substr(0, kMaxGeneratedBase)) + core.NameSuffix();
    meta["name"] = name;
  }
  meta["uid"] = core.NewUid();
  meta["creationTimestamp"] = core.Timestamp();
  if (StrategyOf(info).generation != GenerationRule::kNever) meta["generation"] = 1;
}

Status AcceptUpdatedMeta(const ResourceInfo& info, std::string_view ns, std::string_view name,
                         Json& object, const Json& old) {
  json::object& meta = MetaOf(object);
  DropEmpty(meta);
  SetIfUnset(meta, "name", name);
  if (const std::string_view own = StringAt(meta, "name"); own != name) {
    return BadRequest("the name of the object ({}) does not match the name on the URL ({})", own,
                      name);
  }
  RETURN_IF_ERROR(AcceptNamespace(info, ns, meta));

  const std::string_view version = StringAt(meta, "resourceVersion");
  const std::string_view stored = kube::FindString(old, {"metadata", "resourceVersion"});
  if (version.empty()) {
    if (!StrategyOf(info).unconditional_update) {
      // The one Invalid error that names the resource where others name the kind.
      return kube::ToStatus(InvalidError(
          info.resource.resource, info.resource.group, name,
          {Invalid("metadata.resourceVersion", Json(0), "must be specified for an update")}));
    }
  } else if (version != stored) {
    return Modified(info.resource, name);
  }
  const std::string_view uid = StringAt(meta, "uid");
  const std::string_view stored_uid = kube::FindString(old, {"metadata", "uid"});
  if (!uid.empty() && uid != stored_uid) {
    return Conflict(info.resource.qualified(), name,
                    fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: "
                                "{}",
                                uid, stored_uid));
  }
  return absl::OkStatus();
}

void CarryOverMeta(Json& object, const Json& old) {
  json::object& meta = MetaOf(object);
  meta.erase("selfLink");
  for (const char* field : {"uid", "creationTimestamp", "generation"}) {
    if (const Json* before = kube::Find(old, {"metadata", field})) {
      Json& now = meta[field];  // mostly the same: whoever changes an object sends what it has
      if (!kube::Equal(now, *before)) now = *before;
    } else {
      meta.erase(field);
    }
  }
  if (!IsBeingDeleted(old)) return;
  meta["deletionTimestamp"] = *kube::Find(old, {"metadata", "deletionTimestamp"});
  if (const Json* grace = kube::Find(old, {"metadata", "deletionGracePeriodSeconds"})) {
    SetIfUnset(meta, "deletionGracePeriodSeconds", *grace);
  }
}

void BumpGeneration(const ResourceInfo& info, Json& object, const Json& old) {
  if (!CountsAsNewGeneration(info, object, old)) return;
  MetaOf(object)["generation"] = kube::FindInt(old, {"metadata", "generation"}) + 1;
}

bool IsBeingDeleted(const Json& object) {
  return !kube::FindString(object, {"metadata", "deletionTimestamp"}).empty();
}

bool HasFinalizers(const ResourceInfo& info, const Json& object) {
  const auto any = [&](std::string_view part) {
    const json::array* finalizers = kube::FindArray(object, {part, "finalizers"});
    return finalizers != nullptr && !finalizers->empty();
  };
  // A namespace has one more list: it stands for what is in it.
  return any("metadata") || (info.stored_as() == "namespaces" && any("spec"));
}

}  // namespace koord::apiserver
