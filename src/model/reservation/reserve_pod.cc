#include "model/reservation/reserve_pod.h"

#include <limits>

#include "api/keys.h"
#include "base/strings.h"
#include "kube/objects/pod_resources.h"
#include "model/reservation/reservation_state.h"

namespace koord::model {
namespace {

using kube::ResourceList;

void OverlayPairs(kube::Labels& pairs, const kube::Labels& stronger) {
  for (const auto& [key, value] : stronger) pairs.insert_or_assign(key, value);
}

kube::ObjectMeta MetadataOf(const api::Reservation& reservation, kube::ObjectMeta meta) {
  const kube::ObjectMeta& own = reservation.metadata;
  meta.name = own.uid;
  meta.uid = own.uid;
  if (meta.ns.empty()) meta.ns = "default";
  meta.resource_version = own.resource_version;
  meta.generation = own.generation;
  meta.creation_timestamp = own.creation_timestamp;
  meta.deletion_timestamp = own.deletion_timestamp;
  if (!own.labels.empty()) OverlayPairs(meta.labels.Mutable(), own.labels);
  OverlayPairs(meta.annotations, own.annotations);
  const auto annotate = [&](std::string_view key, std::string value) {
    meta.annotations.insert_or_assign(std::string(key), std::move(value));
  };
  annotate(api::kAnnotationReservePod, "true");
  annotate(api::kAnnotationReservationName, own.name);
  if (reservation.spec.pre_allocation) annotate(api::kAnnotationIsPreAllocation, "true");
  return meta;
}

// One that nobody preempts, unless somebody has said otherwise.
int32_t PriorityOf(const kube::Pod& pod) {
  if (pod.spec.priority) return *pod.spec.priority;
  constexpr std::numeric_limits<int32_t> kLimits;
  const auto labelled = ParseInt(kube::ValueOf(pod.metadata.labels, api::kLabelPriority));
  const bool is_priority = labelled && *labelled >= kLimits.min() && *labelled <= kLimits.max();
  return is_priority ? static_cast<int32_t>(*labelled) : kLimits.max();
}

// The node on which the template insists is where to look for room, not where the pod is.
void PlaceOn(kube::Pod& pod, const std::string& node) {
  if (!pod.spec.node_name.empty()) {
    pod.metadata.annotations.insert_or_assign(std::string(api::kAnnotationReservationNode),
                                              pod.spec.node_name);
  }
  pod.spec.node_name = node;
}

void ClearResources(kube::Shared<std::vector<kube::Container>>& containers) {
  if (containers.empty()) return;
  for (kube::Container& container : containers.Mutable()) container.resources = {};
}

// Makes the pod ask for what is reserved, whatever its template asks for.
void AskFor(kube::PodSpec& pod, const ResourceList& requests) {
  pod.overhead.clear();
  pod.resources = {};
  ClearResources(pod.containers);
  ClearResources(pod.init_containers);
  kube::Container container;
  container.name = kReserveContainer;
  container.resources = {.limits = requests, .requests = requests};
  pod.containers.Mutable().push_back(std::move(container));
}

}  // namespace

kube::Pod ReservePodOf(const api::Reservation& reservation,
                       std::string_view scheduler_when_unnamed) {
  kube::PodTemplateSpec pod_template =
      api::TemplateOf(reservation.spec).value_or(kube::PodTemplateSpec());
  kube::Pod pod;
  pod.metadata = MetadataOf(reservation, std::move(pod_template.metadata));
  pod.spec = std::move(pod_template.spec);
  PlaceOn(pod, reservation.status.node_name);
  pod.spec.priority = PriorityOf(pod);
  if (pod.spec.scheduler_name.empty()) pod.spec.scheduler_name = scheduler_when_unnamed;
  if (HasEnded(reservation)) pod.status.phase = reservation.status.phase;
  if (IsAvailable(reservation)) {
    ResourceList requests = kube::PodRequests(pod);
    if (requests != reservation.status.allocatable) {
      for (const auto& [name, amount] : reservation.status.allocatable) {
        requests.insert_or_assign(name, amount);
      }
      AskFor(pod.spec, requests);
    }
  }
  return pod;
}

}  // namespace koord::model
