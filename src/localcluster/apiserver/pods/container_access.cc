#include "localcluster/apiserver/pods/container_access.h"

#include <fmt/format.h>

#include "localcluster/apiserver/core/errors.h"
#include "localcluster/apiserver/http/respond.h"

namespace koord::apiserver {
namespace {

std::string_view WhatIsMissing(std::string_view subresource) {
  if (subresource == "log") return "has no logs";
  if (subresource == "exec") return "has nothing to execute a command in";
  if (subresource == "attach") return "has nothing to attach to";
  if (subresource == "portforward") return "has no ports";
  return {};
}

}  // namespace

bool NeedsContainers(std::string_view subresource) { return !WhatIsMissing(subresource).empty(); }

void RespondNoContainers(Core& core, Request& request) {
  const kube::Resource& resource = request.info->resource;
  if (core.store.Get(resource.qualified(), KeyOf(request.ns, request.name)) == nullptr) {
    return RespondError(core, request, ObjectNotFound(resource, request.name));
  }
  RespondError(core, request,
               Error(501, "NotImplemented",
                     fmt::format("pod \"{}\" {}: the nodes of the local cluster are simulated and "
                                 "run no containers",
                                 request.name, WhatIsMissing(request.subresource))));
}

}  // namespace koord::apiserver
