#pragma once
#include <functional>
#include <span>

#include "base/embedded_file.h"
#include "kube/client/client.h"

namespace koord::localcluster {

// deploy/manager/webhooks.yaml.
std::span<const EmbeddedFile> ManagerManifests();

// Makes what an administrator makes from that file before koord-manager starts (its namespace,
// the service and the registrations of its webhooks), as far as it is not there: what somebody has
// changed stays.
void InstallWebhooks(kube::Client& client, std::function<void(Status)> done);

// Only the namespace: configuration and leases are in it, too.
void InstallManagerNamespace(kube::Client& client, std::function<void(Status)> done);

// Removes registrations that InstallWebhooks has made, since nobody answers them any more: no pod
// could be created. Those that lead to a manager that runs elsewhere stay.
void RemoveWebhooks(kube::Client& client, std::function<void(Status)> done);

}  // namespace koord::localcluster
