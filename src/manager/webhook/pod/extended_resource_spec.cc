#include <array>
#include <utility>

#include "api/annotation_codec.h"
#include "api/extended_resources.h"
#include "api/keys.h"
#include "api/pod_annotations.h"
#include "manager/webhook/pod/pod_mutating.h"

namespace koord::manager::webhook {
namespace {

using kube::Json;

kube::ResourceList BatchOf(const kube::ResourceList& all) {
  kube::ResourceList batch;
  for (const std::string_view name : {api::kBatchCpu, api::kBatchMemory}) {
    const auto it = all.find(name);
    if (it != all.end()) batch.insert(*it);
  }
  return batch;
}

StatusOr<api::ExtendedResourceSpec> SpecOf(const Json& pod) {
  api::ExtendedResourceSpec spec;
  const kube::json::array* containers = kube::FindArray(pod, {"spec", "containers"});
  if (containers == nullptr) return spec;
  for (const Json& container : *containers) {
    const Json* found = kube::Find(container, {"resources"});
    if (found == nullptr || found->is_null()) continue;
    ASSIGN_OR_RETURN(const auto resources, kube::Decode<kube::ResourceRequirements>(*found));
    kube::ResourceRequirements batch{BatchOf(resources.limits), BatchOf(resources.requests)};
    if (batch.limits.empty() && batch.requests.empty()) continue;
    spec.containers.emplace(kube::FindString(container, {"name"}), std::move(batch));
  }
  return spec;
}

// Few pods have the annotation, and then only that one is read.
StatusOr<api::ExtendedResourceSpec> CurrentSpec(const Json& pod) {
  const Json* text =
      kube::Find(pod, {"metadata", "annotations", api::kAnnotationExtendedResourceSpec});
  if (text == nullptr || !text->is_string()) return api::ExtendedResourceSpec();
  return api::DecodeLoose<api::ExtendedResourceSpec>(std::string_view(text->get_string()));
}

}  // namespace

Status SetExtendedResourceSpec(Json& pod) {
  ASSIGN_OR_RETURN(const api::ExtendedResourceSpec wanted, SpecOf(pod));
  const auto current = CurrentSpec(pod);
  if (!current.ok()) {
    return InvalidArgument("failed to get current extended resource spec, err: {}",
                           Message(current.status()));
  }
  if (*current == wanted) return absl::OkStatus();
  kube::At(pod, {"metadata", "annotations", api::kAnnotationExtendedResourceSpec}) =
      api::EncodeExtendedResourceSpec(wanted);
  return absl::OkStatus();
}

}  // namespace koord::manager::webhook
