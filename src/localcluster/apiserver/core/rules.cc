#include "localcluster/apiserver/core/rules.h"

#include <algorithm>

#include "kube/resources.h"
#include "localcluster/apiserver/admission/webhooks.h"
#include "localcluster/apiserver/core/object_meta.h"
#include "localcluster/apiserver/crd/definition.h"
#include "localcluster/apiserver/registry/json_edit.h"
#include "localcluster/apiserver/registry/prepare.h"
#include "localcluster/apiserver/registry/validation.h"

namespace koord::apiserver {
namespace {

bool IsDefinition(const ResourceInfo& info) {
  return info.resource.kind == "CustomResourceDefinition" && !info.custom;
}

bool IsWebhookConfiguration(const ResourceInfo& info) {
  return info.resource.group == "admissionregistration.k8s.io" && !info.custom;
}

bool IsPod(const ResourceInfo& info) { return info.type != nullptr && info.resource.kind == "Pod"; }

bool HasBuiltinStatus(const ResourceInfo& info) {
  return info.type != nullptr && !info.custom && info.has_status();
}

void TakeMeta(Json& object, const Json& old, std::string_view field) {
  const json::object* from = kube::FindObject(old, {"metadata"});
  json::object* to = kube::At(object, {"metadata"}).if_object();
  if (from != nullptr && to != nullptr) TakeField(*to, *from, field);
}

// /status of a built-in kind: everything outside of metadata and status is the stored one.
void KeepAllButStatus(json::object& object, const json::object& old) {
  std::vector<std::string> members;
  for (const auto& member : object) members.emplace_back(member.key());
  for (const auto& member : old) members.emplace_back(member.key());
  for (const std::string& member : members) {
    if (member != "metadata" && member != "status") TakeField(object, old, member);
  }
}

// /status of a custom resource changes status and field ownership, nothing else.
void KeepAllButCustomStatus(Json& object, const Json& old) {
  Json kept = old;
  json::object& members = kept.as_object();
  TakeField(members, object.as_object(), "status");
  TakeMeta(kept, object, "managedFields");
  TakeMeta(kept, object, "resourceVersion");
  object = std::move(kept);
}

void PrepareStatusUpdate(const ResourceInfo& info, Json& object, const Json& old) {
  if (info.custom) return KeepAllButCustomStatus(object, old);
  KeepAllButStatus(object.as_object(), old.as_object());
  if (IsPod(info)) {
    TakeMeta(object, old, "ownerReferences");
    if (!IsBeingDeleted(old)) TakeMeta(object, old, "deletionTimestamp");
    AlignPodIps(object);
  }
}

// Only this list of the pod's spec may come from the client.
void PrepareEphemeralContainers(Json& object, const Json& old) {
  Json kept = old;
  const json::object* asked = kube::FindObject(object, {"spec"});
  json::object* spec = kube::At(kept, {"spec"}).if_object();
  if (asked != nullptr && spec != nullptr) TakeField(*spec, *asked, "ephemeralContainers");
  TakeMeta(kept, object, "managedFields");
  TakeMeta(kept, object, "resourceVersion");
  object = std::move(kept);
}

// Objects of the same names in the same order.
bool SameNames(const json::array* one, const json::array* other) {
  if (one == nullptr || other == nullptr) {
    return (one == nullptr || one->empty()) && (other == nullptr || other->empty());
  }
  return std::ranges::equal(*one, *other, [](const Json& a, const Json& b) {
    return a.is_object() && b.is_object() &&
           kube::FindString(a, {"name"}) == kube::FindString(b, {"name"});
  });
}

// Only resources of containers, and how to resize them, may come from the client. Containers that
// came, went or moved are left for validation to refuse.
void PrepareResize(Json& object, const Json& old) {
  Json kept = old;
  for (const char* list : {"containers", "initContainers"}) {
    const json::array* wanted = kube::FindArray(object, {"spec", list});
    Json* found = kube::Find(kept, {"spec", list});
    json::array* containers = found == nullptr ? nullptr : found->if_array();
    if (!SameNames(wanted, containers)) return;
    for (size_t i = 0; wanted != nullptr && i < wanted->size(); ++i) {
      for (const char* field : {"resources", "resizePolicy"}) {
        TakeField((*containers)[i].as_object(), (*wanted)[i].as_object(), field);
      }
    }
  }
  TakeMeta(kept, object, "managedFields");
  TakeMeta(kept, object, "resourceVersion");
  object = std::move(kept);
}

// Definitions are judged as they are written: what is accepted is served at once.
void AcceptDefinition(const Core& core, Json& object) {
  std::vector<const Json*> others;
  for (const auto& [name, definition] : core.definitions) others.push_back(&definition);
  UpdateDefinitionStatus(object, others, core.now());
}

void PrepareMainUpdate(const ResourceInfo& info, Json& object, const Json& old) {
  if (info.has_status()) TakeField(object.as_object(), old.as_object(), "status");
  if (IsPod(info)) {
    json::object* spec = kube::At(object, {"spec"}).if_object();
    const json::object* before = kube::FindObject(old, {"spec"});
    if (spec != nullptr && before != nullptr) TakeField(*spec, *before, "ephemeralContainers");
  }
  const Strategy& strategy = StrategyOf(info);
  if (strategy.prepare_update != nullptr) strategy.prepare_update(object, old);
}

void Append(FieldErrors& errors, FieldErrors more) {
  errors.insert(errors.end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
}

// Whoever scales an object reads these as counts.
FieldErrors ValidateScale(const ScalePaths& scale, const Json& object) {
  FieldErrors errors;
  const std::pair<const JsonPath*, const char*> counts[] = {
      {&scale.spec_replicas, ".spec.replicas"}, {&scale.status_replicas, ".status.replicas"}};
  for (const auto& [path, name] : counts) {
    const Json* value = path->First(object);
    if (value == nullptr || !value->is_int64() || value->get_int64() >= 0) continue;
    errors.push_back(Invalid(name, *value, "should be a non-negative integer"));
  }
  return errors;
}

FieldErrors ValidateCustom(const Core& core, const ResourceInfo& info, const Json& object,
                           const Json* old) {
  const CustomVersion* version = core.FindCustomVersion(info);
  if (version == nullptr) return {};
  FieldErrors errors = version->schema->Validate(object, old);
  if (version->scale) Append(errors, ValidateScale(*version->scale, object));
  return errors;
}

void ValidateContent(const Core& core, const ResourceInfo& info, const Json& object,
                     const Json* old, FieldErrors& errors) {
  if (info.custom) return Append(errors, ValidateCustom(core, info, object, old));
  if (IsDefinition(info)) Append(errors, ValidateDefinition(object));
  if (IsWebhookConfiguration(info)) Append(errors, ValidateWebhookConfiguration(object));
  const Strategy& strategy = StrategyOf(info);
  if (strategy.validate != nullptr) strategy.validate(object, errors);
}

}  // namespace

void SetBuiltinDefaults(const ResourceInfo& info, Json& object) {
  if (IsDefinition(info)) DefaultDefinition(object);
  if (IsWebhookConfiguration(info)) DefaultWebhookConfiguration(object);
  const Strategy& strategy = StrategyOf(info);
  if (strategy.set_defaults != nullptr) strategy.set_defaults(object);
}

void PrepareCreate(const Core& core, const ResourceInfo& info, Json& object) {
  const Strategy& strategy = StrategyOf(info);
  if (info.has_status() && !strategy.keeps_status_on_create) {
    object.as_object().erase("status");
  }
  if (strategy.prepare_create != nullptr) strategy.prepare_create(object);
  if (HasBuiltinStatus(info)) CompleteStatus(info.resource, object);
  if (IsDefinition(info)) AcceptDefinition(core, object);
}

void PrepareUpdate(const Core& core, const ResourceInfo& info, std::string_view subresource,
                   Json& object, const Json& old) {
  if (subresource.empty()) {
    PrepareMainUpdate(info, object, old);
    if (IsDefinition(info)) AcceptDefinition(core, object);
  } else if (subresource == "status") {
    PrepareStatusUpdate(info, object, old);
  } else if (subresource == "ephemeralcontainers") {
    PrepareEphemeralContainers(object, old);
  } else if (subresource == "resize") {
    PrepareResize(object, old);
  } else if (subresource == "finalize") {
    const Json* finalizers = kube::Find(object, {"spec", "finalizers"});
    Json kept = old;
    kube::At(kept, {"spec", "finalizers"}) =
        finalizers == nullptr ? Json(json::array()) : *finalizers;
    TakeMeta(kept, object, "managedFields");
    TakeMeta(kept, object, "resourceVersion");
    object = std::move(kept);
  }
  if (HasBuiltinStatus(info)) CompleteStatus(info.resource, object);
  CarryOverMeta(object, old);
}

FieldErrors ValidateCreate(const Core& core, const ResourceInfo& info, const Json& object) {
  FieldErrors errors;
  ValidateObjectMeta(object, info.resource.namespaced, StrategyOf(info).name, errors);
  ValidateContent(core, info, object, nullptr, errors);
  return errors;
}

FieldErrors ValidateUpdate(const Core& core, const ResourceInfo& info, std::string_view subresource,
                           const Json& object, const Json& old) {
  FieldErrors errors;
  ValidateObjectMeta(object, info.resource.namespaced, StrategyOf(info).name, errors);
  ValidateObjectMetaUpdate(object, old, errors);
  if (info.custom) {
    Append(errors, ValidateCustom(core, info, object, &old));
  } else if (subresource.empty() || subresource == "scale") {
    ValidateContent(core, info, object, &old, errors);
    if (IsDefinition(info)) Append(errors, ValidateDefinitionUpdate(object, old));
    const Strategy& strategy = StrategyOf(info);
    if (strategy.validate_update != nullptr) strategy.validate_update(object, old, errors);
  } else if (subresource == "resize") {
    ValidatePod(object, errors);
    ValidatePodResize(object, old, errors);
  } else if (subresource == "ephemeralcontainers") {
    ValidatePod(object, errors);
    ValidateEphemeralContainers(object, old, errors);
  }
  return errors;
}

}  // namespace koord::apiserver
