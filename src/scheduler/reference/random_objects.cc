#include "scheduler/reference/random_objects.h"

#include <fmt/format.h>

#include "scheduler/reference/choose.h"

namespace koord::scheduler::reference {
namespace {

constexpr int64_t kMi = 1024 * 1024;
constexpr const char* kRegion = "topology.kubernetes.io/region";
constexpr const char* kBatchCpu = "kubernetes.io/batch-cpu";
constexpr const char* kBatchMemory = "kubernetes.io/batch-memory";

kube::Quantity Milli(int64_t amount) { return kube::Quantity::FromMilli(amount); }
kube::Quantity Mi(int64_t amount) {
  return kube::Quantity(amount * kMi, kube::Quantity::Format::kBinarySi);
}

// ---- Nodes

kube::Taint RandomTaint(Random& random) {
  return {.key = TextOf(random, {"dedicated", "gpu", "node.kubernetes.io/unschedulable"}),
          .value = TextOf(random, {"", "x", "y"}),
          .effect =
              TextOf(random, {"NoSchedule", "NoExecute", "PreferNoSchedule", "PreferNoSchedule"})};
}

void LabelNode(kube::Node& node, Random& random) {
  kube::Labels& labels = node.metadata.labels.Mutable();
  if (random.Chance(0.93)) labels[kHostname] = node.metadata.name;
  if (random.Chance(0.02)) labels[kHostname] = "node-0";
  if (random.Chance(0.85)) labels[kZone] = TextOf(random, {"a", "b", "c"});
  if (random.Chance(0.7)) labels[kRegion] = TextOf(random, {"east", "west"});
  if (random.Chance(0.5)) labels["disk"] = TextOf(random, {"ssd", "hdd", ""});
  if (random.Chance(0.5)) labels["cores"] = TextOf(random, {"2", "4", "8", "-1", "many"});
  if (random.Chance(0.3)) labels["rack"] = TextOf(random, {"r1", "r2"});
}

void ImagesOf(kube::Node& node, Random& random) {
  for (int i = 0; i < 4; ++i) {
    if (!random.Chance(0.4)) continue;
    // One image has the same size everywhere.
    node.status.images.push_back(
        {{fmt::format("registry/app-{}@sha256:0", i), fmt::format("registry/app-{}:latest", i)},
         i == 3 ? 40 * kMi : (i + 1) * 260 * kMi + 7});
  }
}

void AnnotateNode(kube::Node& node, Random& random) {
  kube::Annotations& annotations = node.metadata.annotations;
  if (random.Chance(0.1)) {
    annotations["node.koordinator.sh/reservation"] = TextOf(
        random, {R"({"resources":{"cpu":"500m","memory":"100Mi"}})", R"({"reservedCPUs":"0-1"})",
                 R"({"resources":{"cpu":"1"},"applyPolicy":"ReservedCPUsOnly"})", "{bad"});
  }
  if (random.Chance(0.1)) {
    annotations["node.koordinator.sh/raw-allocatable"] =
        TextOf(random, {R"({"cpu":"2"})", R"({"cpu":"1500m","memory":"1Gi"})", "[]"});
  }
  if (random.Chance(0.15)) {
    annotations["scheduling.koordinator.sh/usage-thresholds"] = TextOf(
        random, {R"({"usageThresholds":{"cpu":40}})", R"({"prodUsageThresholds":{"cpu":30}})",
                 R"({"usageThresholds":{"cpu":0,"memory":0}})",
                 R"({"aggregatedUsage":{"usageThresholds":{"memory":50},)"
                 R"("usageAggregationType":"p95","usageAggregatedDuration":"5m0s"}})",
                 R"({"aggregatedUsage":{"usageThresholds":{"cpu":60},)"
                 R"("usageAggregationType":"p99"}})",
                 "{"});
  }
}

// ---- Parts of pods

kube::Toleration RandomToleration(Random& random) {
  kube::Toleration toleration;
  if (random.Chance(0.8)) {
    toleration.key = TextOf(random, {"dedicated", "gpu", "node.kubernetes.io/unschedulable"});
  }
  toleration.op = TextOf(random, {"", "Equal", "Exists"});
  if (toleration.key.empty()) toleration.op = "Exists";
  if (toleration.op != "Exists") toleration.value = TextOf(random, {"", "x", "y"});
  if (random.Chance(0.5)) {
    toleration.effect = TextOf(random, {"NoSchedule", "NoExecute", "PreferNoSchedule"});
  }
  return toleration;
}

kube::NodeSelectorRequirement RandomNodeRequirement(Random& random) {
  const std::string op =
      TextOf(random, {"In", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"});
  if (op == "Gt" || op == "Lt") return {"cores", op, {TextOf(random, {"3", "4", "-2", "x"})}};
  const std::string key = TextOf(random, {kZone, "disk", "rack", kHostname});
  if (op == "Exists" || op == "DoesNotExist") return {key, op, {}};
  if (key == kHostname) return {key, op, {RandomNodeName(random), RandomNodeName(random)}};
  if (key == "disk") return {key, op, {TextOf(random, {"ssd", "hdd", ""})}};
  if (key == "rack") return {key, op, {TextOf(random, {"r1", "r2"})}};
  return {key, op, {TextOf(random, {"a", "b"}), TextOf(random, {"b", "c"})}};
}

kube::NodeSelectorTerm RandomNodeTerm(Random& random) {
  kube::NodeSelectorTerm term;
  while (random.Chance(0.55)) term.match_expressions.push_back(RandomNodeRequirement(random));
  if (random.Chance(0.15)) {
    kube::NodeSelectorRequirement& names = term.match_fields.emplace_back();
    names = {"metadata.name", TextOf(random, {"In", "In", "NotIn"}), {RandomNodeName(random)}};
    while (random.Chance(0.7)) names.values.push_back(RandomNodeName(random));
  }
  return term;
}

// Every term names nodes, at times such that none is left.
kube::NodeSelector RandomNamedNodes(Random& random) {
  kube::NodeSelector selector;
  do {
    kube::NodeSelectorTerm& term = selector.node_selector_terms.emplace_back();
    do {
      kube::NodeSelectorRequirement& names = term.match_fields.emplace_back();
      names = {"metadata.name", "In", {RandomNodeName(random)}};
      while (random.Chance(0.7)) names.values.push_back(RandomNodeName(random));
    } while (random.Chance(0.3));
  } while (random.Chance(0.3));
  return selector;
}

kube::NodeAffinity RandomNodeAffinity(Random& random) {
  kube::NodeAffinity affinity;
  if (random.Chance(0.2)) {
    affinity.required = RandomNamedNodes(random);
  } else if (random.Chance(0.5)) {
    kube::NodeSelector& required = affinity.required.emplace();
    while (random.Chance(0.7)) required.node_selector_terms.push_back(RandomNodeTerm(random));
  }
  while (random.Chance(0.5)) {
    affinity.preferred.push_back({static_cast<int32_t>(OneOf<int64_t>(random, {1, 1, 10, 33, 100})),
                                  RandomNodeTerm(random)});
  }
  return affinity;
}

std::string RandomTopologyKey(Random& random) {
  return TextOf(random, {kZone, kZone, kHostname, kHostname, kRegion, "rack"});
}

kube::PodAffinityTerm RandomPodTerm(Random& random) {
  kube::PodAffinityTerm term;
  if (random.Chance(0.95)) term.label_selector = RandomSelector(random);
  term.topology_key = RandomTopologyKey(random);
  if (random.Chance(0.2)) term.namespaces = {TextOf(random, {"one", "two"})};
  if (random.Chance(0.2)) {
    kube::LabelSelector& selector = term.namespace_selector.emplace();
    if (random.Chance(0.7)) selector.match_labels["team"] = TextOf(random, {"red", "blue"});
  }
  return term;
}

kube::PodAffinity RandomPodAffinity(Random& random) {
  kube::PodAffinity affinity;
  while (random.Chance(0.3)) affinity.required.push_back(RandomPodTerm(random));
  while (random.Chance(0.4)) {
    affinity.preferred.push_back(
        {static_cast<int32_t>(OneOf<int64_t>(random, {1, 5, 50, 100})), RandomPodTerm(random)});
  }
  return affinity;
}

kube::TopologySpreadConstraint RandomConstraint(Random& random) {
  kube::TopologySpreadConstraint constraint;
  constraint.max_skew = static_cast<int32_t>(Between(random, 1, 3));
  constraint.topology_key = RandomTopologyKey(random);
  constraint.when_unsatisfiable = TextOf(random, {"DoNotSchedule", "ScheduleAnyway"});
  if (random.Chance(0.95)) {
    constraint.label_selector = RandomSelector(random);
    if (random.Chance(0.2)) constraint.match_label_keys = {"tier", "absent"};
  }
  if (constraint.when_unsatisfiable == "DoNotSchedule" && random.Chance(0.3)) {
    constraint.min_domains = static_cast<int32_t>(Between(random, 1, 4));
  }
  if (random.Chance(0.3)) constraint.node_affinity_policy = TextOf(random, {"Honor", "Ignore"});
  if (random.Chance(0.3)) constraint.node_taints_policy = TextOf(random, {"Honor", "Ignore"});
  return constraint;
}

void AskFor(kube::ResourceRequirements& resources, Random& random, const Flavor& flavor,
            bool batch) {
  if (flavor.roomy && random.Chance(0.3)) return;
  kube::ResourceList& requests = resources.requests;
  if (random.Chance(0.75)) {
    requests[batch ? kBatchCpu : "cpu"] =
        batch ? kube::Quantity(OneOf<int64_t>(random, {0, 100, 500, 1000}))
              : Milli(OneOf<int64_t>(random, {0, 1, 100, 100, 250, 250, 500, 500, 1000, 4100}));
  }
  if (random.Chance(0.75)) {
    requests[batch ? kBatchMemory : "memory"] =
        Mi(OneOf<int64_t>(random, {0, 1, 64, 128, 128, 200, 256, 512, 1024, 5000}));
  }
  if (random.Chance(0.1)) requests["ephemeral-storage"] = Mi(OneOf<int64_t>(random, {0, 500, 900}));
  if (random.Chance(0.07)) requests["nvidia.com/gpu"] = kube::Quantity(Between(random, 0, 2));
  if (random.Chance(0.03)) requests["example.com/fpga"] = kube::Quantity(1);
  if (random.Chance(0.03)) requests["hugepages-2Mi"] = Mi(OneOf<int64_t>(random, {2, 64}));
  if (random.Chance(0.3)) resources.limits = requests;
  if (random.Chance(0.1)) resources.limits["cpu"] = Milli(OneOf<int64_t>(random, {50, 2000}));
}

kube::Container RandomContainer(Random& random, const Flavor& flavor, int number, bool batch) {
  kube::Container container{.name = fmt::format("c{}", number)};
  container.image = TextOf(random, {"registry/app-0", "registry/app-1:latest", "registry/app-2",
                                    "registry/app-3@sha256:0", "registry/app-0:v9", "other"});
  AskFor(container.resources, random, flavor, batch);
  if (random.Chance(flavor.ports)) {
    kube::ContainerPort& port = container.ports.emplace_back();
    port.host_port = static_cast<int32_t>(Between(random, 0, 2)) * 1000;
    port.protocol = TextOf(random, {"", "TCP", "UDP"});
    port.host_ip = TextOf(random, {"", "0.0.0.0", "127.0.0.1", "10.0.0.1"});
  }
  return container;
}

void AddContainers(kube::Pod& pod, Random& random, const Flavor& flavor, bool batch) {
  kube::PodSpec& spec = pod.spec;
  spec.containers.Mutable().push_back(RandomContainer(random, flavor, 0, batch));
  if (random.Chance(0.2))
    spec.containers.Mutable().push_back(RandomContainer(random, flavor, 1, batch));
  while (random.Chance(0.15)) {
    spec.init_containers.Mutable().push_back(
        RandomContainer(random, flavor, 10 + static_cast<int>(spec.init_containers.size()), batch));
    if (random.Chance(0.5)) spec.init_containers.Mutable().back().restart_policy = "Always";
  }
  if (random.Chance(0.05)) spec.overhead = {{"cpu", Milli(50)}, {"memory", Mi(10)}};
  if (random.Chance(0.05)) {
    spec.resources.emplace().requests = {{"cpu", Milli(OneOf<int64_t>(random, {300, 1000}))}};
  }
}

void SetOwner(kube::Pod& pod, Random& random) {
  const auto [kind, version] =
      OneOf<std::pair<const char*, const char*>>(random, {{"ReplicaSet", "apps/v1"},
                                                          {"ReplicaSet", "apps/v1"},
                                                          {"StatefulSet", "apps/v1"},
                                                          {"ReplicationController", "v1"},
                                                          {"DaemonSet", "apps/v1"}});
  kube::OwnerReference owner{
      .api_version = version, .kind = kind, .name = TextOf(random, {"web", "db"}), .uid = "u"};
  if (random.Chance(0.9)) owner.controller = true;
  pod.metadata.owner_references.Mutable().push_back(std::move(owner));
}

void AnnotatePod(kube::Pod& pod, Random& random) {
  kube::Annotations& annotations = pod.metadata.annotations;
  if (random.Chance(0.06)) {
    annotations["scheduling.koordinator.sh/load-estimated-scaling-factors"] =
        TextOf(random, {R"({"cpu":50})", R"({"cpu":100,"memory":10})", "no"});
  }
  if (random.Chance(0.06)) {
    annotations["scheduling.koordinator.sh/load-estimated-seconds-after-pod-scheduled"] =
        TextOf(random, {"0", "60", "600", "-5", "soon"});
  }
  if (random.Chance(0.06)) {
    annotations["scheduling.koordinator.sh/load-estimated-seconds-after-initialized"] =
        TextOf(random, {"0", "90", "x"});
  }
  if (random.Chance(0.04)) {
    std::string hint = fmt::format(R"({{"nodeNames":["{}","{}","{}"]}})", RandomNodeName(random),
                                   RandomNodeName(random), RandomNodeName(random));
    if (random.Chance(0.5)) {
      hint = fmt::format(R"({{"preferredNodeNames":["{}","{}"]}})", RandomNodeName(random),
                         RandomNodeName(random));
    }
    if (random.Chance(0.05)) hint = "{";
    annotations[TextOf(random, {"internal.scheduling.koordinator.sh/scheduling-hint",
                                "scheduling.koordinator.sh/scheduling-hint"})] = hint;
  }
}

void AddAffinities(kube::Pod& pod, Random& random, const Flavor& flavor) {
  kube::Affinity affinity;
  if (random.Chance(flavor.node_affinity)) affinity.node_affinity = RandomNodeAffinity(random);
  if (random.Chance(flavor.pod_affinity)) affinity.pod_affinity = RandomPodAffinity(random);
  if (random.Chance(flavor.pod_affinity)) affinity.pod_anti_affinity = RandomPodAffinity(random);
  if (affinity.node_affinity || affinity.pod_affinity || affinity.pod_anti_affinity) {
    pod.spec.affinity = std::move(affinity);
  }
}

kube::ObjectMeta Named(Random& random, std::initializer_list<const char*> names) {
  kube::ObjectMeta meta;
  meta.ns = TextOf(random, {"one", "two"});
  meta.name = TextOf(random, names);
  return meta;
}

kube::ResourceList RandomUsage(Random& random, int64_t most_milli, int64_t most_mi) {
  kube::ResourceList usage;
  if (random.Chance(0.95)) usage["cpu"] = Milli(Between(random, 0, most_milli));
  if (random.Chance(0.95)) usage["memory"] = Mi(Between(random, 0, most_mi));
  return usage;
}

}  // namespace

Flavor RandomFlavor(Random& random) {
  return {.node_affinity = OneOf(random, {0.0, 0.2, 0.2, 0.6}),
          .pod_affinity = OneOf(random, {0.0, 0.25, 0.25, 0.7}),
          .spread = OneOf(random, {0.0, 0.2, 0.2, 0.6}),
          .ports = OneOf(random, {0.02, 0.1, 0.5}),
          .volumes = OneOf(random, {0.0, 0.05, 0.2, 0.9}),
          .taints = OneOf(random, {0.05, 0.2, 0.4}),
          .roomy = random.Chance(0.5)};
}

std::string RandomNodeName(Random& random) {
  return fmt::format("node-{}", random.Below(kNodeNames));
}

kube::Node RandomNode(Random& random, const Flavor& flavor, std::string name) {
  kube::Node node;
  node.metadata.name = std::move(name);
  LabelNode(node, random);
  AnnotateNode(node, random);
  node.spec.unschedulable = random.Chance(flavor.taints / 3);
  while (random.Chance(flavor.taints)) node.spec.taints.Mutable().push_back(RandomTaint(random));
  kube::ResourceList& room = node.status.allocatable.Mutable();
  room["cpu"] = Milli(OneOf<int64_t>(random, {1000, 2000, 4000, 4000, 3300, 16000}));
  room["memory"] = Mi(OneOf<int64_t>(random, {1024, 4096, 4096, 3001, 8192}));
  room["pods"] = kube::Quantity(OneOf<int64_t>(random, {1, 5, 110, 110, 110, 110, 110, 110}));
  if (random.Chance(0.5)) room["ephemeral-storage"] = Mi(1000);
  if (random.Chance(0.3)) room["nvidia.com/gpu"] = kube::Quantity(Between(random, 0, 4));
  if (random.Chance(0.2)) room["example.com/fpga"] = kube::Quantity(2);
  if (random.Chance(0.2)) room["hugepages-2Mi"] = Mi(64);
  if (random.Chance(0.5)) {
    const bool old_names = random.Chance(0.1);
    room[old_names ? "koordinator.sh/batch-cpu" : kBatchCpu] = kube::Quantity(2000);
    room[old_names ? "koordinator.sh/batch-memory" : kBatchMemory] = Mi(2048);
  }
  if (random.Chance(0.03)) room.erase("cpu");
  if (flavor.roomy) {
    for (auto& [name, amount] : room) amount *= 4;
  }
  ImagesOf(node, random);
  return node;
}

kube::Labels RandomPodLabels(Random& random) {
  kube::Labels labels;
  if (random.Chance(0.9)) labels["app"] = TextOf(random, {"a", "b", "c"});
  if (random.Chance(0.5)) labels["tier"] = TextOf(random, {"x", "y"});
  return labels;
}

kube::LabelSelector RandomSelector(Random& random) {
  kube::LabelSelector selector;
  if (random.Chance(0.7)) selector.match_labels["app"] = TextOf(random, {"a", "b", "c"});
  if (random.Chance(0.2)) {
    const std::string op = TextOf(random, {"In", "NotIn", "Exists", "DoesNotExist"});
    kube::LabelSelectorRequirement& each = selector.match_expressions.emplace_back();
    each = {"tier", op, {}};
    if (op == "In" || op == "NotIn") each.values = {TextOf(random, {"x", "y"}), "z"};
  }
  return selector;
}

kube::Pod RandomPod(Random& random, const Flavor& flavor, WallTime now) {
  kube::Pod pod;
  pod.metadata.ns = TextOf(random, {"one", "one", "two"});
  pod.metadata.labels = RandomPodLabels(random);
  pod.metadata.creation_timestamp = now;
  pod.spec.scheduler_name = "koord-scheduler";
  if (random.Chance(0.8)) {
    pod.spec.priority = static_cast<int32_t>(
        OneOf<int64_t>(random, {0, 0, 10, 10, 100, 3500, 5500, 7500, 9000, 9500, -7}));
  }
  if (random.Chance(0.1)) {
    pod.metadata.labels.Mutable()["koordinator.sh/qosClass"] =
        TextOf(random, {"LS", "LSR", "BE", "SYSTEM", "odd"});
  }
  if (random.Chance(0.06)) {
    pod.metadata.labels.Mutable()["koordinator.sh/priority-class"] =
        TextOf(random, {"koord-prod", "koord-batch", "koord-mid", "koord-free", "odd"});
  }
  if (random.Chance(0.08)) pod.spec.preemption_policy = "Never";
  AddContainers(pod, random, flavor, pod.spec.priority == 5500 && random.Chance(0.8));
  while (random.Chance(0.35)) pod.spec.tolerations.Mutable().push_back(RandomToleration(random));
  if (random.Chance(0.06))
    pod.spec.node_selector.Mutable()["disk"] = TextOf(random, {"ssd", "hdd"});
  if (random.Chance(0.05)) pod.spec.node_selector.Mutable()[kZone] = "a";
  AddAffinities(pod, random, flavor);
  while (random.Chance(flavor.spread)) {
    pod.spec.topology_spread_constraints.Mutable().push_back(RandomConstraint(random));
  }
  if (random.Chance(0.4)) SetOwner(pod, random);
  if (random.Chance(flavor.volumes)) AddVolumes(pod, random);
  AnnotatePod(pod, random);
  return pod;
}

void Settle(kube::Pod& pod, Random& random, WallTime now) {
  const auto ago = [&](int64_t most) {
    return now - std::chrono::seconds(Between(random, 0, most));
  };
  if (random.Chance(0.8)) {
    pod.status.start_time = ago(30);
    pod.status.conditions.push_back({});
    kube::PodCondition& scheduled = pod.status.conditions.back();
    scheduled.type = "PodScheduled";
    scheduled.status = random.Chance(0.95) ? "True" : "False";
    scheduled.last_transition_time = ago(200);
  }
  if (random.Chance(0.3)) {
    kube::PodCondition& initialized = pod.status.conditions.emplace_back();
    initialized.type = "Initialized";
    initialized.status = random.Chance(0.9) ? "True" : "False";
    initialized.last_transition_time = ago(200);
  }
  if (random.Chance(0.1)) {
    kube::ContainerStatus& status = pod.status.container_statuses.Mutable().emplace_back();
    status.name = "c0";
    status.resources.emplace().requests = {
        {"cpu", Milli(OneOf<int64_t>(random, {100, 700, 1500}))}};
    if (random.Chance(0.5)) status.allocated_resources = {{"memory", Mi(600)}};
    if (random.Chance(0.3)) {
      kube::PodCondition& resize = pod.status.conditions.emplace_back();
      resize.type = "PodResizePending";
      resize.status = "True";
      resize.reason = "Infeasible";
    }
  }
  if (random.Chance(0.08)) pod.metadata.deletion_timestamp = now;
  if (random.Chance(0.08)) {
    kube::PodCondition& disruption = pod.status.conditions.emplace_back();
    disruption.type = "DisruptionTarget";
    disruption.status = random.Chance(0.8) ? "True" : "False";
    disruption.reason = random.Chance(0.8) ? "PreemptionByScheduler" : "EvictionByEvictionAPI";
  }
  if (random.Chance(0.1)) pod.status.qos_class = TextOf(random, {"Guaranteed", "BestEffort"});
}

kube::Namespace RandomNamespace(Random& random) {
  kube::Namespace ns;
  ns.metadata.name = TextOf(random, {"one", "two"});
  if (random.Chance(0.7)) ns.metadata.labels.Mutable()["team"] = TextOf(random, {"red", "blue"});
  return ns;
}

kube::Service RandomService(Random& random) {
  kube::Service service;
  service.metadata = Named(random, {"front", "back"});
  if (random.Chance(0.9)) service.spec.selector["app"] = TextOf(random, {"a", "b"});
  if (random.Chance(0.2)) service.spec.selector["tier"] = "x";
  return service;
}

kube::ReplicaSet RandomReplicaSet(Random& random) {
  kube::ReplicaSet set;
  set.metadata = Named(random, {"web", "db"});
  set.spec.selector = RandomSelector(random);
  return set;
}

kube::StatefulSet RandomStatefulSet(Random& random) {
  kube::StatefulSet set;
  set.metadata = Named(random, {"web", "db"});
  set.spec.selector = RandomSelector(random);
  return set;
}

kube::ReplicationController RandomReplicationController(Random& random) {
  kube::ReplicationController controller;
  controller.metadata = Named(random, {"web", "db"});
  if (random.Chance(0.8)) controller.spec.selector["tier"] = TextOf(random, {"x", "y"});
  return controller;
}

kube::PodDisruptionBudget RandomBudget(Random& random, const std::string& pod_name) {
  kube::PodDisruptionBudget budget;
  budget.metadata = Named(random, {"budget-1", "budget-2"});
  if (random.Chance(0.95)) budget.spec.selector = RandomSelector(random);
  budget.status.disruptions_allowed = static_cast<int32_t>(Between(random, 0, 2));
  if (random.Chance(0.3)) budget.status.disrupted_pods[pod_name] = {};
  return budget;
}

api::NodeMetric RandomMetric(Random& random, const std::string& node,
                             const std::vector<const kube::Pod*>& pods, WallTime now) {
  api::NodeMetric metric;
  metric.metadata.name = node;
  if (random.Chance(0.3)) {
    metric.spec.metric_collect_policy.emplace().report_interval_seconds =
        OneOf<int64_t>(random, {10, 60, 120});
  }
  if (random.Chance(0.95)) {
    metric.status.update_time = now - std::chrono::seconds(Between(random, 0, 240));
  }
  if (random.Chance(0.92)) {
    api::NodeUsage& usage = metric.status.node_metric.emplace();
    usage.node_usage.resources = RandomUsage(random, 3000, 3000);
    usage.system_usage.resources = RandomUsage(random, 500, 300);
    for (const Duration duration : {Duration(5min), Duration(10min)}) {
      if (!random.Chance(0.5)) continue;
      api::AggregatedUsage& aggregated = usage.aggregated_node_usages.emplace_back();
      aggregated.duration = duration;
      for (const char* type : {"avg", "p95", "p99"}) {
        if (random.Chance(0.6)) aggregated.usage[type].resources = RandomUsage(random, 4000, 4000);
        if (random.Chance(0.1)) aggregated.usage[type].resources.clear();
      }
    }
  }
  for (const kube::Pod* pod : pods) {
    if (random.Chance(0.4)) continue;
    api::PodUsage& usage = metric.status.pods_metric.emplace_back();
    usage.name = pod->metadata.name;
    usage.ns = pod->metadata.ns;
    if (random.Chance(0.95)) usage.pod_usage.resources = RandomUsage(random, 1200, 900);
    usage.priority = TextOf(random, {"koord-prod", "koord-prod", "koord-batch", ""});
  }
  return metric;
}

}  // namespace koord::scheduler::reference
