#include "localcluster/apiserver/crd/schema_validator.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "localcluster/apiserver/crd/metadata_schema.h"
#include "localcluster/apiserver/crd/structural_schema.h"

namespace koord::apiserver {

using kube::Json;
namespace json = kube::json;

namespace {

using Type = SchemaNode::Type;

bool IsWhole(const Json& value) {
  if (value.is_int64() || value.is_uint64()) return true;
  const double* real = value.if_double();
  return real != nullptr && std::isfinite(*real) && std::trunc(*real) == *real;
}

std::string_view JsonTypeName(const Json& value) {
  switch (value.kind()) {
    case json::kind::null:
      return "null";
    case json::kind::bool_:
      return "boolean";
    case json::kind::int64:
    case json::kind::uint64:
      return "integer";
    case json::kind::double_:
      return "number";
    case json::kind::string:
      return "string";
    case json::kind::array:
      return "array";
    case json::kind::object:
      return "object";
  }
  return "";
}

std::string_view TypeName(Type type) {
  switch (type) {
    case Type::kObject:
      return "object";
    case Type::kArray:
      return "array";
    case Type::kString:
      return "string";
    case Type::kInteger:
      return "integer";
    case Type::kNumber:
      return "number";
    case Type::kBoolean:
      return "boolean";
    case Type::kIntOrString:
      return "integer,string";
    case Type::kAny:
      return "any";
  }
  return "";
}

bool HasType(const Json& value, Type type) {
  switch (type) {
    case Type::kObject:
      return value.is_object();
    case Type::kArray:
      return value.is_array();
    case Type::kString:
      return value.is_string();
    case Type::kInteger:
      return IsWhole(value);
    case Type::kNumber:
      return value.is_number();
    case Type::kBoolean:
      return value.is_bool();
    case Type::kIntOrString:
      return IsWhole(value) || value.is_string();
    case Type::kAny:
      return true;
  }
  return true;
}

// Numbers by value, whatever form they were written in.
bool SameValue(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) return a.to_number<double>() == b.to_number<double>();
  return kube::Equal(a, b);
}

size_t CodePoints(const json::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

// 10, 2.5: as people write it.
std::string NumberText(double number) { return fmt::format("{}", number); }

class Validator {
 public:
  FieldErrors errors;

  void Check(const Json& value, const SchemaNode& node, const FieldPath& path, const Json* old) {
    if (old != nullptr && kube::Equal(value, *old)) return;
    if (value.is_null() && node.nullable) return;
    if (!HasType(value, node.type)) return AddTypeError(value, node, path);
    CheckAllowed(value, node, path);
    CheckFormat(value, node, path);
    if (value.is_number()) CheckNumber(value, node, path);
    if (const auto* text = value.if_string()) CheckString(*text, node, path);
    if (const auto* array = value.if_array()) CheckArray(*array, node, path, old);
    if (const auto* object = value.if_object()) CheckObject(*object, node, path, old);
    CheckJunctors(value, node, path);
  }

 private:
  void Add(const FieldPath& path, const Json& value, std::string_view complaint) {
    std::string field = path;
    std::string detail = fmt::format("{} in body {}", field, complaint);
    errors.push_back(Invalid(std::move(field), value, std::move(detail)));
    if (value.is_double()) errors.back().value = NumberText(value.get_double());
  }

  void AddTypeError(const Json& value, const SchemaNode& node, const FieldPath& path) {
    const std::string_view actual = JsonTypeName(value);
    Add(path, Json(actual), fmt::format("must be of type {}: \"{}\"", TypeName(node.type), actual));
    errors.back().kind = FieldError::Kind::kTypeInvalid;
  }

  void CheckAllowed(const Json& value, const SchemaNode& node, const FieldPath& path) {
    if (node.allowed.empty()) return;
    for (const Json& allowed : node.allowed) {
      if (SameValue(value, allowed)) return;
    }
    std::vector<std::string> texts;
    for (const Json& allowed : node.allowed) {
      texts.push_back(allowed.is_string() ? std::string(kube::FindString(allowed, {}))
                                          : kube::Serialize(allowed));
    }
    errors.push_back(NotSupported(path, value, texts));
  }

  void CheckFormat(const Json& value, const SchemaNode& node, const FieldPath& path) {
    if (node.format == nullptr || node.format->valid(value)) return;
    Add(path, value,
        fmt::format("must be of type {}: {}", node.format->name, kube::Serialize(value)));
  }

  void CheckNumber(const Json& value, const SchemaNode& node, const FieldPath& path) {
    const auto number = value.to_number<double>();
    if (node.maximum) {
      const auto& [limit, exclusive] = *node.maximum;
      if (number > limit || (exclusive && number == limit)) {
        Add(path, value,
            fmt::format("should be less than {}{}", exclusive ? "" : "or equal to ",
                        NumberText(limit)));
      }
    }
    if (node.minimum) {
      const auto& [limit, exclusive] = *node.minimum;
      if (number < limit || (exclusive && number == limit)) {
        Add(path, value,
            fmt::format("should be greater than {}{}", exclusive ? "" : "or equal to ",
                        NumberText(limit)));
      }
    }
    if (node.multiple_of) {
      const double quotient = number / *node.multiple_of;
      if (std::trunc(quotient) != quotient) {
        Add(path, value, fmt::format("should be a multiple of {}", NumberText(*node.multiple_of)));
      }
    }
  }

  void CheckString(const json::string& text, const SchemaNode& node, const FieldPath& path) {
    if (node.min_length || node.max_length) {
      const size_t length = CodePoints(text);
      if (node.max_length && length > *node.max_length) {
        errors.push_back(TooLong(path, *node.max_length));
      }
      if (node.min_length && length < *node.min_length) {
        Add(path, text, fmt::format("should be at least {} chars long", *node.min_length));
      }
    }
    if (node.pattern != nullptr &&
        !RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *node.pattern)) {
      Add(path, text, fmt::format("should match '{}'", node.pattern->pattern()));
    }
  }

  void CheckArray(const json::array& array, const SchemaNode& node, const FieldPath& path,
                  const Json* old) {
    if (node.max_items && array.size() > *node.max_items) {
      errors.push_back(TooMany(path, array.size(), *node.max_items));
    }
    if (node.min_items && array.size() < *node.min_items) {
      Add(path, Json(array.size()), fmt::format("should have at least {} items", *node.min_items));
    }
    if (node.list_type != SchemaNode::ListType::kAtomic) CheckDuplicates(array, node, path);
    if (node.items == nullptr) return;
    const OldItems old_items(node, old);
    for (size_t i = 0; i < array.size(); ++i) {
      Check(array[i], *node.items, path[i], old_items.Find(array[i]));
    }
  }

  // The keys of an item of a list map, with their defaults; null if it is no object.
  static Json KeysOf(const Json& item, const SchemaNode& list) {
    const json::object* object = item.if_object();
    if (object == nullptr) return nullptr;
    json::object keys;
    for (const std::string& key : list.list_keys) {
      const Json* value = object->if_contains(key);
      if (value == nullptr) {
        const SchemaNode* property = list.items == nullptr ? nullptr : list.items->Find(key);
        if (property != nullptr && property->has_default) value = &property->default_value;
      }
      if (value != nullptr) keys[key] = *value;
    }
    return keys;
  }

  // The items of the object before the update, where a list tells its items apart.
  class OldItems {
   public:
    OldItems(const SchemaNode& list, const Json* old) : list_(list) {
      if (old == nullptr || !old->is_array()) return;
      if (list.list_type != SchemaNode::ListType::kMap) return;
      for (const Json& item : old->get_array()) {
        by_key_.emplace(kube::Serialize(KeysOf(item, list)), &item);
      }
    }
    const Json* Find(const Json& item) const {
      if (by_key_.empty()) return nullptr;
      const auto found = by_key_.find(kube::Serialize(KeysOf(item, list_)));
      return found == by_key_.end() ? nullptr : found->second;
    }

   private:
    const SchemaNode& list_;
    std::map<std::string, const Json*> by_key_;
  };

  void CheckDuplicates(const json::array& array, const SchemaNode& node, const FieldPath& path) {
    std::set<std::string> seen;
    for (size_t i = 0; i < array.size(); ++i) {
      const bool by_keys = node.list_type == SchemaNode::ListType::kMap;
      const Json identity = by_keys ? KeysOf(array[i], node) : array[i];
      if (!seen.insert(kube::Serialize(identity)).second) {
        errors.push_back(Duplicate(path[i], identity));
      }
    }
  }

  void CheckObject(const json::object& object, const SchemaNode& node, const FieldPath& path,
                   const Json* old) {
    if (node.max_properties && object.size() > *node.max_properties) {
      errors.push_back(TooMany(path, object.size(), *node.max_properties));
    }
    if (node.min_properties && object.size() < *node.min_properties) {
      Add(path, Json(object.size()),
          fmt::format("should have at least {} properties", *node.min_properties));
    }
    for (const std::string& name : node.required) {
      if (!object.contains(name)) errors.push_back(Required(path / name));
    }
    if (node.embedded_resource) CheckEmbedded(object, path);
    const json::object* old_object = old == nullptr ? nullptr : old->if_object();
    const auto old_member = [&](std::string_view name) {
      return old_object == nullptr ? nullptr : old_object->if_contains(name);
    };
    if (node.additional != nullptr) {
      for (const auto& member : object) {
        const std::string_view name = member.key();
        Check(member.value(), *node.additional, path / name, old_member(name));
      }
    }
    for (const auto& property : node.properties) {
      if (const Json* member = object.if_contains(property.name)) {
        Check(*member, *property.node, path / property.name, old_member(property.name));
      }
    }
  }

  void CheckEmbedded(const json::object& object, const FieldPath& path) {
    for (const std::string_view name : {"apiVersion", "kind"}) {
      const Json* member = object.if_contains(name);
      if (member == nullptr || !member->is_string() || member->get_string().empty()) {
        errors.push_back(Required(path / name, "must not be empty"));
      }
    }
    if (const Json* metadata = object.if_contains("metadata")) {
      CheckMetadataTypes(*metadata, path / "metadata", errors);
    }
  }

  void CheckJunctors(const Json& value, const SchemaNode& node, const FieldPath& path) {
    for (const auto& all : node.all_of) Check(value, *all, path, nullptr);
    if (!node.any_of.empty() && CountValid(value, node.any_of, path) == 0) {
      AddJunctorError(path, "at least one schema (anyOf)");
    }
    if (!node.one_of.empty()) {
      const size_t valid = CountValid(value, node.one_of, path);
      if (valid == 0) {
        AddJunctorError(path, "one and only one schema (oneOf). Found none valid");
      } else if (valid > 1) {
        AddJunctorError(path, fmt::format("one and only one schema (oneOf). Found {} valid "
                                          "alternatives",
                                          valid));
      }
    }
    if (node.not_of != nullptr && IsValid(value, *node.not_of, path)) {
      const std::string field = path;
      errors.push_back(Invalid(field, Json(""),
                               fmt::format("\"{}\" must not validate the schema (not)", field)));
    }
  }

  // Which of two types a quantity has decides most of these: no errors are put into words for it.
  static bool IsValid(const Json& value, const SchemaNode& node, const FieldPath& path) {
    if (value.is_null() && node.nullable) return true;
    return HasType(value, node.type) && ValidateValue(value, node, path).empty();
  }

  static size_t CountValid(const Json& value, const SchemaNode::Nodes& nodes,
                           const FieldPath& path) {
    return static_cast<size_t>(std::count_if(
        nodes.begin(), nodes.end(), [&](const auto& node) { return IsValid(value, *node, path); }));
  }

  void AddJunctorError(const FieldPath& path, std::string_view what) {
    const std::string field = path;
    errors.push_back(Invalid(field, Json(""), fmt::format("\"{}\" must validate {}", field, what)));
  }
};

}  // namespace

FieldErrors ValidateValue(const Json& value, const SchemaNode& node, const FieldPath& path,
                          const Json* old) {
  Validator validator;
  validator.Check(value, node, path, old);
  return std::move(validator.errors);
}

FieldErrors StructuralSchema::Validate(const Json& object, const Json* old) const {
  const FieldPath root("");
  FieldErrors errors;
  if (const Json* metadata = kube::Find(object, {"metadata"})) {
    CheckMetadataTypes(*metadata, root / "metadata", errors);
  }
  FieldErrors found = ValidateValue(object, *root_, root, old);
  std::move(found.begin(), found.end(), std::back_inserter(errors));
  return errors;
}

}  // namespace koord::apiserver
