#pragma once
#include "localcluster/apiserver/core/core.h"
#include "localcluster/apiserver/core/request.h"

namespace koord::apiserver {

// Paths that are about the server rather than about resources: health, version, metrics and the
// list of paths. True if the path is one of them, and answered.
bool HandleEndpoint(Core& core, Request& request);

// Health and version are everybody's business.
bool IsPublicPath(const Request& request);

}  // namespace koord::apiserver
