#include "localcluster/apiserver/openapi/schemas.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "localcluster/apiserver/openapi/custom_schema.h"

namespace koord::apiserver {

using kube::Json;
using kube::Type;
namespace json = kube::json;

namespace {

constexpr std::string_view kMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.";
constexpr std::string_view kQuantity = "io.k8s.apimachinery.pkg.api.resource.Quantity";
constexpr std::string_view kIntOrString = "io.k8s.apimachinery.pkg.util.intstr.IntOrString";
constexpr std::string_view kKinds = "x-kubernetes-group-version-kind";

std::string Meta(std::string_view name) { return std::string(kMeta).append(name); }

Json Primitive(std::string_view type, std::string_view format = {}) {
  json::object schema{{"type", type}};
  if (!format.empty()) schema["format"] = format;
  return schema;
}

std::string_view ListKindName(Type::ListKind kind) {
  switch (kind) {
    case Type::ListKind::kSet:
      return "set";
    case Type::ListKind::kMap:
      return "map";
    case Type::ListKind::kAtomic:
      break;
  }
  return "atomic";
}

void AddListExtensions(const Type::Field& field, json::object& schema) {
  if (field.type->kind != Type::Kind::kList) return;
  schema["x-kubernetes-list-type"] = ListKindName(field.list_kind);
  if (!field.list_keys.empty()) {
    schema["x-kubernetes-list-map-keys"] = json::value_from(field.list_keys);
  }
}

void AddPatchExtensions(const Type::Field& field, json::object& schema) {
  std::string strategy = field.patch_merge ? "merge" : field.patch_replace ? "replace" : "";
  if (field.patch_retain_keys) strategy += strategy.empty() ? "retainKeys" : ",retainKeys";
  if (!strategy.empty()) schema["x-kubernetes-patch-strategy"] = strategy;
  if (!field.patch_merge_key.empty()) {
    schema["x-kubernetes-patch-merge-key"] = field.patch_merge_key;
  }
}

}  // namespace

std::string CustomDefinitionName(const kube::Resource& resource) {
  std::vector<std::string_view> parts = Split(resource.group, '.');
  std::reverse(parts.begin(), parts.end());
  return fmt::format("{}.{}.{}", Join(parts, "."), resource.version, resource.kind);
}

Json GroupVersionKind(const kube::Resource& resource) {
  return json::object{
      {"group", resource.group}, {"kind", resource.kind}, {"version", resource.version}};
}

Json OpenApiSchemas::Reference(std::string_view name) const {
  const std::string_view place =
      version_ == OpenApiVersion::kV2 ? "#/definitions/" : "#/components/schemas/";
  return json::object{{"$ref", std::string(place).append(name)}};
}

Json OpenApiSchemas::Scalar(std::string_view name, std::string_view format,
                            std::string_view description) {
  const std::string full_name = Meta(name);
  if (!definitions_.contains(full_name)) {
    json::object& definition = definitions_[full_name];
    definition["description"] = description;
    definition["type"] = "string";
    if (!format.empty()) definition["format"] = format;
  }
  return Reference(full_name);
}

Json OpenApiSchemas::QuantitySchema() {
  json::object& definition = definitions_[std::string(kQuantity)];
  if (definition.empty()) {
    definition["description"] = "A number with an optional suffix, such as 500m, 1.5, 64Mi or 2G.";
    if (version_ == OpenApiVersion::kV2) {
      definition["type"] = "string";
    } else {
      definition["oneOf"] = json::array{Primitive("string"), Primitive("number")};
    }
  }
  return Reference(kQuantity);
}

Json OpenApiSchemas::IntOrStringSchema() {
  json::object& definition = definitions_[std::string(kIntOrString)];
  if (definition.empty()) {
    definition["description"] = "A whole number, or a text such as 25% or the name of a port.";
    definition["format"] = "int-or-string";
    if (version_ == OpenApiVersion::kV2) {
      definition["type"] = "string";
    } else {
      definition["oneOf"] = json::array{Primitive("integer"), Primitive("string")};
    }
  }
  return Reference(kIntOrString);
}

Json OpenApiSchemas::TypeSchema(const Type& type) {
  switch (type.kind) {
    case Type::Kind::kStruct:
      AddStruct(type);
      return Reference(type.openapi_name);
    case Type::Kind::kMap: {
      json::object map{{"type", "object"}, {"additionalProperties", TypeSchema(*type.element)}};
      if (type.atomic) map["x-kubernetes-map-type"] = "atomic";
      return map;
    }
    case Type::Kind::kList:
      return json::object{{"type", "array"}, {"items", TypeSchema(*type.element)}};
    case Type::Kind::kString:
      return Primitive("string");
    case Type::Kind::kInteger:
      return Primitive("integer", "int64");
    case Type::Kind::kNumber:
      return Primitive("number", "double");
    case Type::Kind::kBoolean:
      return Primitive("boolean");
    case Type::Kind::kBytes:
      return Primitive("string", "byte");
    case Type::Kind::kQuantity:
      return QuantitySchema();
    case Type::Kind::kTime:
      return Scalar("Time", "date-time", "A time in RFC 3339, such as 2026-07-01T10:00:00Z.");
    case Type::Kind::kMicroTime:
      return Scalar("MicroTime", "date-time", "A time in RFC 3339 with microseconds.");
    case Type::Kind::kDuration:
      return Scalar("Duration", "", "A length of time, such as 1h30m.");
    case Type::Kind::kIntOrString:
      return IntOrStringSchema();
    case Type::Kind::kAny:
      return json::object{{"x-kubernetes-preserve-unknown-fields", true}};
  }
  return json::object();
}

Json OpenApiSchemas::FieldSchema(const Type::Field& field) {
  Json schema = TypeSchema(*field.type);
  json::object additions;
  if (!field.description.empty()) additions["description"] = field.description;
  AddListExtensions(field, additions);
  AddPatchExtensions(field, additions);
  const bool reference = kube::Find(schema, {"$ref"}) != nullptr;
  if (version_ == OpenApiVersion::kV3 && reference && !additions.empty()) {
    // Nothing may stand beside a reference.
    json::array all;
    all.push_back(std::move(schema));
    schema = json::object();
    schema.get_object()["allOf"] = std::move(all);
  }
  for (auto& addition : additions) {
    schema.get_object().insert_or_assign(addition.key(), std::move(addition.value()));
  }
  return schema;
}

void OpenApiSchemas::AddStruct(const Type& type) {
  if (!definitions_.try_emplace(type.openapi_name).second) return;
  // Filled in afterwards: types refer to themselves.
  json::object definition;
  if (!type.description.empty()) definition["description"] = type.description;
  definition["type"] = "object";
  json::array required;
  json::object properties;
  for (const Type::Field& field : type.fields) {
    properties[field.name] = FieldSchema(field);
    if (field.required) required.emplace_back(field.name);
  }
  if (!required.empty()) definition["required"] = std::move(required);
  if (!properties.empty()) definition["properties"] = std::move(properties);
  if (type.atomic) definition["x-kubernetes-map-type"] = "atomic";
  definitions_[type.openapi_name] = std::move(definition);
}

void OpenApiSchemas::AddGroupVersionKind(std::string_view definition,
                                         const kube::Resource& resource) {
  Json& kinds = definitions_.find(definition)->second[kKinds];
  if (!kinds.is_array()) kinds.emplace_array();
  const Json kind = GroupVersionKind(resource);
  json::array& list = kinds.get_array();
  if (std::find(list.begin(), list.end(), kind) == list.end()) list.push_back(kind);
}

void OpenApiSchemas::AddKind(const Type& type, const kube::Resource& resource) {
  if (type.kind != Type::Kind::kStruct) return;
  AddStruct(type);
  AddGroupVersionKind(type.openapi_name, resource);
}

void OpenApiSchemas::AddCustom(const ResourceInfo& info) {
  static const Type& object_meta = *kube::FindBuiltinType("v1", "Pod")->Find("metadata")->type;
  const std::string name = CustomDefinitionName(info.resource);
  json::object definition =
      version_ == OpenApiVersion::kV2 ? CustomSchemaV2(info.schema) : CustomSchemaV3(info.schema);
  json::object* properties =
      definition.contains("properties") ? definition["properties"].if_object() : nullptr;
  // What keeps unknown fields has no list of known ones, lest clients take it for complete.
  if (properties != nullptr) {
    AddStruct(object_meta);
    (*properties)["apiVersion"] = json::object{
        {"type", "string"}, {"description", "The group and version of this representation."}};
    (*properties)["kind"] =
        json::object{{"type", "string"}, {"description", "What the object is."}};
    (*properties)["metadata"] = Reference(object_meta.openapi_name);
  }
  definitions_[name] = std::move(definition);
  AddGroupVersionKind(name, info.resource);
}

void OpenApiSchemas::AddResource(const ResourceInfo& info) {
  if (info.custom) {
    AddCustom(info);
  } else if (info.type != nullptr) {
    AddKind(*info.type, info.resource);
  }
  for (const Subresource& subresource : info.subresources) {
    if (subresource.kind.kind == info.resource.kind) continue;
    const Type* type = kube::FindBuiltinType(subresource.kind.api_version(), subresource.kind.kind);
    if (type != nullptr) AddKind(*type, subresource.kind);
  }
}

Json OpenApiSchemas::PatchReference() {
  const std::string name = Meta("Patch");
  if (!definitions_.contains(name)) {
    definitions_[name] = {{"description", "A change to an object, in the form of its media type."},
                          {"type", "object"}};
  }
  return Reference(name);
}

json::object OpenApiSchemas::Take() {
  json::object all;
  all.reserve(definitions_.size());
  for (auto& [name, definition] : definitions_) all.emplace(name, std::move(definition));
  definitions_.clear();
  return all;
}

}  // namespace koord::apiserver
