#pragma once
#include <string>

#include "kube/json.h"
#include "localcluster/apiserver/openapi/schemas.h"
#include "localcluster/apiserver/registry/resource_info.h"

namespace koord::apiserver {

// "api/v1" or "apis/apps/v1"
std::string GroupVersionPath(const kube::Resource& resource);

// Adds the paths of a resource with their operations to `paths`: what clients find kinds by, and
// see that the server validates fields and takes which patches.
void AddPaths(const ResourceInfo& info, OpenApiVersion version, OpenApiSchemas& definitions,
              kube::json::object& paths);

}  // namespace koord::apiserver
