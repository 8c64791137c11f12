#include "localcluster/apiserver/crd/metadata_schema.h"

#include <string_view>

#include "kube/schema/type.h"

namespace koord::apiserver {
namespace {

using kube::Json;
namespace json = kube::json;

const kube::Type& ObjectMetaType() {
  static const kube::Type& type = *kube::FindBuiltinType("v1", "Pod")->Find("metadata")->type;
  return type;
}

void Prune(Json& value, const kube::Type& type, const FieldPath& path,
           kube::ReportedFields& removed) {
  if (auto* array = value.if_array(); array != nullptr && type.kind == kube::Type::Kind::kList) {
    for (size_t i = 0; i < array->size(); ++i) Prune((*array)[i], *type.element, path[i], removed);
    return;
  }
  auto* object = value.if_object();
  if (object == nullptr || type.kind != kube::Type::Kind::kStruct) return;
  std::vector<std::string> unknown;
  for (auto& member : *object) {
    const std::string_view name = member.key();
    const FieldPath at = path / name;
    if (const kube::Type::Field* field = type.Find(name)) {
      Prune(member.value(), *field->type, at, removed);
    } else {
      unknown.emplace_back(name);
      removed.AddPath(at);
    }
  }
  for (const std::string& name : unknown) object->erase(name);
}

bool RightType(const Json& value, kube::Type::Kind kind) {
  switch (kind) {
    case kube::Type::Kind::kStruct:
    case kube::Type::Kind::kMap:
      return value.is_object();
    case kube::Type::Kind::kList:
      return value.is_array();
    case kube::Type::Kind::kInteger:
      return value.is_int64() || value.is_uint64();
    case kube::Type::Kind::kBoolean:
      return value.is_bool();
    case kube::Type::Kind::kAny:
      return true;
    default:
      return value.is_string();
  }
}

std::string_view KindName(kube::Type::Kind kind) {
  switch (kind) {
    case kube::Type::Kind::kStruct:
    case kube::Type::Kind::kMap:
      return "an object";
    case kube::Type::Kind::kList:
      return "a list";
    case kube::Type::Kind::kInteger:
      return "an integer";
    case kube::Type::Kind::kBoolean:
      return "a boolean";
    default:
      return "a string";
  }
}

void Check(const Json& value, const kube::Type& type, const FieldPath& path, FieldErrors& errors) {
  if (value.is_null()) return;
  if (!RightType(value, type.kind)) {
    errors.push_back(Invalid(path, value, fmt::format("must be {}", KindName(type.kind))));
    return;
  }
  if (type.kind == kube::Type::Kind::kList) {
    const json::array& items = value.get_array();
    for (size_t i = 0; i < items.size(); ++i) Check(items[i], *type.element, path[i], errors);
  } else if (const auto* object = value.if_object()) {
    for (const auto& member : *object) {
      const std::string_view name = member.key();
      const kube::Type::Field* field =
          type.kind == kube::Type::Kind::kStruct ? type.Find(name) : nullptr;
      const kube::Type* child = field != nullptr ? field->type : type.element;
      if (child != nullptr) Check(member.value(), *child, path / name, errors);
    }
  }
}

}  // namespace

void PruneMetadata(Json& metadata, const FieldPath& path, kube::ReportedFields& removed) {
  Prune(metadata, ObjectMetaType(), path, removed);
}

void CheckMetadataTypes(const Json& metadata, const FieldPath& path, FieldErrors& errors) {
  Check(metadata, ObjectMetaType(), path, errors);
}

}  // namespace koord::apiserver
