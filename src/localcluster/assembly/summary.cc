#include "localcluster/assembly/summary.h"

#include <algorithm>
#include <span>

#include "api/extended_resources.h"
#include "kube/objects/pod_resources.h"

namespace koord::localcluster {
namespace {

Amounts FromList(const kube::ResourceList& list) {
  return {kube::AmountOf(list, kube::kCpu).MilliValue(),
          kube::AmountOf(list, kube::kMemory).Value()};
}

Amounts BatchOf(const kube::ResourceList& list) {
  return {kube::AmountOf(list, api::kBatchCpu).Value(),
          kube::AmountOf(list, api::kBatchMemory).Value()};
}

// Of all kinds of CPU and memory that pods can ask for.
Amounts AllOf(const kube::ResourceList& list) {
  Amounts all = FromList(list);
  all += BatchOf(list);
  all +=
      {kube::AmountOf(list, api::kMidCpu).Value(), kube::AmountOf(list, api::kMidMemory).Value()};
  return all;
}

std::optional<Amounts> UsageOf(const api::ResourceMap& usage) {
  if (usage.resources.empty()) return {};
  return FromList(usage.resources);
}

kube::Json ToJson(const Amounts& amounts) {
  return {{"cpuMilli", amounts.cpu}, {"memoryBytes", amounts.memory}};
}

// What is unknown is null.
kube::Json ToJson(const std::optional<Amounts>& amounts) {
  return amounts ? ToJson(*amounts) : kube::Json();
}

std::optional<Amounts> KnownUsage(const ClassSummary& pods) {
  return pods.reported > 0 ? std::optional(pods.used) : std::nullopt;
}

kube::Json ClassesToJson(const Summary& summary) {
  kube::json::object classes;
  for (size_t i = 0; i < summary.classes.size(); ++i) {
    const ClassSummary& pods = summary.classes[i];
    const std::string_view name = api::ToString(static_cast<api::QosClass>(i));
    if (pods.pods == 0 || name.empty()) continue;
    classes[name] = {{"pods", pods.pods},
                     {"requested", ToJson(pods.requested)},
                     {"used", ToJson(KnownUsage(pods))},
                     {"limits", ToJson(pods.limits)}};
  }
  return classes;
}

}  // namespace

int Summary::ready_nodes() const {
  return static_cast<int>(std::count_if(nodes.begin(), nodes.end(),
                                        [](const NodeSummary& node) { return node.ready; }));
}

int Summary::silent_nodes() const {
  return static_cast<int>(std::count_if(nodes.begin(), nodes.end(),
                                        [](const NodeSummary& node) { return !node.used; }));
}

void SummaryBuilder::AddNode(const kube::Node& node) {
  NodeSummary row;
  row.name = node.metadata.name;
  row.ready = kube::IsReady(node);
  row.cordoned = node.spec.unschedulable;
  row.allocatable = FromList(node.status.allocatable);
  row.batch = BatchOf(node.status.allocatable);
  summary_.nodes.push_back(std::move(row));
}

void SummaryBuilder::AddPod(const kube::Pod& pod) {
  PodCounts& counts = summary_.pods;
  if (pod.status.phase == "Succeeded") {
    ++counts.succeeded;
  } else if (pod.status.phase == "Failed") {
    ++counts.failed;
  } else if (pod.metadata.deletion_timestamp) {
    ++counts.terminating;
  } else if (pod.status.phase == "Running") {
    ++counts.running;
  } else {
    ++counts.pending;
  }
  if (!kube::IsAssigned(pod) || kube::IsTerminal(pod)) return;
  const kube::ResourceList requests = kube::PodRequests(pod);
  requests_.push_back({pod.spec.node_name, FromList(requests), BatchOf(requests)});
  AddToClass(pod, requests);
}

void SummaryBuilder::AddToClass(const kube::Pod& pod, const kube::ResourceList& requests) {
  ClassSummary& pods = summary_.classes[static_cast<size_t>(api::QosClassOf(pod))];
  ++pods.pods;
  pods.requested += AllOf(requests);
  const Amounts limits = AllOf(kube::PodLimits(pod));
  pods.limits += limits;
  pods.cpu_open |= limits.cpu == 0;
  pods.memory_open |= limits.memory == 0;
}

void SummaryBuilder::AddReservation(const api::Reservation& reservation) {
  ReservationCounts& counts = summary_.reservations;
  const std::string& phase = reservation.status.phase;
  if (phase == api::kReservationAvailable) {
    ++counts.available;
  } else if (phase == api::kReservationSucceeded) {
    ++counts.succeeded;
  } else if (phase == api::kReservationFailed) {
    ++counts.failed;
  } else {
    ++counts.pending;
  }
}

void SummaryBuilder::AddNodeMetric(const api::NodeMetric& metric) {
  if (!metric.status.node_metric) return;
  const auto usage = UsageOf(metric.status.node_metric->node_usage);
  if (!usage) return;
  used_.emplace_back(metric.metadata.name, *usage);
  for (const api::PodUsage& pod : metric.status.pods_metric) AddPodUsage(pod);
}

void SummaryBuilder::AddNodeMetric(const kube::Json& metric) {
  const auto decoded = kube::Decode<api::NodeMetric>(metric);
  if (decoded.ok()) AddNodeMetric(*decoded);
}

void SummaryBuilder::AddPodUsage(const api::PodUsage& pod) {
  const auto usage = UsageOf(pod.pod_usage);
  const api::QosClass qos = api::ParseQosClass(pod.qos);
  if (!usage) return;
  ClassSummary& pods = summary_.classes[static_cast<size_t>(qos)];
  pods.used += *usage;
  ++pods.reported;
}

Summary SummaryBuilder::Build() && {
  auto& nodes = summary_.nodes;
  std::sort(nodes.begin(), nodes.end(),
            [](const NodeSummary& a, const NodeSummary& b) { return a.name < b.name; });
  const auto find = [&](const std::string& name) -> NodeSummary* {
    const auto it = std::lower_bound(
        nodes.begin(), nodes.end(), name,
        [](const NodeSummary& node, const std::string& key) { return node.name < key; });
    return it != nodes.end() && it->name == name ? &*it : nullptr;
  };
  for (const Request& request : requests_) {
    if (NodeSummary* node = find(request.node)) {
      node->requested += request.ordinary;
      node->batch_requested += request.batch;
      ++node->pods;
    }
  }
  for (const auto& [name, amounts] : used_) {
    if (NodeSummary* node = find(name)) node->used = amounts;
  }
  for (const NodeSummary& node : nodes) {
    summary_.allocatable += node.allocatable;
    summary_.requested += node.requested;
    summary_.used += node.used.value_or(Amounts{});
    summary_.batch += node.batch;
    summary_.batch_requested += node.batch_requested;
  }
  return std::move(summary_);
}

kube::Json ToJson(const Summary& summary) {
  kube::json::array nodes;
  for (const NodeSummary& node : summary.nodes) {
    nodes.push_back({{"name", node.name},
                     {"ready", node.ready},
                     {"unschedulable", node.cordoned},
                     {"pods", node.pods},
                     {"allocatable", ToJson(node.allocatable)},
                     {"requested", ToJson(node.requested)},
                     {"used", ToJson(node.used)},
                     {"batchAllocatable", ToJson(node.batch)},
                     {"batchRequested", ToJson(node.batch_requested)}});
  }
  const PodCounts& pods = summary.pods;
  return {{"nodes", std::move(nodes)},
          {"pods",
           {{"pending", pods.pending},
            {"running", pods.running},
            {"succeeded", pods.succeeded},
            {"failed", pods.failed},
            {"terminating", pods.terminating}}},
          {"reservations",
           {{"pending", summary.reservations.pending},
            {"available", summary.reservations.available},
            {"succeeded", summary.reservations.succeeded},
            {"failed", summary.reservations.failed}}},
          {"allocatable", ToJson(summary.allocatable)},
          {"requested", ToJson(summary.requested)},
          {"used", ToJson(summary.knows_usage() ? std::optional(summary.used) : std::nullopt)},
          {"nodesOfUnknownUsage", summary.silent_nodes()},
          {"batchAllocatable", ToJson(summary.batch)},
          {"batchRequested", ToJson(summary.batch_requested)},
          {"qosClasses", ClassesToJson(summary)}};
}

}  // namespace koord::localcluster
