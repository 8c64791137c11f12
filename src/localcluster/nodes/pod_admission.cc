#include "localcluster/nodes/pod_admission.h"

#include <fmt/format.h>

#include "kube/objects/pod_resources.h"
#include "kube/time.h"

namespace koord::localcluster {
namespace {

using kube::Quantity;

int64_t Amount(std::string_view resource, const Quantity& quantity) {
  return resource == kube::kCpu ? quantity.MilliValue() : quantity.Value();
}

// Names with a domain other than Kubernetes' own.
bool IsVendors(std::string_view resource) {
  const size_t slash = resource.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view domain = resource.substr(0, slash);
  return domain != "kubernetes.io" && !domain.ends_with(".kubernetes.io");
}

Rejection Short(std::string_view resource, int64_t requested, int64_t used, int64_t capacity) {
  return {fmt::format("OutOf{}", resource),
          fmt::format("Node didn't have enough resource: {}, requested: {}, used: {}, capacity: {}",
                      resource, requested, used, capacity)};
}

}  // namespace

std::optional<Rejection> CheckAdmission(const kube::Node& node, const kube::ResourceList& used,
                                        size_t pods, const kube::Pod& pod) {
  if (!kube::MatchesNode(pod.spec, node.metadata.name, node.metadata.labels)) {
    return Rejection{"NodeAffinity", "Predicate NodeAffinity failed"};
  }
  const kube::ResourceList& capacity = node.status.allocatable;
  const auto count = static_cast<int64_t>(pods);
  const auto most = capacity.find(kube::kPodCount);
  // A node that somebody wrote by hand may not say how many pods it takes.
  if (most != capacity.end() && count + 1 > most->second.Value()) {
    return Short("pods", 1, count, most->second.Value());
  }
  for (const auto& [resource, quantity] : kube::PodRequests(pod)) {
    if (IsVendors(resource) && !capacity.contains(resource)) continue;
    const int64_t requested = Amount(resource, quantity);
    const int64_t taken = Amount(resource, kube::AmountOf(used, resource));
    const int64_t there = Amount(resource, kube::AmountOf(capacity, resource));
    if (requested > 0 && requested > there - taken) {
      return Short(resource, requested, taken, there);
    }
  }
  return std::nullopt;
}

kube::Json RejectedStatus(const Rejection& rejection, WallTime now) {
  return {{"phase", "Failed"},
          {"reason", rejection.reason},
          {"message", "Pod was rejected: " + rejection.message},
          {"startTime", kube::FormatTime(now)}};
}

}  // namespace koord::localcluster
