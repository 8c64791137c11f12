#include "cli/scenario/manifest.h"

namespace koord::scenario {
namespace {

using kube::Json;
namespace json = kube::json;

void CompletePodSpec(Json& spec) {
  Json& containers = kube::At(spec, {"containers"});
  if (containers.is_array() && !containers.get_array().empty()) return;
  containers = json::array{{{"name", "main"}, {"image", "registry.k8s.io/pause:3.10"}}};
}

void CompleteNode(Json& node) {
  Json& status = kube::At(node, {"status"});
  if (const Json* allocatable = kube::Find(status, {"allocatable"});
      allocatable != nullptr && kube::Find(status, {"capacity"}) == nullptr) {
    Json capacity = *allocatable;
    kube::At(status, {"capacity"}) = std::move(capacity);
  }
  if (kube::Find(status, {"conditions"}) == nullptr) {
    kube::At(status, {"conditions"}) =
        json::array{{{"type", "Ready"}, {"status", "True"}, {"reason", "KubeletReady"}}};
  }
}

}  // namespace

kube::Json CompleteManifest(Json manifest, const kube::Resource& resource,
                            const std::string& default_namespace) {
  kube::At(manifest, {"apiVersion"}) = resource.api_version();
  Json& ns = kube::At(manifest, {"metadata", "namespace"});
  if (!resource.namespaced) {
    kube::At(manifest, {"metadata"}).as_object().erase("namespace");
  } else if (!ns.is_string()) {
    ns = default_namespace;
  }
  if (resource.group.empty() && resource.kind == "Pod") {
    CompletePodSpec(kube::At(manifest, {"spec"}));
  } else if (Json* spec = kube::Find(manifest, {"spec", "template", "spec"})) {
    CompletePodSpec(*spec);
  } else if (Json* of_jobs =
                 kube::Find(manifest, {"spec", "jobTemplate", "spec", "template", "spec"})) {
    CompletePodSpec(*of_jobs);
  }
  if (resource.group.empty() && resource.kind == "Node") CompleteNode(manifest);
  return manifest;
}

}  // namespace koord::scenario
