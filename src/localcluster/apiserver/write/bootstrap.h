#pragma once
#include "localcluster/apiserver/core/core.h"
#include "localcluster/apiserver/write/writer.h"

namespace koord::apiserver {

// Creates what every cluster has from the start, where it is missing: the system namespaces and
// priority classes, the service of the API server itself, the CA of its clients, and a service
// account in every namespace, now and whenever one is created.
void Bootstrap(Core& core, Writer& writer);

// The user in whose name the server itself writes.
kube::UserInfo ServerUser();

}  // namespace koord::apiserver
