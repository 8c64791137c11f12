#pragma once
#include <string>
#include <vector>

#include "kube/informer/informer.h"
#include "kube/objects/meta.h"
#include "kube/objects/pod.h"

// Indexes that several look things up by, each under one name: those who share a copy share its
// indexes.
namespace koord::kube {

// Pods by the node that they are on.
inline constexpr const char* kByNode = "node";
inline void IndexByNode(Informer<Pod>& pods) {
  pods.AddIndex(kByNode, [](const Pod& pod) {
    if (!IsAssigned(pod)) return std::vector<std::string>{};
    return std::vector<std::string>{pod.spec.node_name};
  });
}

inline constexpr const char* kByNamespace = "namespace";
template <class T>
void IndexByNamespace(Informer<T>& informer) {
  informer.AddIndex(kByNamespace,
                    [](const T& object) { return std::vector<std::string>{object.metadata.ns}; });
}

// By the UID of the controller, or OrphansOf the namespace where there is none.
inline constexpr const char* kByOwner = "owner";
inline std::string OrphansOf(const std::string& ns) { return "orphans/" + ns; }
template <class T>
void IndexByOwner(Informer<T>& informer) {
  informer.AddIndex(kByOwner, [](const T& object) {
    const OwnerReference* owner = ControllerOf(object.metadata);
    return std::vector<std::string>{owner != nullptr ? owner->uid : OrphansOf(object.metadata.ns)};
  });
}

}  // namespace koord::kube
