#pragma once
#include <functional>
#include <span>

#include "base/embedded_file.h"
#include "kube/client/client.h"

namespace koord::localcluster {

// deploy/priorityclasses.yaml and deploy/manager/config.yaml.
std::span<const EmbeddedFile> DefaultManifests();

// Makes what whoever installs Koordinator by deploy/ has from the start: the koord-* priority
// classes and, where a manager reads it, slo-controller-config. What is there stays as it is.
void InstallDefaults(kube::Client& client, bool with_config, std::function<void(Status)> done);

}  // namespace koord::localcluster
