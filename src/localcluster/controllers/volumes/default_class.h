#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "kube/client/client.h"
#include "kube/json.h"
#include "kube/objects/storage.h"

namespace koord::localcluster {

// The class that a cluster starts with, so that claims which name none get a volume: `standard`,
// which makes volumes as soon as the claim's pod has a node.
kube::Json StandardStorageClass();

// Creates it in a cluster without any storage class: whoever has set up their own does not get a
// second default. `done` runs once.
void EnsureStorageClass(kube::Client& client, std::function<void(Status)> done);

// The class of claims that name none: the newest of those marked as default; "" if none is.
std::string DefaultClassAmong(const std::vector<std::shared_ptr<const kube::StorageClass>>& all);

}  // namespace koord::localcluster
