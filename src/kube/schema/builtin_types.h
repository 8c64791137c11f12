#pragma once
#include <span>
#include <string_view>

// The text that the table of built-in types is made from, one block an API group.
//
// A line describes a message; a line that starts with a space continues the one before it:
//
//   [kind] [atomic] Name: field, field, ...
//
// `kind` marks a root object (it gets apiVersion and kind, and a list type of its own), `atomic` a
// struct that server-side apply owns as one value. A field is
//
//   [number.]name[^] [type][?][!] [mark ...]
//
// number     in protobuf, where it is not the previous one + 1
// ^          the members of the embedded message belong to the parent in JSON
// type       none = string, s = string, i = integer, f = number, b = boolean, y = bytes, any = free
//            JSON, [T] = list, map:T = map, else the name of a message of this group, core or meta
// ?          optional in the sense that a zero value differs from absence
// !          required
// merge=key  strategic merge by that key, and a server-side-apply map with it; without a key: a
// list
//            of scalars that is merged as a set
// keys=a+b   the server-side-apply keys, where they are others or there is no strategic merge
// set        a server-side-apply set
// atomic     a list or map that server-side apply owns as one value
// retain     strategic merge with retainKeys
// replace    strategic merge replaces this struct
namespace koord::kube::schema {

struct GroupSource {
  std::string_view api_version;     // "apps/v1"
  std::string_view openapi_prefix;  // "io.k8s.api.apps.v1."
  std::string_view messages;
  std::string_view json_messages;  // likewise, without protobuf numbers
};

extern const GroupSource kMetaTypes;
extern const GroupSource kCoreTypes;
extern const GroupSource kCoreVolumeTypes;  // the rest of core
extern const GroupSource kAppsTypes;
extern const GroupSource kBatchTypes;
extern const GroupSource kPolicyTypes;
extern const GroupSource kAutoscalingTypes;
extern const GroupSource kSchedulingTypes;
extern const GroupSource kCoordinationTypes;
extern const GroupSource kEventsTypes;
extern const GroupSource kRbacTypes;
extern const GroupSource kAuthenticationTypes;
extern const GroupSource kAuthorizationTypes;
extern const GroupSource kStorageTypes;
extern const GroupSource kAdmissionTypes;
extern const GroupSource kExtensionTypes;
extern const GroupSource kMetricsTypes;

// "apps/v1 DeploymentSpec.replicas: How many pods to keep." and, for a whole type, without a field.
// Core types have the version "v1", those of every group "meta/v1".
extern const std::string_view kDescriptions;

}  // namespace koord::kube::schema
