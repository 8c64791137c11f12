#pragma once
#include <string>
#include <string_view>

#include "kube/objects/meta.h"
#include "manager/quota/quota_topology.h"

namespace koord::manager {

// The quota that a pod is charged to: what its label says, else the quota of its namespace (one of
// that name there, or one that lists it), else the default quota. With `no_default` only the label
// counts.
std::string QuotaOfPod(const QuotaTopology& quotas, const kube::Labels& pod_labels,
                       std::string_view ns, bool no_default);

}  // namespace koord::manager
