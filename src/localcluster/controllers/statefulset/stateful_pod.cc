#include "localcluster/controllers/statefulset/stateful_pod.h"

#include <fmt/format.h>

#include "kube/resources.h"
#include "localcluster/controllers/common/ownership.h"
#include "localcluster/controllers/common/template_hash.h"

namespace koord::localcluster {
namespace {

using kube::Json;

std::string ClaimName(const kube::StatefulSet& set, const Json& claim, int32_t ordinal) {
  return fmt::format("{}-{}-{}", kube::FindString(claim, {"metadata", "name"}), set.metadata.name,
                     ordinal);
}

// The pod's own claims take the place of volumes of the same name.
void MountClaims(const kube::StatefulSet& set, int32_t ordinal, Json& pod) {
  if (set.spec.volume_claim_templates.empty()) return;
  kube::json::array volumes;
  for (const Json& claim : set.spec.volume_claim_templates) {
    volumes.push_back({{"name", kube::FindString(claim, {"metadata", "name"})},
                       {"persistentVolumeClaim", {{"claimName", ClaimName(set, claim, ordinal)}}}});
  }
  const size_t own = volumes.size();
  if (const kube::json::array* others = kube::FindArray(pod, {"spec", "volumes"})) {
    for (const Json& volume : *others) {
      bool hidden = false;
      for (size_t i = 0; i < own; ++i) {
        hidden |= kube::FindString(volumes[i], {"name"}) == kube::FindString(volume, {"name"});
      }
      if (!hidden) volumes.push_back(volume);
    }
  }
  kube::At(pod, {"spec", "volumes"}) = std::move(volumes);
}

}  // namespace

Json StatefulPod(const kube::StatefulSet& set, const Json& pod_template,
                 const std::string& revision_name, int32_t ordinal) {
  Json pod = PodFromTemplate(pod_template, {kube::kStatefulSets, set.metadata});
  const std::string name = fmt::format("{}-{}", set.metadata.name, ordinal);
  kube::At(pod, {"metadata", "name"}) = name;
  kube::At(pod, {"metadata", "labels", "statefulset.kubernetes.io/pod-name"}) = name;
  kube::At(pod, {"metadata", "labels", "apps.kubernetes.io/pod-index"}) = std::to_string(ordinal);
  kube::At(pod, {"metadata", "labels", kControllerRevisionHash}) = revision_name;
  kube::At(pod, {"spec", "hostname"}) = name;
  if (!set.spec.service_name.empty()) kube::At(pod, {"spec", "subdomain"}) = set.spec.service_name;
  MountClaims(set, ordinal, pod);
  return pod;
}

std::vector<Json> ClaimsOf(const kube::StatefulSet& set, int32_t ordinal) {
  std::vector<Json> claims;
  for (const Json& from : set.spec.volume_claim_templates) {
    Json claim = from;
    if (claim.is_object()) claim.as_object().erase("status");
    kube::At(claim, {"metadata", "name"}) = ClaimName(set, from, ordinal);
    kube::At(claim, {"metadata", "namespace"}) = set.metadata.ns;
    if (set.spec.selector) {
      for (const auto& [key, value] : set.spec.selector->match_labels) {
        kube::At(claim, {"metadata", "labels", key}) = value;
      }
    }
    claims.push_back(std::move(claim));
  }
  return claims;
}

}  // namespace koord::localcluster
