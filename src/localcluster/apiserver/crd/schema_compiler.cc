#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/strings.h"
#include "localcluster/apiserver/crd/schema_node.h"
#include "localcluster/apiserver/crd/schema_validator.h"
#include "localcluster/apiserver/crd/structural_schema.h"
#include "localcluster/apiserver/registry/check.h"
#include "localcluster/apiserver/registry/field_path.h"

namespace koord::apiserver {
namespace {

using NodePtr = std::unique_ptr<SchemaNode>;

constexpr std::string_view kPreserveUnknown = "x-kubernetes-preserve-unknown-fields";
constexpr std::string_view kEmbeddedResource = "x-kubernetes-embedded-resource";
constexpr std::string_view kIntOrString = "x-kubernetes-int-or-string";
constexpr std::string_view kListType = "x-kubernetes-list-type";
constexpr std::string_view kListMapKeys = "x-kubernetes-list-map-keys";
constexpr std::string_view kMapType = "x-kubernetes-map-type";
constexpr std::string_view kRules = "x-kubernetes-validations";

// Where a schema stands decides what it must say.
enum class Place { kRoot, kProperty, kAdditional, kItems, kJunctor };

class SchemaCompiler {
 public:
  explicit SchemaCompiler(FieldErrors& errors) : errors_(errors) {}

  bool has_rules() const { return has_rules_; }

  // `typed` allows a junctor to name types, as those of int-or-string do.
  NodePtr Compile(const Json& schema, const FieldPath& path, Place place, bool typed = false) {
    auto node = std::make_unique<SchemaNode>();
    const json::object* object = schema.if_object();
    if (object == nullptr) {
      errors_.push_back(Invalid(path, schema, "must be a schema"));
      return node;
    }
    if (const Json* rules = object->if_contains(kRules)) {
      has_rules_ = has_rules_ || (rules->is_array() && !rules->get_array().empty());
    }
    RefuseUnsupported(*object, path);
    if (place == Place::kJunctor) RefuseInJunctor(*object, path, typed);
    ReadFlags(*object, path, *node);
    ReadType(*object, path, place, *node);
    ReadMembers(*object, path, place, *node);
    ReadList(*object, path, place, *node);
    ReadValueConstraints(*object, path, *node);
    ReadJunctors(*object, path, typed, *node);
    ReadDefault(*object, path, *node);
    if (place != Place::kJunctor) CheckCompleteness(*object, path, *node);
    if (place == Place::kRoot) CheckRootMetadata(*object, path);
    return node;
  }

 private:
  void RefuseUnsupported(const json::object& schema, const FieldPath& path) {
    for (const std::string_view keyword :
         {"$ref", "id", "definitions", "dependencies", "patternProperties", "additionalItems"}) {
      if (schema.contains(keyword))
        errors_.push_back(Forbidden(path / keyword, "is not supported"));
    }
    if (IsTrue(schema, "uniqueItems")) {
      errors_.push_back(Forbidden(path / "uniqueItems",
                                  "uniqueItems cannot be set to true since the runtime complexity "
                                  "becomes quadratic"));
    }
  }

  void RefuseInJunctor(const json::object& schema, const FieldPath& path, bool typed) {
    for (const std::string_view keyword :
         {std::string_view("type"), std::string_view("default"), std::string_view("nullable"),
          std::string_view("additionalProperties"), kPreserveUnknown, kEmbeddedResource,
          kIntOrString, kListType, kListMapKeys, kMapType}) {
      if (typed && keyword == "type") continue;
      if (!IsUnset(schema, keyword)) {
        errors_.push_back(Forbidden(path / keyword, "must be empty to be structural"));
      }
    }
  }

  static bool IsTrue(const json::object& schema, std::string_view keyword) {
    const Json* found = schema.if_contains(keyword);
    return found != nullptr && found->is_bool() && found->get_bool();
  }

