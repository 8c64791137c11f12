#include "localcluster/apiserver/crd/structural_schema.h"

#include <algorithm>
#include <utility>

#include "localcluster/apiserver/crd/metadata_schema.h"
#include "localcluster/apiserver/crd/schema_node.h"
#include "localcluster/apiserver/registry/field_path.h"

namespace koord::apiserver {

using kube::Json;
namespace json = kube::json;

const SchemaNode* SchemaNode::Find(std::string_view property) const {
  const auto found =
      std::lower_bound(properties.begin(), properties.end(), property,
                       [](const Property& p, std::string_view name) { return p.name < name; });
  if (found == properties.end() || found->name != property) return nullptr;
  return found->node.get();
}

const SchemaNode* SchemaNode::Member(std::string_view name) const {
  const SchemaNode* found = Find(name);
  return found != nullptr ? found : additional.get();
}

bool IsTypeMetaOrMetadata(std::string_view member) {
  return member == "apiVersion" || member == "kind" || member == "metadata";
}

namespace {

class Pruner {
 public:
  kube::ReportedFields removed;

  // A null node is an unspecified place, below which nothing is known.
  void Prune(Json& value, const SchemaNode* node, bool is_object_root, const FieldPath& path) {
    if (auto* array = value.if_array()) {
      // Unspecified items of a list that preserves the unknown stay whole.
      const SchemaNode* items = node == nullptr ? nullptr : node->items.get();
      if (items == nullptr && node != nullptr && node->preserve_unknown) return;
      for (size_t i = 0; i < array->size(); ++i) Prune((*array)[i], items, false, path[i]);
    } else if (auto* object = value.if_object()) {
      PruneObject(*object, node, is_object_root || (node && node->embedded_resource), path);
    }
  }

 private:
  void PruneObject(json::object& object, const SchemaNode* node, bool has_metadata,
                   const FieldPath& path) {
    std::vector<std::string> unknown;
    for (auto& member : object) {
      const std::string_view name = member.key();
      const FieldPath at = path / name;
      if (has_metadata && IsTypeMetaOrMetadata(name)) {
        if (name == "metadata") PruneMetadata(member.value(), at, removed);
        continue;
      }
      const SchemaNode* child = node == nullptr ? nullptr : node->Member(name);
      if (child != nullptr) {
        Prune(member.value(), child, false, at);
      } else if (node != nullptr && node->preserve_unknown) {
        continue;
      } else if (node != nullptr && node->any_additional) {
        Prune(member.value(), nullptr, false, at);
      } else {
        unknown.emplace_back(name);
        removed.AddPath(at);
      }
    }
    for (const std::string& name : unknown) object.erase(name);
  }
};

// A null that is not allowed gives way to the default, if there is one.
void ReplaceNull(Json& value, const SchemaNode& node) {
  if (value.is_null() && node.has_default && !node.nullable) value = node.default_value;
}

void ApplyDefaultsToObject(json::object& object, const SchemaNode& node) {
  std::vector<std::string> dropped;
  for (auto& member : object) {
    const SchemaNode* declared = node.Find(member.key());
    const SchemaNode* child = declared != nullptr ? declared : node.additional.get();
    if (child == nullptr) continue;
    ReplaceNull(member.value(), *child);
    if (member.value().is_null()) {
      if (declared != nullptr && !declared->nullable) dropped.emplace_back(member.key());
      continue;
    }
    ApplyDefaultsTo(member.value(), *child);
  }
  for (const std::string& name : dropped) object.erase(name);
  if (!node.defaults_below) return;
  for (const auto& property : node.properties) {
    if (!property.node->has_default || object.contains(property.name)) continue;
    ApplyDefaultsTo(object.emplace(property.name, property.node->default_value).first->value(),
                    *property.node);
  }
}

}  // namespace

void ApplyDefaultsTo(Json& value, const SchemaNode& node) {
  if (auto* object = value.if_object()) {
    ApplyDefaultsToObject(*object, node);
  } else if (auto* array = value.if_array(); array != nullptr && node.items != nullptr) {
    for (Json& item : *array) {
      ReplaceNull(item, *node.items);
      ApplyDefaultsTo(item, *node.items);
    }
  }
}

kube::ReportedFields PruneValue(Json& value, const SchemaNode& node, bool is_object_root) {
  Pruner pruner;
  pruner.Prune(value, &node, is_object_root, FieldPath(""));
  return std::move(pruner.removed);
}

StructuralSchema::StructuralSchema(std::unique_ptr<const SchemaNode> root, bool has_rules)
    : root_(std::move(root)), has_rules_(has_rules) {}

StructuralSchema::~StructuralSchema() = default;

kube::ReportedFields StructuralSchema::Prune(Json& object) const {
  kube::ReportedFields removed = PruneValue(object, *root_, /*is_object_root=*/true);
  removed.Sort();
  return removed;
}

void StructuralSchema::ApplyDefaults(Json& object) const { ApplyDefaultsTo(object, *root_); }

}  // namespace koord::apiserver
