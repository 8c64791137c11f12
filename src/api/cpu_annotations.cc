#include "api/cpu_annotations.h"

#include "api/annotation_codec.h"
#include "api/keys.h"

namespace koord::api {

using kube::Annotations;

StatusOr<std::optional<ResourceSpec>> ResourceSpecOf(const Annotations& annotations) {
  return ReadAnnotation<ResourceSpec>(annotations, kAnnotationResourceSpec);
}

StatusOr<std::optional<NumaTopologySpec>> NumaTopologySpecOf(const Annotations& annotations) {
  return ReadAnnotation<NumaTopologySpec>(annotations, kAnnotationNumaTopologySpec);
}

StatusOr<std::optional<ResourceStatus>> ResourceStatusOf(const Annotations& annotations) {
  return ReadAnnotation<ResourceStatus>(annotations, kAnnotationResourceStatus);
}

std::string EncodeResourceSpec(const ResourceSpec& spec) { return EncodeAnnotation(spec); }

std::string EncodeResourceStatus(const ResourceStatus& status) { return EncodeAnnotation(status); }

StatusOr<std::optional<NodeReservation>> NodeReservationOf(const Annotations& annotations) {
  return ReadNonEmptyAnnotation<NodeReservation>(annotations, kAnnotationNodeReservation);
}

int64_t ReservedCpuCount(const NodeReservation& reservation) {
  if (!reservation.reserved_cpus.empty()) return 0;
  const kube::Quantity cpu = kube::AmountOf(reservation.resources, kube::kCpu);
  return cpu.Sign() > 0 ? (cpu.MilliValue() + 999) / 1000 : 0;
}

StatusOr<std::optional<SystemQosResource>> SystemQosResourceOf(const Annotations& annotations) {
  return ReadAnnotation<SystemQosResource>(annotations, kAnnotationSystemQosResource);
}

}  // namespace koord::api
