#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kube/json.h"
#include "kube/schema/type.h"

namespace koord::apiserver {

// How an object divides into fields that a manager can own. One form for built-in types and custom
// resources, so that ownership is computed by one piece of code.
struct FieldSchema {
  enum class Kind {
    kLeaf,     // owned as one value: scalars, atomic lists and maps
    kObject,   // its members each for itself: declared `fields`, others by `element`
    kSet,      // list of values, each owned for itself
    kListMap,  // list of objects that `keys` tell apart
    kUntyped,  // unknown: objects member by member, everything else as one value
  };
  struct Field {
    std::string name;
    std::string path;  // "f:<name>"
    const FieldSchema* schema = nullptr;
  };
  struct Key {
    std::string name;
    kube::Json otherwise;  // counts as the key's value where an item leaves it out; null if none
  };

  Kind kind = Kind::kUntyped;
  // Structs of built-in types are always there, so nobody owns them as such.
  bool implied = false;
  std::vector<Field> fields;             // sorted by name
  const FieldSchema* element = nullptr;  // null: untyped
  std::vector<Key> keys;                 // sorted by name

  const Field* Find(std::string_view field) const;
  // The schema of a member, declared or not.
  const FieldSchema& Member(std::string_view name) const;
  const FieldSchema& Item() const { return element == nullptr ? Untyped() : *element; }
  bool has_members() const { return kind == Kind::kObject || kind == Kind::kUntyped; }
  bool has_items() const { return kind == Kind::kSet || kind == Kind::kListMap; }

  static const FieldSchema& Untyped();
  static const FieldSchema& Leaf();
  // Compiled on first use and kept for ever, as types are. Null means schema-less.
  static const FieldSchema& Of(const kube::Type* type);
};

// The same from a custom resource's openAPIV3Schema; owns what it has made.
class OpenApiFieldSchema {
 public:
  explicit OpenApiFieldSchema(const kube::Json& schema);
  const FieldSchema& root() const { return *root_; }

 private:
  const FieldSchema* Make(const kube::Json& schema, bool has_metadata);
  const FieldSchema* MakeList(const kube::Json& schema);
  const FieldSchema* MakeObject(const kube::Json& schema, bool has_metadata);
  FieldSchema& New(FieldSchema::Kind kind);

  std::vector<std::unique_ptr<FieldSchema>> nodes_;
  const FieldSchema* root_;
};

}  // namespace koord::apiserver
