#include "api/reservation_annotations.h"

#include "api/annotation_codec.h"
#include "api/keys.h"
#include "base/strings.h"

namespace koord::api {
namespace {

struct RestrictedOptions {
  std::vector<std::string> resources;

  static void Fields(auto& self, auto&& field) { field("resources", self.resources); }
};

struct ExactMatchSpec {
  std::vector<std::string> resource_names;

  static void Fields(auto& self, auto&& field) { field("resourceNames", self.resource_names); }
};

struct ResizeAllocatable {
  kube::ResourceList resources;

  static void Fields(auto& self, auto&& field) { field("resources", self.resources); }
};

}  // namespace

using kube::Annotations;
using kube::ResourceList;

StatusOr<std::optional<ReservationAffinity>> ReservationAffinityOf(const Annotations& annotations) {
  const std::string* text = kube::FindValue(annotations, kAnnotationReservationAffinity);
  if (text != nullptr && text->empty()) return std::optional(ReservationAffinity());
  return ReadAnnotation<ReservationAffinity>(annotations, kAnnotationReservationAffinity);
}

StatusOr<std::optional<ReservationAllocated>> ReservationAllocatedOf(
    const Annotations& annotations) {
  return ReadAnnotation<ReservationAllocated>(annotations, kAnnotationReservationAllocated);
}

std::string EncodeReservationAllocated(const ReservationAllocated& allocated) {
  return EncodeAnnotation(allocated);
}

StatusOr<std::vector<std::string>> RestrictedResourcesOf(const Annotations& annotations) {
  ASSIGN_OR_RETURN(
      std::optional<RestrictedOptions> options,
      ReadAnnotation<RestrictedOptions>(annotations, kAnnotationReservationRestrictedOptions));
  return options ? std::move(options->resources) : std::vector<std::string>();
}

StatusOr<std::vector<std::string>> ExactMatchResourcesOf(const Annotations& annotations) {
  ASSIGN_OR_RETURN(std::optional<ExactMatchSpec> spec,
                   ReadAnnotation<ExactMatchSpec>(annotations, kAnnotationExactMatchReservation));
  return spec ? std::move(spec->resource_names) : std::vector<std::string>();
}

bool MatchesExactly(const std::vector<std::string>& resource_names,
                    const ResourceList& pod_requests, const ResourceList& reservation_allocatable) {
  for (const std::string& name : resource_names) {
    const auto asked = pod_requests.find(name);
    const auto kept = reservation_allocatable.find(name);
    const bool is_asked = asked != pod_requests.end();
    const bool is_kept = kept != reservation_allocatable.end();
    if (!is_asked && !is_kept) return true;
    if (!is_asked || !is_kept || asked->second != kept->second) return false;
  }
  return true;
}

int64_t ReservationOrderOf(const kube::Labels& reservation_labels) {
  return ParseInt(kube::ValueOf(reservation_labels, kLabelReservationOrder)).value_or(0);
}

StatusOr<std::vector<ReservationOwner>> ReservationOwnersOf(const Annotations& annotations) {
  ASSIGN_OR_RETURN(
      std::optional<std::vector<ReservationOwner>> owners,
      ReadAnnotation<std::vector<ReservationOwner>>(annotations, kAnnotationReservationOwners));
  return owners ? *std::move(owners) : std::vector<ReservationOwner>();
}

StatusOr<std::optional<kube::ObjectReference>> ReservationCurrentOwnerOf(
    const Annotations& annotations) {
  return ReadAnnotation<kube::ObjectReference>(annotations, kAnnotationReservationCurrentOwner);
}

std::string EncodeReservationCurrentOwner(const kube::ObjectReference& owner) {
  return EncodeAnnotation(owner);
}

StatusOr<std::optional<ResourceList>> ResizeAllocatableOf(const Annotations& annotations) {
  ASSIGN_OR_RETURN(
      std::optional<ResizeAllocatable> resize,
      ReadAnnotation<ResizeAllocatable>(annotations, kAnnotationReservationResizeAllocatable));
  return resize ? std::optional(std::move(resize->resources)) : std::nullopt;
}

std::string EncodeResizeAllocatable(const ResourceList& allocatable) {
  return EncodeAnnotation(ResizeAllocatable{allocatable});
}

bool IsInReservationMode(const kube::Labels& pod_labels) {
  return kube::ValueOf(pod_labels, kLabelOperatingMode) == "Reservation";
}

}  // namespace koord::api
