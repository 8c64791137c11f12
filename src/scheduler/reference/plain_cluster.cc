#include "scheduler/reference/plain_cluster.h"

#include <algorithm>

#include "api/keys.h"
#include "api/reservation_annotations.h"
#include "kube/objects/pod_resources.h"

namespace koord::scheduler::reference {

int64_t AmountOf(const Amounts& amounts, std::string_view name) {
  const auto found = amounts.find(name);
  return found == amounts.end() ? 0 : found->second;
}

bool IsScalar(std::string_view resource) {
  return resource.starts_with("hugepages-") || resource.starts_with("attachable-volumes-") ||
         resource.find('/') != std::string_view::npos;
}

Amounts CountedAmounts(const kube::ResourceList& list) {
  Amounts amounts;
  for (const auto& [name, amount] : list) {
    if (name == "cpu") {
      amounts[name] = amount.MilliValue();
    } else if (name == "memory" || name == "ephemeral-storage" || IsScalar(name)) {
      amounts[name] = amount.Value();
    }
  }
  return amounts;
}

namespace {

bool IsReservation(const kube::Pod& pod) {
  return pod.metadata.name == pod.metadata.uid &&
         pod.metadata.annotations.contains(std::string(api::kAnnotationReservePod));
}

std::string ReservationOf(const kube::Pod& pod) {
  const auto allocated = api::ReservationAllocatedOf(pod.metadata.annotations);
  return allocated.ok() && *allocated ? (*allocated)->uid : "";
}

}  // namespace

PlainPod PlainPodOf(std::shared_ptr<const kube::Pod> pod, bool assigned, WallTime seen_at) {
  const auto from = assigned ? kube::RequestsFrom::kSpecAndStatus : kube::RequestsFrom::kSpec;
  const kube::ResourceList non_zero = kube::NonZeroPodRequests(*pod, from);
  PlainPod plain{.requests = CountedAmounts(kube::PodRequests(*pod, from)),
                 .spec_requests = CountedAmounts(kube::PodRequests(*pod)),
                 .limits = CountedAmounts(kube::PodLimits(*pod)),
                 .band = api::PriorityBandOf(*pod),
                 .non_zero_cpu = kube::AmountOf(non_zero, "cpu").MilliValue(),
                 .non_zero_memory = kube::AmountOf(non_zero, "memory").Value(),
                 .is_reservation = IsReservation(*pod),
                 .draws_from = assigned ? ReservationOf(*pod) : "",
                 .seen_at = seen_at};
  plain.pod = std::move(pod);
  return plain;
}

PlainNode PlainNodeOf(std::shared_ptr<const kube::Node> node) {
  PlainNode plain{.allocatable = CountedAmounts(node->status.allocatable),
                  .allocatable_pods = kube::AmountOf(node->status.allocatable, "pods").Value()};
  plain.node = std::move(node);
  return plain;
}

View::View(const PlainCluster& cluster) : cluster(cluster) {
  for (const auto& [name, node] : cluster.nodes) pods_on[name];
  for (const auto& [uid, pod] : cluster.pods) {
    const auto found = pods_on.find(pod.spec().node_name);
    if (found != pods_on.end()) found->second.push_back(&pod);
  }
}

bool Matches(const kube::LabelSelector& selector, const kube::Labels& labels) {
  for (const auto& [key, value] : selector.match_labels) {
    const auto found = labels.find(key);
    if (found == labels.end() || found->second != value) return false;
  }
  for (const kube::LabelSelectorRequirement& each : selector.match_expressions) {
    const auto found = labels.find(each.key);
    const bool has = found != labels.end();
    const bool listed = has && std::ranges::count(each.values, found->second) > 0;
    if (each.op == "In" && !listed) return false;
    if (each.op == "NotIn" && listed) return false;
    if (each.op == "Exists" && !has) return false;
    if (each.op == "DoesNotExist" && has) return false;
  }
  return true;
}

}  // namespace koord::scheduler::reference
