#include "manager/webhook/pod/pod_mutating.h"

#include <utility>

namespace koord::manager::webhook {
namespace {

using kube::Json;

Status ApplyProfilesTo(const PodMutation& context, std::string_view ns, Json& pod) {
  const PodProfileContext profiles{
      .profiles = context.view.profiles(),
      .namespace_labels = [&] { return context.view.NamespaceLabels(ns); },
      .priority_class = [&](std::string_view name) { return context.view.FindPriorityClass(name); },
      .rewrite_resources = !context.features.colocation_profile_skip_mutating_resources};
  return ApplyToPod(profiles, context.random, pod).status();
}

Status RunSteps(const Request& request, const PodMutation& context, Json& pod) {
  std::string ns(kube::FindString(pod, {"metadata", "namespace"}));
  if (ns.empty()) ns = request.ns;
  const Features& features = context.features;
  const StepTimer timer(context.metrics, context.clock, "mutate", "pod", request.operation);
  RETURN_IF_ERROR(
      timer.Run("ClusterColocationProfile", [&] { return ApplyProfilesTo(context, ns, pod); }));
  if (!features.disable_extended_resource_spec) {
    RETURN_IF_ERROR(
        timer.Run("ExtendedResourceSpec", [&] { return SetExtendedResourceSpec(pod); }));
  }
  if (features.multi_quota_tree) {
    RETURN_IF_ERROR(
        timer.Run("MultiQuotaTree", [&] { return AddQuotaTreeAffinity(context.view, ns, pod); }));
  }
  if (!features.disable_device_resource_spec) {
    RETURN_IF_ERROR(timer.Run("DeviceResourceSpec", [&] { return SetDeviceResources(pod); }));
  }
  return absl::OkStatus();
}

}  // namespace

Response MutatePod(const Request& request, const PodMutation& context) {
  if (!request.IsAbout("pods") || request.operation != Operation::kCreate) {
    return Response::Allowed();
  }
  if (request.object.is_null()) return Response::Errored(400, std::string(kNothingToDecode));
  if (const auto pod = kube::Decode<kube::Pod>(request.object); !pod.ok()) {
    return Response::Errored(400, pod.status());
  }
  Json pod(request.object, request.object.storage());
  if (const Status status = RunSteps(request, context, pod); !status.ok()) {
    return Response::Errored(500, status);
  }
  return Response::Patched(request.object, pod);
}

}  // namespace koord::manager::webhook
