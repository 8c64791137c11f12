#include "localcluster/apiserver/openapi/custom_schema.h"

#include <string_view>
#include <utility>

namespace koord::apiserver {

using kube::Json;
namespace json = kube::json;

namespace {

constexpr std::string_view kPreserve = "x-kubernetes-preserve-unknown-fields";

void CopyMember(const Json& from, std::string_view member, json::object& to) {
  if (const Json* value = kube::Find(from, {member})) to[member] = *value;
}

bool IsOpen(const Json& schema) {
  return kube::FindBool(schema, {kPreserve}) || kube::FindBool(schema, {"nullable"}) ||
         kube::FindBool(schema, {"x-kubernetes-int-or-string"}) ||
         kube::FindString(schema, {"type"}).empty();
}

json::object Open(const Json& schema) {
  json::object open;
  CopyMember(schema, "description", open);
  CopyMember(schema, kPreserve, open);
  return open;
}

void ConvertObject(const Json& schema, json::object& out) {
  if (const json::object* properties = kube::FindObject(schema, {"properties"})) {
    json::object converted;
    converted.reserve(properties->size());
    for (const auto& property : *properties) {
      converted[property.key()] = CustomSchemaV2(property.value());
    }
    out["properties"] = std::move(converted);
  }
  const Json* additional = kube::Find(schema, {"additionalProperties"});
  if (additional != nullptr && additional->is_object()) {
    out["additionalProperties"] = CustomSchemaV2(*additional);
  }
}

}  // namespace

json::object CustomSchemaV3(const Json& schema) {
  return schema.is_object() ? schema.get_object() : json::object{{"type", "object"}};
}

json::object CustomSchemaV2(const Json& schema) {
  if (IsOpen(schema)) return Open(schema);
  const std::string_view type = kube::FindString(schema, {"type"});
  const Json* items = kube::Find(schema, {"items"});
  if (type == "array" && items == nullptr) return Open(schema);
  json::object out;
  for (const std::string_view member :
       {"description", "type", "format", "required", "x-kubernetes-list-type",
        "x-kubernetes-list-map-keys", "x-kubernetes-map-type"}) {
    CopyMember(schema, member, out);
  }
  if (type == "object") ConvertObject(schema, out);
  if (type == "array") out["items"] = CustomSchemaV2(*items);
  return out;
}

}  // namespace koord::apiserver
