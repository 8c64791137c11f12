#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/string_map.h"
#include "kube/json.h"
#include "kube/schema/type.h"

namespace koord::apiserver {

// How an object divides into fields that a manager can own. One form for built-in types and custom
// resources, so that ownership is computed by one piece of code.
struct FieldSchema {
  enum class Kind {
    kLeaf,     // owned as one value: scalars, atomic lists and maps
    kObject,   // known fields each for itself; others by `element`, or freely if that is null
    kSet,      // list of scalars, each owned for itself
    kListMap,  // list of objects that `keys` tell apart
    kUntyped,  // unknown: objects field by field, everything else as one value
  };
  struct Field {
    std::string name;
    const FieldSchema* schema = nullptr;
  };
  struct Key {
    std::string name;
    kube::Json otherwise;  // counts as the key's value where an item leaves it out; null if none
  };

  Kind kind = Kind::kUntyped;
  std::vector<Field> fields;  // sorted by name
  const FieldSchema* element = nullptr;
  std::vector<Key> keys;  // sorted by name

  const FieldSchema* Find(std::string_view field) const;

  static const FieldSchema& Untyped();
  // Compiled on first use and kept for ever, as types are. Null means schema-less.
  static const FieldSchema& Of(const kube::Type* type);
};

// The same from a custom resource's openAPIV3Schema; owns what it has made.
class OpenApiFieldSchema {
 public:
  explicit OpenApiFieldSchema(const kube::Json& schema);
  const FieldSchema& root() const { return *root_; }

 private:
  const FieldSchema* Make(const kube::Json& schema, bool is_root);

  std::vector<std::unique_ptr<FieldSchema>> nodes_;
  const FieldSchema* root_;
};

}  // namespace koord::apiserver
