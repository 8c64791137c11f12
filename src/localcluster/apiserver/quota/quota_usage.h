#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "kube/json.h"
#include "kube/objects/pod.h"
#include "kube/objects/resource_list.h"

// What objects take, under the names that ResourceQuotas have for it.
namespace koord::apiserver {

// The resource ("pods", "deployments.apps") whose objects a name of a quota counts: `pods` for
// `requests.cpu`, `limits.memory` or `requests.kubernetes.io/batch-cpu`, `services` for
// `services.nodeports`, `jobs.batch` for `count/jobs.batch`. None: nobody counts it.
std::optional<std::string> CountedBy(std::string_view quota_name);

// Pods, services and claims take amounts that only the object tells; of all others there is just
// the number.
bool HasAmounts(std::string_view resource);

// What an object of the resource takes. A pod that has ended, or has outstayed its deletion, takes
// no more than its place among the objects.
kube::ResourceList QuotaUsage(std::string_view resource, const kube::Json& object, WallTime now);

// When a pod that is being deleted stops to count although it is still there: its node is most
// likely gone.
std::optional<WallTime> StopsToCount(const kube::Json& pod);

// "cpu for: a,b; memory for: a" of a quota for cpu or memory, which every container must then ask
// for; nothing if all do. `names` are those of the quota.
std::optional<std::string> MissingRequests(const kube::Pod& pod, const kube::ResourceList& names);

}  // namespace koord::apiserver
