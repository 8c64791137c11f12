#pragma once
#include "base/status.h"
#include "localcluster/apiserver/core/request.h"
#include "localcluster/apiserver/registry/registry.h"

namespace koord::apiserver {

// Finds out which resource, object and verb a request below /api or /apis is about and fills in the
// request. kNotFound without an ApiError means that nobody serves the path at all (a plain 404);
// errors with one are for the client as they are.
Status Route(const Registry& registry, Request& request);

}  // namespace koord::apiserver
