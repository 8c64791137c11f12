#pragma once
#include <string_view>

#include "kube/json.h"
#include "manager/webhook/review/cluster_view.h"
#include "manager/webhook/review/features.h"

// Most pods of a cluster have nothing to do with co-location: they say nothing that we know of, no
// profile is for them, and no quota waits for them. Whoever can look here first need not ask about
// them.
namespace koord::manager::webhook {

// Whether /mutate-pod would surely leave the pod as it is.
bool NothingToMutate(const kube::Json& pod, std::string_view ns, const ClusterView& view,
                     const Features& features);

// Whether /validate-pod would surely let it in, without a warning. `old` is null for a new pod.
bool NothingToValidate(const kube::Json& pod, const kube::Json& old, std::string_view ns,
                       const ClusterView& view, const Features& features);

// Whether /validate-pod-keys would surely allow it. `old` is null for a Binding.
bool NothingToGuard(const kube::Json& object, const kube::Json& old);

}  // namespace koord::manager::webhook
