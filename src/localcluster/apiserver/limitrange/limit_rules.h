#pragma once
#include <string>
#include <vector>

#include "kube/json.h"
#include "kube/objects/limits.h"
#include "kube/objects/pod.h"
#include "kube/objects/storage.h"

// What a LimitRange makes of the pods and claims of its namespace.
namespace koord::apiserver {

// Containers that do not say what they request or are limited to get what the LimitRange says; an
// annotation tells which ones.
void FillInLimits(const kube::LimitRange& limits, kube::Json& pod);

// How a pod or a claim breaks the bounds, in Kubernetes' words; nothing if it keeps them.
std::vector<std::string> BrokenLimits(const kube::LimitRange& limits, const kube::Pod& pod);
std::vector<std::string> BrokenLimits(const kube::LimitRange& limits,
                                      const kube::PersistentVolumeClaim& claim);

}  // namespace koord::apiserver
