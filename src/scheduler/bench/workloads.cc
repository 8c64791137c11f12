#include "scheduler/bench/workloads.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/virtual_loop.h"

namespace koord::scheduler {
namespace {

constexpr std::string_view kZone = "topology.kubernetes.io/zone";
constexpr std::string_view kHostname = "kubernetes.io/hostname";
constexpr size_t kZones = 3;

kube::Quantity Cpu(int64_t milli) { return kube::Quantity::FromMilli(milli); }
kube::Quantity Memory(int64_t mebibytes) {
  return kube::Quantity(mebibytes << 20, kube::Quantity::Format::kBinarySi);
}

kube::Node NodeWith(size_t i, int64_t milli_cpu, int64_t memory_mib) {
  kube::Node node;
  node.metadata.name = fmt::format("node-{}", i);
  node.metadata.labels = {{std::string(kHostname), node.metadata.name},
                          {std::string(kZone), fmt::format("zone-{}", i % kZones)}};
  node.status.allocatable = {{"cpu", Cpu(milli_cpu)},
                             {"memory", Memory(memory_mib)},
                             {"ephemeral-storage", Memory(100 << 10)},
                             {"pods", kube::Quantity(110)}};
  node.status.capacity = node.status.allocatable;
  return node;
}
kube::Node PlainNode(size_t i) { return NodeWith(i, 4000, 32 << 10); }

kube::Pod PodWith(std::string_view prefix, size_t i, int64_t milli_cpu, int64_t memory_mib) {
  kube::Pod pod;
  pod.metadata.ns = "sched-1";
  pod.metadata.name = fmt::format("{}-{}", prefix, i);
  pod.metadata.uid = fmt::format("{}-{}-uid", prefix, i);
  pod.spec.scheduler_name = "koord-scheduler";
  pod.spec.priority = 0;
  kube::Container container{.name = "pause", .image = "registry.k8s.io/pause:3.10"};
  container.resources.requests = {{"cpu", Cpu(milli_cpu)}, {"memory", Memory(memory_mib)}};
  container.resources.limits = container.resources.requests;
  pod.spec.containers.push_back(std::move(container));
  return pod;
}
kube::Pod PlainInit(size_t i) { return PodWith("init", i, 100, 500); }
kube::Pod PlainPod(size_t i) { return PodWith("pod", i, 100, 500); }

kube::Pod Labelled(kube::Pod pod, std::string key, std::string value) {
  pod.metadata.labels.emplace(std::move(key), std::move(value));
  return pod;
}

kube::PodAffinityTerm TermOn(std::string_view topology, std::string_view color) {
  kube::PodAffinityTerm term;
  term.label_selector.emplace();
  term.label_selector->match_labels.emplace("color", color);
  term.topology_key = topology;
  term.namespaces = {"sched-0", "sched-1"};
  return term;
}

kube::Pod WithAffinity(kube::Pod pod) {
  pod = Labelled(std::move(pod), "color", "blue");
  pod.spec.affinity.emplace().pod_affinity.emplace().required.push_back(TermOn(kZone, "blue"));
  return pod;
}

kube::Pod WithAntiAffinity(kube::Pod pod) {
  pod = Labelled(std::move(pod), "color", "green");
  pod.spec.affinity.emplace().pod_anti_affinity.emplace().required.push_back(
      TermOn(kHostname, "green"));
  return pod;
}

kube::Pod WithPreferred(kube::Pod pod, bool anti) {
  pod = Labelled(std::move(pod), "color", anti ? "yellow" : "red");
  kube::WeightedPodAffinityTerm term{1, TermOn(kHostname, anti ? "yellow" : "red")};
  auto& affinity = pod.spec.affinity.emplace();
  (anti ? affinity.pod_anti_affinity : affinity.pod_affinity).emplace().preferred.push_back(term);
  return pod;
}

kube::Pod WithSpread(kube::Pod pod, std::string_view when) {
  pod = Labelled(std::move(pod), "color", "blue");
  kube::TopologySpreadConstraint constraint{
      .max_skew = 5, .topology_key = std::string(kZone), .when_unsatisfiable = std::string(when)};
  constraint.label_selector.emplace().match_labels.emplace("color", "blue");
  pod.spec.topology_spread_constraints.push_back(std::move(constraint));
  return pod;
}

kube::Pod WithNodeAffinity(kube::Pod pod) {
  kube::NodeSelectorTerm term;
  term.match_expressions.push_back({std::string(kZone), "In", {"zone-0", "zone-1"}});
  pod.spec.affinity.emplace().node_affinity.emplace().required.emplace().node_selector_terms = {
      std::move(term)};
  return pod;
}

// Every pod has requests, labels and, every third one, a node selector of its own.
kube::Pod DiversePod(size_t i) {
  kube::Pod pod = PodWith("pod", i, 50 + static_cast<int64_t>(i * 7 % 200),
                          100 + static_cast<int64_t>(i * 13 % 900));
  pod.metadata.labels = {{"app", fmt::format("app-{}", i)}};
  if (i % 3 == 0)
    pod.spec.node_selector = {{std::string(kZone), fmt::format("zone-{}", i % kZones)}};
  return pod;
}

kube::Pod MixedInit(size_t i) {
  kube::Pod pod = PlainInit(i);
  switch (i % 5) {
    case 0:
      return WithAffinity(std::move(pod));
    case 1:
      return i / 5 < 2000 ? WithAntiAffinity(std::move(pod)) : pod;
    case 2:
      return WithPreferred(std::move(pod), false);
    case 3:
      return WithPreferred(std::move(pod), true);
    default:
      return pod;
  }
}

void ReportUsage(ClusterObjects& objects, const std::vector<kube::Node>& nodes) {
  for (size_t i = 0; i < nodes.size(); ++i) {
    api::NodeMetric metric;
    metric.metadata.name = nodes[i].metadata.name;
    metric.status.update_time = VirtualLoop::kStart;
    auto& usage = metric.status.node_metric.emplace().node_usage.resources;
    usage.emplace("cpu", Cpu(static_cast<int64_t>(100 + i * 37 % 1500)));
    usage.emplace("memory", Memory(static_cast<int64_t>(500 + i * 91 % 9000)));
    objects.node_metrics.Set(std::make_shared<const api::NodeMetric>(std::move(metric)));
  }
}

kube::Pod LowPriority(size_t i) {
  kube::Pod pod = PodWith("low", i, 900, 500);
  pod.spec.priority = 0;
  pod.status.start_time = VirtualLoop::kStart;
  return pod;
}

kube::Pod Preemptor(size_t i) {
  kube::Pod pod = PodWith("pod", i, 3000, 500);
  pod.spec.priority = 10;
  return pod;
}

}  // namespace

const std::vector<Workload>& Workloads() {
  static const std::vector<Workload> kWorkloads{
      {"basic", "pods that ask for cpu and memory only", 1000, 10000, PlainNode, PlainInit,
       PlainPod},
      {"node-affinity", "required node affinity on zones", 5000, 10000, PlainNode, PlainInit,
       [](size_t i) { return WithNodeAffinity(PlainPod(i)); }},
      {"pod-affinity", "required affinity to their like, in a zone", 5000, 5000, PlainNode,
       [](size_t i) { return WithAffinity(PlainInit(i)); },
       [](size_t i) { return WithAffinity(PlainPod(i)); }},
      {"pod-anti-affinity", "required anti-affinity to their like, on a node", 1000, 2000,
       PlainNode, [](size_t i) { return WithAntiAffinity(PlainInit(i)); },
       [](size_t i) { return WithAntiAffinity(PlainPod(i)); }},
      {"preferred-pod-affinity", "preferred affinity to their like, on a node", 5000, 5000,
       PlainNode, [](size_t i) { return WithPreferred(PlainInit(i), false); },
       [](size_t i) { return WithPreferred(PlainPod(i), false); }},
      {"topology-spreading", "DoNotSchedule over three zones, maxSkew 5", 5000, 5000, PlainNode,
       PlainInit, [](size_t i) { return WithSpread(PlainPod(i), "DoNotSchedule"); }},
      {"preferred-topology-spreading", "ScheduleAnyway over three zones, maxSkew 5", 5000, 5000,
       PlainNode, PlainInit, [](size_t i) { return WithSpread(PlainPod(i), "ScheduleAnyway"); }},
      {"preemption", "every pod must evict three of four others", 20000, 2000, PlainNode,
       LowPriority, Preemptor},
      {"mixed", "plain pods among pods with affinities of all kinds", 10000, 5000, PlainNode,
       MixedInit, PlainPod},
      {"diverse", "no pod is like another", 1000, 10000, PlainNode, PlainInit, DiversePod},
      {"loadaware", "nodes that report their usage", 1000, 10000, PlainNode, PlainInit, PlainPod,
       ReportUsage},
  };
  return kWorkloads;
}

const Workload* FindWorkload(std::string_view name) {
  const auto& all = Workloads();
  const auto found = std::ranges::find(all, name, &Workload::name);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace koord::scheduler