  void ReadFlags(const json::object& schema, const FieldPath& path, SchemaNode& node) {
    node.nullable = IsTrue(schema, "nullable");
    node.embedded_resource = IsTrue(schema, kEmbeddedResource);
    node.preserve_unknown = IsTrue(schema, kPreserveUnknown);
    const Json* preserve = schema.if_contains(kPreserveUnknown);
    if (preserve != nullptr && !preserve->is_null() && !node.preserve_unknown) {
      errors_.push_back(Invalid(path / kPreserveUnknown, *preserve, "must be true or undefined"));
    }
  }

  void ReadType(const json::object& schema, const FieldPath& path, Place place, SchemaNode& node) {
    using Type = SchemaNode::Type;
    static constexpr std::array<std::pair<std::string_view, Type>, 6> kTypes{{
        {"array", Type::kArray},
        {"boolean", Type::kBoolean},
        {"integer", Type::kInteger},
        {"number", Type::kNumber},
        {"object", Type::kObject},
        {"string", Type::kString},
    }};
    const std::string_view name = StringAt(schema, "type");
    for (const auto& [type_name, type] : kTypes) {
      if (type_name == name) node.type = type;
    }
    if (node.type == Type::kAny && !name.empty()) {
      errors_.push_back(
          NotSupported(path / "type", Text(name),
                       {"array", "boolean", "integer", "number", "object", "string"}));
    }
    if (IsTrue(schema, kIntOrString)) {
      if (!name.empty()) {
        errors_.push_back(
            Forbidden(path / "type", "must be empty if x-kubernetes-int-or-string is true"));
      }
      node.type = Type::kIntOrString;
    }
    if (node.type == Type::kAny && name.empty()) RequireType(path, place, node);
    if (place == Place::kRoot && node.type != Type::kObject && !name.empty()) {
      errors_.push_back(Invalid(path / "type", Text(name), "must be object at the root"));
    }
    if (node.embedded_resource && node.type != Type::kObject) {
      errors_.push_back(Invalid(path / "type", Text(name),
                                "must be object if x-kubernetes-embedded-resource is true"));
    }
  }

  void RequireType(const FieldPath& path, Place place, const SchemaNode& node) {
    switch (place) {
      case Place::kRoot:
        errors_.push_back(Required(path / "type", "must not be empty at the root"));
        return;
      case Place::kProperty:
      case Place::kAdditional:
        if (node.preserve_unknown) return;
        errors_.push_back(Required(path / "type", "must not be empty for specified object fields"));
        return;
      case Place::kItems:
        if (node.preserve_unknown) return;
        errors_.push_back(Required(path / "type", "must not be empty for specified array items"));
        return;
      case Place::kJunctor:
        return;
    }
  }

