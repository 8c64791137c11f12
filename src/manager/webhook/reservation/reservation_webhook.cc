#include "manager/webhook/reservation/reservation_webhook.h"

#include "api/resources.h"

namespace koord::manager::webhook {

namespace {

bool IsAboutReservation(const Request& request) {
  return request.group == api::kReservations.group &&
         request.resource == api::kReservations.resource && request.subresource.empty();
}

}  // namespace

Response MutateReservation(const Request& request, const ClusterView& view, Random& random) {
  if (!IsAboutReservation(request) || request.operation != Operation::kCreate)
    return Response::Allowed();
  if (request.object.is_null()) return Response::Errored(400, std::string(kNothingToDecode));
  const PodProfileContext context{
      .profiles = view.profiles(),
      .namespace_labels = {},
      .priority_class = [&](std::string_view name) { return view.FindPriorityClass(name); }};
  kube::Json reservation = request.object;
  const StatusOr<bool> applied = ApplyToReservation(context, random, reservation);
  if (!applied.ok()) return Response::Errored(500, applied.status());
  return Response::Patched(request.object, reservation);
}

Response ValidateReservation(const Request& request, const TrustOptions& trust,
                             WebhookMetrics* metrics) {
  const bool is_new = request.operation == Operation::kCreate;
  if (!IsAboutReservation(request) || (!is_new && request.operation != Operation::kUpdate)) {
    return Response::Allowed();
  }
  if (request.object.is_null()) return Response::Errored(400, std::string(kNothingToDecode));
  FieldErrors errors;
  CheckSchedulerKeysOfReservation(request, trust, errors, metrics);
  if (!errors.empty()) return Response::Errored(400, errors.ToString());
  Response response = Response::Allowed();
  if (is_new) response.warnings = QuestionableOwners(request, trust, metrics);
  return response;
}

}  // namespace koord::manager::webhook
