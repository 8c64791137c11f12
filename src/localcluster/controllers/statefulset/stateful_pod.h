#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "kube/json.h"
#include "kube/objects/workloads.h"

namespace koord::localcluster {

// The pod of that number, made from `pod_template` as of the revision of that name.
kube::Json StatefulPod(const kube::StatefulSet& set, const kube::Json& pod_template,
                       const std::string& revision_name, int32_t ordinal);

// The volume claims that belong to it.
std::vector<kube::Json> ClaimsOf(const kube::StatefulSet& set, int32_t ordinal);

}  // namespace koord::localcluster
