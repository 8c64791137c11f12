#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// The shape of Kubernetes' built-in types, as one table that serves everything which must know it:
// strict decoding, canonical quantities, protobuf request bodies, strategic merge keys, server-side
// apply and OpenAPI.
namespace koord::kube {

// Types are immutable and live as long as the program. They may refer to themselves through their
// fields (JSONSchemaProps), so walk documents, or remember what was visited.
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
    uint32_t number = 0;      // in protobuf; 0 if the field has no protobuf form here
    bool presence = false;    // present with a zero value still means set
    bool required = false;    // for OpenAPI and explain; written even when it is zero
    std::string description;  // one sentence for `kubectl explain`; often empty
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
  std::string description;    // structs; often empty
  std::vector<Field> fields;  // structs: the JSON members
  // Protobuf only: messages embedded in this one whose members belong to `fields` in JSON.
  std::vector<Field> inlined;
  const Type* element = nullptr;
  bool atomic = false;  // maps and structs that server-side apply owns as one value

  const Field* Find(std::string_view field) const;

  // Makes Find work; called once, when `fields` is complete.
  void BuildIndex();

 private:
  std::vector<uint16_t> slots_;  // open addressing, 1 + position in `fields`
};

// The root type of a built-in kind ("apps/v1", "Deployment"), also of its list ("DeploymentList"),
// or null if the kind is unknown or served without a schema. DeleteOptions is known in every
// version.
const Type* FindBuiltinType(std::string_view api_version, std::string_view kind);

}  // namespace koord::kube
