#include "localcluster/apiserver/core/versions.h"

#include <algorithm>

#include "base/strings.h"
#include "kube/resources.h"
#include "localcluster/apiserver/core/event_versions.h"
#include "localcluster/apiserver/core/object_text.h"

namespace koord::apiserver {

using kube::Json;
namespace json = kube::json;

namespace {

bool IsEventView(const ResourceInfo& info) {
  return info.resource.group == kube::kEventsV1.group &&
         info.resource.resource == kube::kEventsV1.resource;
}

// A custom object that was written before its schema last changed, or in another version, may lack
// defaults that this version has.
const StructuralSchema* SchemaToApply(const Core& core, const ResourceInfo& info,
                                      const Entry& entry) {
  const CustomVersion* version = core.FindCustomVersion(info);
  if (version == nullptr) return nullptr;
  const bool current = entry.revision > core.FindCustom(info)->schema_since &&
                       ApiVersionOf(entry.value) == info.resource.api_version();
  return current ? nullptr : version->schema.get();
}

std::string ScalarText(const Json& value) {
  if (const json::string* text = value.if_string()) return std::string(*text);
  if (value.is_object() || value.is_array() || value.is_null()) return "";
  return kube::Serialize(value);
}

const Json* Walk(const Json& object, const std::vector<std::string>& path) {
  const Json* at = &object;
  for (const std::string& name : path) {
    const json::object* members = at->if_object();
    at = members == nullptr ? nullptr : members->if_contains(name);
    if (at == nullptr) return nullptr;
  }
  return at;
}

// Without the room to grow that a text has which was just made: it is kept as long as the object.
std::string StoredText(const ResourceInfo& info, const Json& object, Revision revision) {
  std::string text = ObjectText(info.stored_api_version(), info.resource.kind, object, revision);
  text.shrink_to_fit();
  return text;
}

void IndexLabels(const Json& object, Entry& entry) {
  const json::object* labels = kube::FindObject(object, {"metadata", "labels"});
  if (labels == nullptr) return;
  entry.labels.reserve(labels->size());
  for (const auto& pair : *labels) entry.labels.emplace_back(pair.key(), ScalarText(pair.value()));
  std::sort(entry.labels.begin(), entry.labels.end());
}

void IndexFields(const std::vector<SelectableField>& fields, const Json& object, Entry& entry) {
  for (const SelectableField& field : fields) {
    std::string text = FieldText(field, object);
    if (!text.empty()) entry.fields.emplace_back(field.indexed_as, std::move(text));
  }
  std::sort(entry.fields.begin(), entry.fields.end());
  entry.fields.erase(std::unique(entry.fields.begin(), entry.fields.end()), entry.fields.end());
}

}  // namespace

std::string FieldText(const SelectableField& field, const Json& object) {
  const Json* value = Walk(object, field.path);
  return value == nullptr ? field.otherwise : ScalarText(*value);
}

Json LoadObject(const Core& core, const ResourceInfo& info, const Entry& entry) {
  auto parsed = kube::ParseShortLivedJson(entry.value);
  Json object = parsed.ok() ? std::move(*parsed) : Json(json::object());
  if (IsEventView(info)) EventFromCore(object);
  kube::At(object, {"apiVersion"}) = info.resource.api_version();
  if (const StructuralSchema* schema = SchemaToApply(core, info, entry)) {
    schema->ApplyDefaults(object);
  }
  return object;
}

std::string_view TextIn(const Core& core, const ResourceInfo& info, const Entry& entry,
                        std::string& scratch) {
  if (info.custom ? SchemaToApply(core, info, entry) != nullptr : IsEventView(info)) {
    scratch = ObjectText(info.resource.api_version(), info.resource.kind,
                         LoadObject(core, info, entry), entry.revision);
    return scratch;
  }
  const bool as_stored = info.custom || info.storage_api_version.empty() ||
                         info.storage_api_version == info.resource.api_version();
  if (as_stored) return entry.value;
  scratch = WithApiVersion(entry.value, info.resource.api_version());
  return scratch;
}

Entry MakeEntry(const ResourceInfo& info, std::string key, const Json& object, Revision revision) {
  Entry entry;
  entry.key = std::move(key);
  entry.revision = revision;
  if (IsEventView(info)) {
    Json stored = object;
    EventToCore(stored);
    entry.value = StoredText(info, stored, revision);
    IndexLabels(stored, entry);
    IndexFields(info.selectable_fields, stored, entry);
    return entry;
  }
  entry.value = StoredText(info, object, revision);
  IndexLabels(object, entry);
  if (!info.custom) IndexFields(info.selectable_fields, object, entry);
  return entry;
}

Entry AtRevision(const Entry& entry, Revision revision) {
  Entry moved = entry;
  moved.revision = revision;
  moved.value = WithRevision(entry.value, revision);
  return moved;
}

std::string_view IndexedField(const Entry& entry, std::string_view path) {
  const auto it = std::lower_bound(
      entry.fields.begin(), entry.fields.end(), path,
      [](const auto& field, std::string_view wanted) { return field.first < wanted; });
  return it != entry.fields.end() && it->first == path ? std::string_view(it->second)
                                                       : std::string_view();
}

void IndexEntry(std::string_view resource, Entry& entry) {
  static const auto& fields = *new StringMap<std::vector<SelectableField>>([] {
    StringMap<std::vector<SelectableField>> all;
    for (const ResourceInfoPtr& info : BuiltinResources()) {
      if (info->storage_name.empty() || info->storage_name == info->resource.qualified()) {
        all.emplace(info->stored_as(), info->selectable_fields);
      }
    }
    return all;
  }());
  const auto parsed = kube::ParseShortLivedJson(entry.value);
  if (!parsed.ok()) return;
  IndexLabels(*parsed, entry);
  if (const auto it = fields.find(resource); it != fields.end()) {
    IndexFields(it->second, *parsed, entry);
  }
}

}  // namespace koord::apiserver
