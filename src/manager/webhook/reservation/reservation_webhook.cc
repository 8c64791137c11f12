#include "manager/webhook/reservation/reservation_webhook.h"

#include "api/resources.h"

namespace koord::manager::webhook {

Response MutateReservation(const Request& request, const ClusterView& view, Random& random) {
  const bool is_about = request.group == api::kReservations.group &&
                        request.resource == api::kReservations.resource &&
                        request.subresource.empty();
  if (!is_about || request.operation != Operation::kCreate) return Response::Allowed();
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

}  // namespace koord::manager::webhook
