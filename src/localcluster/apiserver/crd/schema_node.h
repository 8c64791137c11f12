#pragma once
#include <re2/re2.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/json.h"
#include "kube/schema/reported_fields.h"
#include "localcluster/apiserver/crd/formats.h"

namespace koord::apiserver {

// One place in a compiled schema.
struct SchemaNode {
  enum class Type { kAny, kObject, kArray, kString, kInteger, kNumber, kBoolean, kIntOrString };
  enum class ListType { kAtomic, kSet, kMap };
  struct Property {
    std::string name;
    std::unique_ptr<SchemaNode> node;
  };
  struct Bound {
    double value = 0;
    bool exclusive = false;
  };
  using Nodes = std::vector<std::unique_ptr<SchemaNode>>;

  Type type = Type::kAny;
  bool nullable = false;
  bool preserve_unknown = false;
  bool embedded_resource = false;
  bool has_default = false;
  bool defaults_below = false;  // has_default somewhere in this subtree
  kube::Json default_value;

  std::vector<Property> properties;  // sorted by name
  bool any_additional = false;       // additionalProperties: true
  std::unique_ptr<SchemaNode> additional;
  std::unique_ptr<SchemaNode> items;
  ListType list_type = ListType::kAtomic;
  std::vector<std::string> list_keys;

  // Constraints on the value.
  std::vector<kube::Json> allowed;  // enum; empty allows everything
  const Format* format = nullptr;
  std::unique_ptr<const RE2> pattern;
  std::optional<Bound> minimum, maximum;
  std::optional<double> multiple_of;
  std::optional<uint64_t> min_length, max_length, min_items, max_items, min_properties,
      max_properties;
  std::vector<std::string> required;
  Nodes all_of, any_of, one_of;
  std::unique_ptr<SchemaNode> not_of;

  const SchemaNode* Find(std::string_view property) const;
  // The schema of a member, declared by name or as one of the additional ones; null if neither.
  const SchemaNode* Member(std::string_view name) const;
};

// apiVersion, kind and metadata belong to every object, whatever its schema says.
bool IsTypeMetaOrMetadata(std::string_view member);

// Removes what `node` does not know and returns the paths, unsorted. The root of an object keeps
// its apiVersion, kind and metadata.
kube::ReportedFields PruneValue(kube::Json& value, const SchemaNode& node, bool is_object_root);
void ApplyDefaultsTo(kube::Json& value, const SchemaNode& node);

}  // namespace koord::apiserver
