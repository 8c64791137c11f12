#include "localcluster/apiserver/apply/field_schema.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <mutex>

namespace koord::apiserver {
namespace {

using kube::Json;
using kube::Type;
namespace json = kube::json;

void SortFields(FieldSchema& schema) {
  std::sort(schema.fields.begin(), schema.fields.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
}

void AddField(FieldSchema& schema, std::string_view name, const FieldSchema* field) {
  schema.fields.push_back({std::string(name), "f:" + std::string(name), field});
}

void SortKeys(FieldSchema& schema) {
  std::sort(schema.keys.begin(), schema.keys.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
}

// Compiles the table of built-in types, each type once. Types refer to each other in circles, so a
// schema is remembered before it is filled in.
class BuiltinSchemas {
 public:
  const FieldSchema& Of(const Type& type) {
    const std::lock_guard lock(mutex_);
    return *ForType(type);
  }

 private:
  const FieldSchema* ForType(const Type& type) {
    const bool members = type.kind == Type::Kind::kStruct || type.kind == Type::Kind::kMap;
    if (!members || type.atomic) return &FieldSchema::Leaf();
    auto& made = by_type_[&type];
    if (made != nullptr) return made.get();
    made = std::make_unique<FieldSchema>();
    FieldSchema& schema = *made;  // `made` moves when the table grows
    schema.kind = FieldSchema::Kind::kObject;
    if (type.kind == Type::Kind::kMap) {
      schema.element = type.element == nullptr ? nullptr : ForType(*type.element);
      return &schema;
    }
    schema.implied = true;
    for (const Type::Field& field : type.fields) AddField(schema, field.name, ForField(field));
    SortFields(schema);
    return &schema;
  }

  const FieldSchema* ForField(const Type::Field& field) {
    if (field.type->kind != Type::Kind::kList) return ForType(*field.type);
    if (field.list_kind == Type::ListKind::kAtomic) return &FieldSchema::Leaf();
    auto& made = by_field_[&field];
    if (made != nullptr) return made.get();
    made = std::make_unique<FieldSchema>();
    FieldSchema& schema = *made;
    if (field.list_kind == Type::ListKind::kSet) {
      schema.kind = FieldSchema::Kind::kSet;
      schema.element = &FieldSchema::Leaf();
      return &schema;
    }
    schema.kind = FieldSchema::Kind::kListMap;
    for (const std::string& key : field.list_keys) {
      // The only key that Kubernetes fills in: of container and service ports.
      schema.keys.push_back({key, key == "protocol" ? Json("TCP") : Json()});
    }
    SortKeys(schema);
    schema.element = ForType(*field.type->element);
    return &schema;
  }

  std::mutex mutex_;
  absl::flat_hash_map<const Type*, std::unique_ptr<FieldSchema>> by_type_;
  absl::flat_hash_map<const Type::Field*, std::unique_ptr<FieldSchema>> by_field_;
};

const FieldSchema& ObjectMetaSchema() {
  static const FieldSchema& schema =
      FieldSchema::Of(kube::FindBuiltinType("v1", "Pod")->Find("metadata")->type);
  return schema;
}

}  // namespace

const FieldSchema::Field* FieldSchema::Find(std::string_view field) const {
  const auto found =
      std::lower_bound(fields.begin(), fields.end(), field,
                       [](const Field& f, std::string_view name) { return f.name < name; });
  return found == fields.end() || found->name != field ? nullptr : &*found;
}

const FieldSchema& FieldSchema::Member(std::string_view name) const {
  const Field* field = Find(name);
  return field != nullptr ? *field->schema : Item();
}

const FieldSchema& FieldSchema::Untyped() {
  static const FieldSchema& schema = *new FieldSchema;
  return schema;
}

const FieldSchema& FieldSchema::Leaf() {
  static const FieldSchema& schema = *[] {
    auto* leaf = new FieldSchema;
    leaf->kind = Kind::kLeaf;
    return leaf;
  }();
  return schema;
}

const FieldSchema& FieldSchema::Of(const Type* type) {
  static auto& schemas = *new BuiltinSchemas;
  return type == nullptr ? Untyped() : schemas.Of(*type);
}

OpenApiFieldSchema::OpenApiFieldSchema(const Json& schema)
    : root_(MakeObject(schema, /*has_metadata=*/true)) {}

FieldSchema& OpenApiFieldSchema::New(FieldSchema::Kind kind) {
  nodes_.push_back(std::make_unique<FieldSchema>());
  nodes_.back()->kind = kind;
  return *nodes_.back();
}

const FieldSchema* OpenApiFieldSchema::Make(const Json& schema, bool has_metadata) {
  const std::string_view type = kube::FindString(schema, {"type"});
  if (type == "array") return MakeList(schema);
  if (type == "object") return MakeObject(schema, has_metadata);
  if (type.empty() && kube::FindBool(schema, {"x-kubernetes-preserve-unknown-fields"})) {
    return &FieldSchema::Untyped();
  }
  return &FieldSchema::Leaf();
}

const FieldSchema* OpenApiFieldSchema::MakeList(const Json& schema) {
  const std::string_view type = kube::FindString(schema, {"x-kubernetes-list-type"});
  const Json* items = kube::Find(schema, {"items"});
  if (type == "set") {
    FieldSchema& set = New(FieldSchema::Kind::kSet);
    set.element = &FieldSchema::Leaf();
    return &set;
  }
  if (type != "map" || items == nullptr) return &FieldSchema::Leaf();
  FieldSchema& map = New(FieldSchema::Kind::kListMap);
  if (const auto* keys = kube::FindArray(schema, {"x-kubernetes-list-map-keys"})) {
    for (const Json& key : *keys) {
      const std::string_view name = kube::FindString(key, {});
      const Json* otherwise = kube::Find(*items, {"properties", name, "default"});
      map.keys.push_back({std::string(name), otherwise == nullptr ? Json() : *otherwise});
    }
  }
  SortKeys(map);
  map.element = Make(*items, false);
  return &map;
}

const FieldSchema* OpenApiFieldSchema::MakeObject(const Json& schema, bool has_metadata) {
  if (kube::FindString(schema, {"x-kubernetes-map-type"}) == "atomic") {
    return &FieldSchema::Leaf();
  }
  FieldSchema& object = New(FieldSchema::Kind::kObject);
  has_metadata = has_metadata || kube::FindBool(schema, {"x-kubernetes-embedded-resource"});
  if (const auto* properties = kube::FindObject(schema, {"properties"})) {
    for (const auto& property : *properties) {
      const std::string_view name = property.key();
      if (has_metadata && name == "metadata") continue;
      AddField(object, name, Make(property.value(), false));
    }
  }
  if (has_metadata) AddField(object, "metadata", &ObjectMetaSchema());
  SortFields(object);
  const Json* additional = kube::Find(schema, {"additionalProperties"});
  if (additional != nullptr && additional->is_object()) object.element = Make(*additional, false);
  return &object;
}

}  // namespace koord::apiserver
