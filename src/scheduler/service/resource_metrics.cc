#include "scheduler/service/resource_metrics.h"

#include <fmt/format.h>

#include <limits>

#include "base/metrics/metrics.h"
#include "kube/objects/pod_resources.h"

namespace koord::scheduler {
namespace {

std::string_view UnitOf(std::string_view resource) {
  if (resource == kube::kCpu) return "cores";
  if (resource == kube::kMemory || resource == kube::kEphemeralStorage ||
      resource.starts_with("hugepages-")) {
    return "bytes";
  }
  return resource.starts_with("attachable-volumes-") ? "integer" : "";
}

class Writer {
 public:
  void Add(const kube::Pod& pod) {
    AddAll(requests_, pod, kube::PodRequests(pod));
    AddAll(limits_, pod, kube::PodLimits(pod));
  }
  std::string Text() const { return registry_.Text(); }

 private:
  static std::vector<std::string> Labels() {
    return {"namespace", "pod", "node", "scheduler", "priority", "resource", "unit"};
  }
  static constexpr size_t kNoLimit = std::numeric_limits<size_t>::max();

  static void AddAll(metrics::Gauges& family, const kube::Pod& pod,
                     const kube::ResourceList& amounts) {
    const std::string priority = pod.spec.priority ? fmt::format("{}", *pod.spec.priority) : "";
    for (const auto& [resource, amount] : amounts) {
      if (amount.IsZero()) continue;
      family
          .With({pod.metadata.ns, pod.metadata.name, pod.spec.node_name, pod.spec.scheduler_name,
                 priority, resource, UnitOf(resource)})
          .Set(amount.ToDouble());
    }
  }

  metrics::Registry registry_;
  metrics::Gauges& requests_ = registry_.AddGauges(
      "kube_pod_resource_request",
      "Resources requested by workloads on the cluster, broken down by pod. This shows the "
      "resource usage the scheduler and kubelet expect per pod for resources along with the unit "
      "for the resource if any.",
      Labels(), kNoLimit);
  metrics::Gauges& limits_ = registry_.AddGauges(
      "kube_pod_resource_limit",
      "Resources limit for workloads on the cluster, broken down by pod. This shows the resource "
      "usage the scheduler and kubelet expect per pod for resources along with the unit for the "
      "resource if any.",
      Labels(), kNoLimit);
};

}  // namespace

std::string ResourceMetrics(const Scheduler& scheduler) {
  Writer writer;
  scheduler.ForEachPending([&](const kube::Pod& pod) { writer.Add(pod); });
  const NodeTable& nodes = scheduler.ledger().nodes();
  for (NodeRow row{0}; row < nodes.rows(); ++row) {
    for (const PodInfo* info : nodes.pods(row)) {
      if (!info->assumed) writer.Add(*info->pod);
    }
  }
  return writer.Text();
}

}  // namespace koord::scheduler
