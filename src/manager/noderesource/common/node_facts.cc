#include "manager/noderesource/common/node_facts.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "api/cpu_annotations.h"
#include "base/cpu_set.h"
#include "base/duration.h"
#include "kube/objects/pod_resources.h"

namespace koord::manager {
namespace {

using kube::Quantity;
using PodName = std::pair<std::string_view, std::string_view>;

// Finds a pod's usage and remembers which were asked for.
class UsageIndex {
 public:
  explicit UsageIndex(const std::vector<api::PodUsage>& usages) {
    entries_.reserve(usages.size());
    for (const api::PodUsage& usage : usages) entries_.push_back({{usage.ns, usage.name}, &usage});
    std::sort(entries_.begin(), entries_.end());
  }

  const api::PodUsage* Take(const PodName& name) {
    const auto it = std::lower_bound(entries_.begin(), entries_.end(), Entry{name, nullptr});
    if (it == entries_.end() || it->name != name) return nullptr;
    it->taken = true;
    return it->usage;
  }

  std::vector<const api::PodUsage*> Rest() const {
    std::vector<const api::PodUsage*> rest;
    for (const Entry& entry : entries_) {
      if (!entry.taken) rest.push_back(entry.usage);
    }
    return rest;
  }

 private:
  struct Entry {
    PodName name;
    const api::PodUsage* usage;
    bool taken = false;
    bool operator<(const Entry& other) const { return name < other.name; }
  };
  std::vector<Entry> entries_;
};

bool HoldsResources(const kube::Pod& pod) {
  return pod.status.phase == "Running" || pod.status.phase == "Pending";
}

// The annotation's amounts; a list of CPUs counts instead of an amount. Nothing if it is wrong.
CpuMemory AnnotationReserved(const kube::Node& node) {
  const auto reservation = api::NodeReservationOf(node.metadata.annotations);
  if (!reservation.ok() || !*reservation) return {};
  CpuMemory reserved = CpuMemoryOf((*reservation)->resources);
  if ((*reservation)->reserved_cpus.empty()) return reserved;
  const auto cpus = CpuSet::Parse((*reservation)->reserved_cpus);
  if (!cpus.ok()) return {};
  reserved.cpu = Quantity(static_cast<int64_t>(cpus->size()));
  return reserved;
}

}  // namespace

NodePods JoinPods(const std::vector<std::shared_ptr<const kube::Pod>>& pods,
                  const api::NodeMetric* metric) {
  static const std::vector<api::PodUsage> kNone;
  UsageIndex usages(metric != nullptr ? metric->status.pods_metric : kNone);
  NodePods joined;
  joined.pods.reserve(pods.size());
  for (const auto& pod : pods) {
    if (!HoldsResources(*pod)) continue;
    joined.pods.push_back({.pod = pod,
                           .band = api::PriorityBandOf(*pod),
                           .qos = api::QosClassOf(*pod),
                           .request = CpuMemoryOf(kube::PodRequests(*pod)),
                           .usage = usages.Take({pod->metadata.ns, pod->metadata.name})});
  }
  joined.dangling = usages.Rest();
  return joined;
}

bool IsHighPriority(const api::PodUsage& dangling) {
  const api::PriorityBand band = api::ParsePriorityBand(dangling.priority);
  return band != api::PriorityBand::kBatch && band != api::PriorityBand::kFree;
}

NodeReserved ReservedOn(const kube::Node& node) {
  NodeReserved reserved;
  reserved.kubelet =
      AtLeastZero(CpuMemoryOf(node.status.capacity) - CpuMemoryOf(node.status.allocatable));
  reserved.annotation = AnnotationReserved(node);
  reserved.total = Max(reserved.kubelet, reserved.annotation);
  return reserved;
}

CpuMemory HostApplicationsAbove(api::PriorityBand band, const api::NodeMetricStatus& metric) {
  CpuMemory used;
  for (const api::HostApplicationUsage& application : metric.host_application_metric) {
    const api::PriorityBand its = api::ParsePriorityBand(application.priority);
    if (api::DefaultPriority(its) > api::DefaultPriority(band)) {
      used += CpuMemoryOf(application.usage.resources);
    }
  }
  return used;
}

std::optional<std::string> WhyStale(const api::NodeMetric* metric, Duration degrade_time,
                                    WallTime now) {
  if (metric == nullptr) return "there is no NodeMetric";
  if (!metric->status.update_time) return "the node has not reported its usage yet";
  const Duration age = now - *metric->status.update_time;
  if (age > degrade_time) {
    return fmt::format("the NodeMetric is {} old, {} are allowed", FormatDuration(age),
                       FormatDuration(degrade_time));
  }
  if (!metric->status.node_metric) return "the NodeMetric does not say what the node uses";
  return std::nullopt;
}

}  // namespace koord::manager