  void ReadMembers(const json::object& schema, const FieldPath& path, Place place,
                   SchemaNode& node) {
    const Place inside = place == Place::kJunctor ? Place::kJunctor : Place::kProperty;
    const FieldPath properties_path = path / "properties";
    if (const json::object* properties = ObjectIn(schema, "properties")) {
      for (const auto& property : *properties) {
        const std::string_view name = property.key();
        NodePtr child = Compile(property.value(), properties_path.Key(name), inside);
        node.defaults_below |= child->defaults_below;
        node.properties.push_back({std::string(name), std::move(child)});
      }
    }
    std::sort(node.properties.begin(), node.properties.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    ReadAdditional(schema, path, node);
    ReadRequired(schema, path, node);
    if (node.embedded_resource && node.properties.empty() && !node.preserve_unknown) {
      errors_.push_back(Required(properties_path,
                                 "must not be empty if x-kubernetes-embedded-resource is true "
                                 "without x-kubernetes-preserve-unknown-fields"));
    }
  }

  void ReadAdditional(const json::object& schema, const FieldPath& path, SchemaNode& node) {
    const Json* additional = schema.if_contains("additionalProperties");
    if (additional == nullptr || additional->is_null()) return;
    const FieldPath at = path / "additionalProperties";
    if (additional->is_bool()) {
      node.any_additional = additional->get_bool();
      if (!node.any_additional) {
        errors_.push_back(Forbidden(at, "additionalProperties cannot be set to false"));
      }
    } else {
      node.additional = Compile(*additional, at, Place::kAdditional);
      node.defaults_below |= node.additional->defaults_below;
    }
    if (!node.properties.empty()) {
      errors_.push_back(Forbidden(at, "additionalProperties and properties are mutual exclusive"));
    }
  }

  void ReadRequired(const json::object& schema, const FieldPath& path, SchemaNode& node) {
    const json::array* required = ArrayIn(schema, "required");
    if (required == nullptr) return;
    const FieldPath at = path / "required";
    for (size_t i = 0; i < required->size(); ++i) {
      const json::string* name = (*required)[i].if_string();
      if (name == nullptr) {
        errors_.push_back(Invalid(at[i], (*required)[i], "must be a field name"));
      } else {
        node.required.emplace_back(name->data(), name->size());
      }
    }
    std::sort(node.required.begin(), node.required.end());
  }

  void ReadList(const json::object& schema, const FieldPath& path, Place place, SchemaNode& node) {
    if (const Json* items = schema.if_contains("items"); items != nullptr && !items->is_null()) {
      const FieldPath at = path / "items";
      node.items = Compile(*items, at, place == Place::kJunctor ? Place::kJunctor : Place::kItems);
      node.defaults_below |= node.items->defaults_below;
    } else if (node.type == SchemaNode::Type::kArray && place != Place::kJunctor &&
               !node.preserve_unknown) {
      errors_.push_back(Required(path / "items", "must be specified"));
    }
    ReadListType(schema, path, node);
  }

  void ReadListType(const json::object& schema, const FieldPath& path, SchemaNode& node) {
    const FieldPath at = path / kListType;
    const std::string_view type = StringAt(schema, kListType);
    const json::array* keys = ArrayIn(schema, kListMapKeys);
    if (!type.empty() && node.type != SchemaNode::Type::kArray) {
      errors_.push_back(Invalid(path / "type", Text(StringAt(schema, "type")),
                                "must be array if x-kubernetes-list-type is specified"));
    }
    if (type == "set") {
      node.list_type = SchemaNode::ListType::kSet;
    } else if (type == "map") {
      node.list_type = SchemaNode::ListType::kMap;
      ReadListKeys(keys, path / kListMapKeys, node);
    } else if (!type.empty() && type != "atomic") {
      errors_.push_back(NotSupported(at, Text(type), {"atomic", "map", "set"}));
    }
    if (keys != nullptr && type != "map") {
      errors_.push_back(
          Forbidden(path / kListMapKeys, "must only be set if x-kubernetes-list-type is map"));
    }
    CheckOneOf(schema, kMapType, path, {"atomic", "granular"}, errors_);
  }

  void ReadListKeys(const json::array* keys, const FieldPath& path, SchemaNode& node) {
    if (keys == nullptr || keys->empty()) {
      errors_.push_back(Required(path, "must not be empty if x-kubernetes-list-type is map"));
      return;
    }
    for (size_t i = 0; i < keys->size(); ++i) {
      const json::string* name = (*keys)[i].if_string();
      const SchemaNode* property =
          name == nullptr || node.items == nullptr ? nullptr : node.items->Find(*name);
      if (property == nullptr) {
        errors_.push_back(
            Invalid(path[i], (*keys)[i], "entries must all be names of item properties"));
        continue;
      }
      const auto& required = node.items->required;
      if (!property->has_default &&
          !std::binary_search(required.begin(), required.end(), std::string_view(*name))) {
        errors_.push_back(
            Required(path[i], "this property must have a default or be a required property"));
      }
      node.list_keys.emplace_back(name->data(), name->size());
    }
    std::sort(node.list_keys.begin(), node.list_keys.end());
  }

  void ReadValueConstraints(const json::object& schema, const FieldPath& path, SchemaNode& node) {
    if (const json::array* allowed = ArrayIn(schema, "enum")) {
      node.allowed.assign(allowed->begin(), allowed->end());
    }
    node.format = FindFormat(StringAt(schema, "format"));
    node.minimum = ReadBound(schema, "minimum", "exclusiveMinimum", path);
    node.maximum = ReadBound(schema, "maximum", "exclusiveMaximum", path);
    node.multiple_of = ReadNumber(schema, "multipleOf", path);
    if (node.multiple_of && *node.multiple_of <= 0) {
      errors_.push_back(Invalid(path / "multipleOf", *node.multiple_of, "must be greater than 0"));
    }
    node.min_length = ReadCount(schema, "minLength", path);
    node.max_length = ReadCount(schema, "maxLength", path);
    node.min_items = ReadCount(schema, "minItems", path);
    node.max_items = ReadCount(schema, "maxItems", path);
    node.min_properties = ReadCount(schema, "minProperties", path);
    node.max_properties = ReadCount(schema, "maxProperties", path);
    ReadPattern(schema, path, node);
  }

  void ReadPattern(const json::object& schema, const FieldPath& path, SchemaNode& node) {
    const std::string_view pattern = StringAt(schema, "pattern");
    if (pattern.empty()) return;
    RE2::Options options;
    options.set_log_errors(false);
    auto compiled =
        std::make_unique<RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
    if (!compiled->ok()) {
      errors_.push_back(Invalid(
          path / "pattern", Text(pattern),
          fmt::format("must be a valid regular expression, but isn't: {}", compiled->error())));
      return;
    }
    node.pattern = std::move(compiled);
  }

  std::optional<double> ReadNumber(const json::object& schema, std::string_view keyword,
                                   const FieldPath& path) {
    const Json* found = schema.if_contains(keyword);
    if (found == nullptr || found->is_null()) return std::nullopt;
    if (found->is_number()) return found->to_number<double>();
    errors_.push_back(Invalid(path / keyword, *found, "must be a number"));
    return std::nullopt;
  }

  std::optional<SchemaNode::Bound> ReadBound(const json::object& schema, std::string_view keyword,
                                             std::string_view exclusive, const FieldPath& path) {
    const auto number = ReadNumber(schema, keyword, path);
    if (!number) return std::nullopt;
    return SchemaNode::Bound{*number, IsTrue(schema, exclusive)};
  }

  std::optional<uint64_t> ReadCount(const json::object& schema, std::string_view keyword,
                                    const FieldPath& path) {
    const Json* found = schema.if_contains(keyword);
    if (found == nullptr || found->is_null()) return std::nullopt;
    json::error_code error;
    const auto count = found->to_number<uint64_t>(error);
    if (!error) return count;
    errors_.push_back(Invalid(path / keyword, *found, "must be a whole number, 0 or more"));
    return std::nullopt;
  }

  void ReadJunctors(const json::object& schema, const FieldPath& path, bool typed,
                    SchemaNode& node) {
    const bool int_or_string = node.type == SchemaNode::Type::kIntOrString;
    ReadJunctor(schema, "allOf", path, int_or_string, node.all_of);
    ReadJunctor(schema, "anyOf", path, int_or_string || typed, node.any_of);
    ReadJunctor(schema, "oneOf", path, false, node.one_of);
    if (const Json* negated = schema.if_contains("not"); negated && !negated->is_null()) {
      node.not_of = Compile(*negated, path / "not", Place::kJunctor);
    }
  }

  void ReadJunctor(const json::object& schema, std::string_view keyword, const FieldPath& path,
                   bool typed, SchemaNode::Nodes& nodes) {
    const json::array* alternatives = ArrayIn(schema, keyword);
    if (alternatives == nullptr) return;
    const FieldPath at = path / keyword;
    for (size_t i = 0; i < alternatives->size(); ++i) {
      nodes.push_back(Compile((*alternatives)[i], at[i], Place::kJunctor, typed));
    }
  }

  void ReadDefault(const json::object& schema, const FieldPath& path, SchemaNode& node) {
    const Json* value = schema.if_contains("default");
    if (value == nullptr || (value->is_null() && !node.nullable)) return;
    node.has_default = node.defaults_below = true;
    node.default_value = *value;
    CheckDefault(*value, path / "default", node);
  }

  void CheckDefault(const Json& value, const FieldPath& path, const SchemaNode& node) {
    Json whole = value;
    for (const std::string& unknown : PruneValue(whole, node, /*is_object_root=*/false)) {
      errors_.push_back(
          Invalid(path, value, fmt::format("must not have unknown field {}", unknown)));
    }
    ApplyDefaultsTo(whole, node);
    for (FieldError& error : ValidateValue(whole, node, FieldPath(""))) {
      if (!error.field.empty()) error.field = "." + error.field;
      error.field = path.ToString() + error.field;
      errors_.push_back(std::move(error));
    }
  }

  // What allOf, anyOf, oneOf and not speak of must be specified outside of them.
  void CheckCompleteness(const json::object& schema, const FieldPath& path,
                         const SchemaNode& node) {
    for (const std::string_view keyword : {"allOf", "anyOf", "oneOf"}) {
      const json::array* alternatives = ArrayIn(schema, keyword);
      if (alternatives == nullptr) continue;
      const FieldPath at = path / keyword;
      for (size_t i = 0; i < alternatives->size(); ++i) {
        CheckSpecified((*alternatives)[i], at[i], node, path);
      }
    }
    if (const Json* negated = schema.if_contains("not")) {
      CheckSpecified(*negated, path / "not", node, path);
    }
  }

  void CheckSpecified(const Json& inner, const FieldPath& inner_path, const SchemaNode& outer,
                      const FieldPath& outer_path) {
    const json::object* schema = inner.if_object();
    if (schema == nullptr) return;
    if (const json::object* properties = ObjectIn(*schema, "properties")) {
      const FieldPath inner_properties = inner_path / "properties";
      const FieldPath outer_properties = outer_path / "properties";
      for (const auto& property : *properties) {
        const std::string_view name = property.key();
        CheckCounterpart(property.value(), inner_properties.Key(name), outer.Find(name),
                         outer_properties.Key(name));
      }
    }
    if (const Json* items = schema->if_contains("items"); items && items->is_object()) {
      CheckCounterpart(*items, inner_path / "items", outer.items.get(), outer_path / "items");
    }
    for (const std::string_view keyword : {"allOf", "anyOf", "oneOf"}) {
      const json::array* alternatives = ArrayIn(*schema, keyword);
      for (size_t i = 0; alternatives != nullptr && i < alternatives->size(); ++i) {
        CheckSpecified((*alternatives)[i], inner_path, outer, outer_path);
      }
    }
  }

  void CheckCounterpart(const Json& inner, const FieldPath& inner_path, const SchemaNode* outer,
                        const FieldPath& outer_path) {
    if (outer != nullptr) return CheckSpecified(inner, inner_path, *outer, outer_path);
    errors_.push_back(
        Required(outer_path, fmt::format("because it is defined in {}", inner_path.ToString())));
  }

  // Not even a description.
  static bool IsImplicit(const json::object& metadata) {
    for (const auto& keyword : metadata) {
      const std::string_view name = keyword.key();
      if (name != "type" && name != "default" && name != "properties") return false;
    }
    const json::object* members = ObjectIn(metadata, "properties");
    return members == nullptr || std::ranges::all_of(*members, [](const auto& member) {
             return member.key() == "name" || member.key() == "generateName";
           });
  }

  void CheckRootMetadata(const json::object& schema, const FieldPath& path) {
    const json::object* properties = ObjectIn(schema, "properties");
    const json::object* metadata =
        properties == nullptr ? nullptr : ObjectIn(*properties, "metadata");
    if (metadata == nullptr || IsImplicit(*metadata)) return;
    const FieldPath at = path / "properties";
    errors_.push_back(Forbidden(at.Key("metadata"),
                                "must not specify anything other than name and generateName, "
                                "but metadata is implicitly specified"));
  }

  FieldErrors& errors_;
  bool has_rules_ = false;
};

}  // namespace

StructuralSchemaPtr StructuralSchema::Compile(const Json& schema, std::string_view path,
                                              FieldErrors& errors) {
  const size_t before = errors.size();
  SchemaCompiler compiler(errors);
  NodePtr root = compiler.Compile(schema, FieldPath(path), Place::kRoot);
  if (errors.size() != before) return nullptr;
  return std::make_shared<StructuralSchema>(std::move(root), compiler.has_rules());
}

}  // namespace koord::apiserver
