#pragma once
#include <string_view>

#include "kube/json.h"
#include "localcluster/apiserver/registry/field_error.h"
#include "localcluster/apiserver/registry/field_path.h"

namespace koord::apiserver {

// requests and limits of a container: quantities that are not negative, requests within limits,
// extended resources in whole numbers and without overcommitment.
void ValidateResources(const kube::json::object& resources, const FieldPath& path,
                       FieldErrors& errors);

// A map of resource names to quantities, none negative.
void ValidateResourceList(const kube::json::object& list, const FieldPath& path,
                          FieldErrors& errors);

// A resource outside of Kubernetes' own domain, such as nvidia.com/gpu. kubernetes.io/batch-cpu is
// not one.
bool IsExtendedResource(std::string_view name);

}  // namespace koord::apiserver
