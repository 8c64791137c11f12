#pragma once
#include "kube/json.h"

// The schema of a custom resource in the words of each version of OpenAPI.
namespace koord::apiserver {

// As the definition has it.
kube::json::object CustomSchemaV3(const kube::Json& schema);

// Only what v2 can say and older clients understand: they would refuse objects for what they read
// into the rest. Places that accept more than v2 can express (int-or-string, null, unknown fields)
// are left open.
kube::json::object CustomSchemaV2(const kube::Json& schema);

}  // namespace koord::apiserver
