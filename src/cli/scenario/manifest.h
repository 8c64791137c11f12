#pragma once
#include <string>

#include "kube/json.h"
#include "kube/resource.h"

namespace koord::scenario {

// Fills in what a scenario may leave out: apiVersion, the namespace, a container for a pod without
// any, and for a node the Ready condition and a capacity equal to its allocatable.
kube::Json CompleteManifest(kube::Json manifest, const kube::Resource& resource,
                            const std::string& default_namespace);

}  // namespace koord::scenario
