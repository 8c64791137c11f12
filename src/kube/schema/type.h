#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// The shape of Kubernetes' built-in types, as one table that serves everything which must know it:
// strict decoding, canonical quantities, protobuf request bodies, strategic merge keys, server-side
// apply and OpenAPI.
namespace koord::kube {

struct Type {
  enum class Kind {
    kStruct,  // named fields
    kMap,     // any key, `element` values
    kList,    // of `element`
    kString,
    kInteger,
    kNumber,
    kBoolean,
    kBytes,  // base64 in JSON
    kQuantity,
    kTime,
    kMicroTime,
    kDuration,
    kIntOrString,
    kAny,  // free JSON (RawExtension, FieldsV1, JSONSchemaProps defaults)
  };
  enum class ListKind { kAtomic, kSet, kMap };

  struct Field {
    std::string name;
    const Type* type = nullptr;
    uint32_t number = 0;    // in protobuf; 0 if the message has no protobuf form here
    bool presence = false;  // protobuf: present with a zero value still means set
    bool inlined = false;   // protobuf only: members belong to the parent in JSON
    bool required = false;  // for OpenAPI and explain
    // Server-side apply.
    ListKind list_kind = ListKind::kAtomic;
    std::vector<std::string> list_keys;
    // Strategic merge patch.
    bool patch_merge = false;     // lists: merge instead of replace
    std::string patch_merge_key;  // empty for lists of scalars
    bool patch_replace = false;   // maps: replace instead of merge
    bool patch_retain_keys = false;
  };

  Kind kind = Kind::kAny;
  std::string name;           // structs: "PodSpec"
  std::string openapi_name;   // structs: "io.k8s.api.core.v1.PodSpec"
  std::vector<Field> fields;  // structs, inlined ones flattened for JSON lookups
  const Type* element = nullptr;
  bool atomic = false;  // maps and structs that server-side apply owns as one value

  const Field* Find(std::string_view field) const;
};

// The root type of a built-in kind, or null if the kind is unknown or served without a schema.
const Type* FindBuiltinType(std::string_view api_version, std::string_view kind);

}  // namespace koord::kube
