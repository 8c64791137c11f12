#pragma once
#include "kube/json.h"
#include "localcluster/apiserver/crd/schema_node.h"
#include "localcluster/apiserver/registry/field_error.h"
#include "localcluster/apiserver/registry/field_path.h"

namespace koord::apiserver {

// What is wrong with a value at `path`. Parts that equal their counterpart in `old` are let pass.
FieldErrors ValidateValue(const kube::Json& value, const SchemaNode& node, const FieldPath& path,
                          const kube::Json* old = nullptr);

}  // namespace koord::apiserver
