#include "manager/webhook/pod/pod_keys.h"

#include "api/keys.h"
#include "manager/webhook/pod/pod_binding.h"
#include "manager/webhook/pod/pod_validating.h"

namespace koord::manager::webhook {
namespace {

using kube::Annotations;
using kube::Pod;

Response ToResponse(const FieldErrors& errors) {
  return errors.empty() ? Response::Allowed() : Response::Errored(400, errors.ToString());
}

void CheckReservePod(const Annotations& now, const Annotations& before, FieldErrors& errors) {
  if (!before.contains(api::kAnnotationReservePod)) CheckReservedAnnotations(now, errors);
}

Response ValidatePart(const Request& request, const PodKeys& context) {
  if (request.object.is_null() || request.old_object.is_null()) {
    return Response::Errored(400, std::string(kNothingToDecode));
  }
  const auto pod = kube::Decode<Pod>(request.object);
  if (!pod.ok()) return Response::Errored(400, pod.status());
  const auto old = kube::Decode<Pod>(request.old_object);
  if (!old.ok()) return Response::Errored(400, old.status());
  const Annotations& now = pod->metadata.annotations;
  const Annotations& before = old->metadata.annotations;
  FieldErrors errors;
  CheckReservePod(now, before, errors);
  CheckSchedulerKeys(request, now, &before, context.trust, errors, context.metrics);
  CheckImmutable(*pod, *old, context.features, errors);
  return ToResponse(errors);
}

// The API server adds the annotations of the Binding to those of the pod.
Response ValidateAnnotationsOfBinding(const Request& request, const PodKeys& context) {
  const kube::Json* said = kube::Find(request.object, {"metadata", "annotations"});
  if (said == nullptr || said->is_null()) return Response::Allowed();
  auto added = kube::Decode<Annotations>(*said);
  if (!added.ok()) {
    return Response::Errored(400, fmt::format("metadata.annotations: {}", Message(added.status())));
  }
  const auto pod = context.view.FindPod({request.ns, BoundPodOf(request)});
  const Annotations before = pod != nullptr ? pod->metadata.annotations : Annotations();
  Annotations now = *std::move(added);
  now.insert(before.begin(), before.end());
  FieldErrors errors;
  CheckReservePod(now, before, errors);
  CheckSchedulerKeys(request, now, &before, context.trust, errors, context.metrics);
  return ToResponse(errors);
}

}  // namespace

Response ValidatePodKeys(const Request& request, const PodKeys& context) {
  if (IsPodBinding(request)) return ValidateAnnotationsOfBinding(request, context);
  const bool is_part = request.group.empty() && request.resource == "pods" &&
                       !request.subresource.empty() && request.operation == Operation::kUpdate;
  return is_part ? ValidatePart(request, context) : Response::Allowed();
}

}  // namespace koord::manager::webhook
