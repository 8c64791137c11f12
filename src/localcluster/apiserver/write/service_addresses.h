#pragma once
#include "base/status.h"
#include "kube/json.h"
#include "localcluster/apiserver/core/core.h"

namespace koord::apiserver {

// Gives a service its cluster IP and node ports, unique among all services. Nothing routes to them
// here, but everything that reads services expects them.
Status AssignServiceAddresses(Core& core, kube::Json& service);

}  // namespace koord::apiserver
