#pragma once
#include <functional>

#include "base/status.h"
#include "kube/client/client.h"

namespace koord::localcluster {

// Applies Koordinator's custom resource definitions (deploy/crds, which the program carries along).
// `done` runs once, with the first error if there was one.
void InstallDefinitions(kube::Client& client, std::function<void(Status)> done);

}  // namespace koord::localcluster
