#pragma once
#include <string_view>

#include "localcluster/apiserver/core/core.h"
#include "localcluster/apiserver/core/request.h"

namespace koord::apiserver {

// log, exec, attach and portforward: what a kubelet does with the containers of a pod.
bool NeedsContainers(std::string_view subresource);

// Says why there is nothing to be had from the pod: nodes here are simulated.
void RespondNoContainers(Core& core, Request& request);

}  // namespace koord::apiserver
