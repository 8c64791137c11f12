#include "scheduler/bench/workloads.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "api/device.h"
#include "api/extended_resources.h"
#include "api/keys.h"
#include "api/node_annotations.h"
#include "base/virtual_loop.h"
#include "scheduler/cluster/reserve_pod.h"

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
  pod.spec.containers.Mutable().push_back(std::move(container));
  return pod;
}
kube::Pod PlainInit(size_t i) { return PodWith("init", i, 100, 500); }
kube::Pod PlainPod(size_t i) { return PodWith("pod", i, 100, 500); }

kube::Pod Labelled(kube::Pod pod, std::string key, std::string value) {
  pod.metadata.labels.Mutable().emplace(std::move(key), std::move(value));
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
  pod.spec.topology_spread_constraints.Mutable().push_back(std::move(constraint));
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

// Pods of `shapes` workloads, in turn.
std::function<kube::Pod(size_t)> InTurn(size_t shapes) {
  return [shapes](size_t i) {
    return Labelled(PlainPod(i), "app", fmt::format("app-{}", i % shapes));
  };
}

// Four of them fill a node.
kube::Pod QuarterOfANode(size_t i) { return PodWith("init", i, 1000, 500); }
kube::Pod AnotherQuarter(size_t i) { return PodWith("waiting", i, 1000, 500); }
kube::Pod HalfOfANode(size_t i) { return PodWith("waiting", i, 2000, 500); }

// Each time on another node.
void DeletePod(CoreDriver& driver, size_t i) {
  driver.DeletePod(QuarterOfANode(i * 7).metadata.uid);
  driver.TryAll();
}

kube::Pod UnfitOfItsOwn(size_t i) { return PodWith("pod", i, 1500 + static_cast<int64_t>(i), 500); }
kube::Pod UnfitLikeOthers(size_t i) { return PodWith("pod", i, 2000, 500); }

// Adds pods that fit nowhere.
std::function<void(CoreDriver&, size_t)> Adding(kube::Pod pod(size_t)) {
  return [pod](CoreDriver& driver, size_t i) {
    driver.Add(std::make_shared<const kube::Pod>(pod(i)));
    driver.TryAll();
  };
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

std::shared_ptr<const api::NodeMetric> Usage(const std::string& node, size_t milli_cpu,
                                             size_t memory_mib) {
  auto metric = std::make_shared<api::NodeMetric>();
  metric->metadata.name = node;
  metric->status.update_time = VirtualLoop::kStart;
  auto& usage = metric->status.node_metric.emplace().node_usage.resources;
  usage.emplace("cpu", Cpu(static_cast<int64_t>(milli_cpu)));
  usage.emplace("memory", Memory(static_cast<int64_t>(memory_mib)));
  return metric;
}

void ReportUsage(ClusterObjects& objects, const std::vector<kube::Node>& nodes) {
  for (size_t i = 0; i < nodes.size(); ++i) {
    objects.node_metrics.Set(
        Usage(nodes[i].metadata.name, 100 + i * 37 % 1500, 500 + i * 91 % 9000));
  }
}

// Every node uses more than its thresholds allow.
void ReportOverload(ClusterObjects& objects, const std::vector<kube::Node>& nodes) {
  for (const kube::Node& node : nodes) {
    objects.node_metrics.Set(Usage(node.metadata.name, 3500, 9000));
  }
}

// Another node each time reports a little less, which is still too much.
void ReportAgain(CoreDriver& driver, size_t i) {
  driver.SetMetric(Usage(PlainNode(i).metadata.name, 3400, 9000));
  driver.TryAll();
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

// Twenty of these fill a node.
constexpr size_t kVictimsOfNode = 20;
constexpr size_t kBudgets = 500;

kube::Pod SmallVictim(size_t i) {
  kube::Pod pod = Labelled(PodWith("low", i, 4000 / kVictimsOfNode, 500), "app",
                           fmt::format("app-{}", i * 7 % kBudgets));
  pod.spec.priority = static_cast<int32_t>(i % 5);
  pod.status.start_time = VirtualLoop::kStart + std::chrono::seconds(i * 11 % 3600);
  return pod;
}

// Each asks for something else: for the room of few victims or of most that a node has.
kube::Pod DistinctPreemptor(size_t i) {
  kube::Pod pod = PodWith("pod", i, 400 + static_cast<int64_t>(i * 37 % 3200),
                          600 + static_cast<int64_t>(i * 13 % 900));
  pod.metadata.labels = {{"job", fmt::format("job-{}", i)}};
  pod.spec.priority = 10;
  return pod;
}

// Every other one is used up: to make much room without breaking one is often impossible.
void GuardVictims(ClusterObjects& objects, const std::vector<kube::Node>&) {
  for (size_t i = 0; i < kBudgets; ++i) {
    kube::PodDisruptionBudget budget;
    budget.metadata.ns = "sched-1";
    budget.metadata.name = fmt::format("budget-{}", i);
    budget.spec.selector.emplace().match_labels.emplace("app", fmt::format("app-{}", i));
    budget.status.disruptions_allowed = static_cast<int32_t>(i % 2);
    objects.disruption_budgets.Set(
        std::make_shared<const kube::PodDisruptionBudget>(std::move(budget)));
  }
}

kube::Pod PromisedPod(size_t i) {
  kube::Pod pod = PodWith("promised", i, 1000, 500);
  pod.spec.priority = 10;
  return pod;
}

// Reservations of 500 workloads, one on each of 5,000 nodes, each with room for ten of their pods.
constexpr size_t kReservations = 5000;
constexpr size_t kReservers = 500;

std::string ReserverOf(size_t i) { return fmt::format("reserver-{}", i % kReservers); }

api::Reservation ReservationFor(std::string_view prefix, size_t i, const kube::Pod& like) {
  api::Reservation reservation;
  reservation.metadata.name = fmt::format("{}-{}", prefix, i);
  reservation.metadata.uid = fmt::format("{}-{}-uid", prefix, i);
  reservation.metadata.creation_timestamp = VirtualLoop::kStart;
  reservation.spec.pod_template.emplace().spec = like.spec;
  reservation.spec.owners.emplace_back().label_selector.emplace().match_labels.emplace(
      "app", ReserverOf(i));
  reservation.spec.ttl = 24h;
  reservation.status.phase = api::kReservationPending;
  return reservation;
}

api::Reservation AvailableOn(api::Reservation reservation, std::string node) {
  reservation.status.phase = api::kReservationAvailable;
  reservation.status.node_name = std::move(node);
  reservation.status.allocatable =
      reservation.spec.pod_template->spec.containers[0].resources.requests;
  return reservation;
}

api::Reservation RoomForTen(size_t i) {
  api::Reservation reservation = ReservationFor("room", i, PodWith("like", i, 1000, 5000));
  reservation.spec.allocate_once = false;
  reservation.spec.allocate_policy = "Aligned";
  return AvailableOn(std::move(reservation), PlainNode(i).metadata.name);
}

kube::Pod OfReserver(size_t i, size_t reserver) {
  return Labelled(PlainPod(i), "app", ReserverOf(reserver));
}

// A reservation is made, finds a node, is used once and collected.
void UseOnce(CoreDriver& driver, size_t i) {
  const api::Reservation made = ReservationFor("once", i, PlainPod(i));
  driver.SetReservation(std::make_shared<const api::Reservation>(made));
  driver.Add(MakeReservePod(made, "koord-scheduler"));
  driver.TryNext();
  const PodInfo* const placed = driver.ledger().Find(made.metadata.uid);
  api::Reservation reservation = AvailableOn(made, driver.ledger().NodeOf(*placed));
  driver.SetReservation(std::make_shared<const api::Reservation>(reservation));
  const auto owner = std::make_shared<const kube::Pod>(OfReserver(i, i));
  driver.Add(owner);
  driver.TryNext();
  reservation.status.phase = api::kReservationSucceeded;
  driver.SetReservation(std::make_shared<const api::Reservation>(reservation));
  driver.RemoveReservation(made.metadata.name);
  driver.DeletePod(owner->metadata.uid);
}

// One of 5,000 workloads that keep apart, keep together, or would rather keep apart, each by
// itself.
kube::Pod OfOwnTerms(kube::Pod pod, size_t i) {
  constexpr size_t kApps = 5000;
  const size_t app = i % kApps;
  const std::string name = fmt::format("app-{}", app);
  pod = Labelled(std::move(pod), "app", name);
  kube::PodAffinityTerm term;
  term.label_selector.emplace().match_labels.emplace("app", name);
  term.topology_key = app % 3 == 1 ? kZone : kHostname;
  kube::Affinity& affinity = pod.spec.affinity.emplace();
  if (app % 3 == 0) affinity.pod_anti_affinity.emplace().required.push_back(term);
  if (app % 3 == 1) affinity.pod_affinity.emplace().required.push_back(term);
  if (app % 3 == 2) affinity.pod_anti_affinity.emplace().preferred.push_back({100, term});
  return pod;
}

// Two sockets of 32 cores with two threads each, a NUMA node each.
constexpr int32_t kCpusOfLargeNode = 128;

kube::Node LargeNode(size_t i) { return NodeWith(i, kCpusOfLargeNode * 1000, 512 << 10); }

kube::Node AlignedNode(size_t i) {
  kube::Node node = LargeNode(i);
  node.metadata.labels.Mutable().emplace(api::kLabelNodeNumaTopologyPolicy, "SingleNUMANode");
  return node;
}

void ReportTopologies(ClusterObjects& objects, const std::vector<kube::Node>& nodes) {
  api::CpuTopology cpus;
  for (int32_t cpu = 0; cpu < kCpusOfLargeNode; ++cpu) {
    const int32_t socket = cpu / (kCpusOfLargeNode / 2);
    cpus.detail.push_back({.id = cpu, .core = cpu / 2, .socket = socket, .node = socket});
  }
  api::NodeResourceTopology topology;
  topology.metadata.annotations[std::string(api::kAnnotationCpuTopology)] =
      api::EncodeCpuTopology(cpus);
  for (const std::string_view name : {"node-0", "node-1"}) {
    api::TopologyZone zone{.name = std::string(name), .type = "Node"};
    const kube::Quantity cpu = Cpu(kCpusOfLargeNode * 500);
    const kube::Quantity memory = Memory(256 << 10);
    zone.resources = {{"cpu", cpu, cpu, cpu}, {"memory", memory, memory, memory}};
    topology.zones.push_back(std::move(zone));
  }
  for (const kube::Node& node : nodes) {
    topology.metadata.name = node.metadata.name;
    objects.node_topologies.Set(std::make_shared<const api::NodeResourceTopology>(topology));
  }
}

// 4 to 16 CPUs of their own, on whole cores.
kube::Pod BoundPod(std::string_view prefix, size_t i) {
  constexpr std::array<int64_t, 4> kCpus{4, 8, 12, 16};
  kube::Pod pod = Labelled(PodWith(prefix, i, kCpus[i % kCpus.size()] * 1000, 8 << 10),
                           std::string(api::kLabelQosClass), "LSR");
  pod.metadata.annotations[std::string(api::kAnnotationResourceSpec)] =
      R"({"requiredCPUBindPolicy":"FullPCPUs"})";
  pod.spec.priority = 9500;
  return pod;
}

kube::Pod AlignedPod(std::string_view prefix, size_t i) {
  return PodWith(prefix, i, 4000, 8 << 10);
}

constexpr int32_t kCardsOfLargeNode = 8;
constexpr int64_t kMemoryOfCard = int64_t{80} << 10;  // MiB

// The large node with 8 GPUs and 4 RDMA devices: two cards and one of the others on each PCIe
// switch, two switches on each NUMA node.
kube::Node DeviceNode(size_t i) {
  kube::Node node = LargeNode(i);
  auto& allocatable = node.status.allocatable.Mutable();
  const kube::Quantity percent(kCardsOfLargeNode * 100);
  for (const std::string_view name :
       {api::kGpu, api::kGpuCore, api::kGpuMemoryRatio, api::kGpuShared}) {
    allocatable.emplace(name, percent);
  }
  allocatable.emplace(api::kGpuMemory, Memory(kCardsOfLargeNode * kMemoryOfCard));
  allocatable.emplace(api::kRdma, kube::Quantity(400));
  return node;
}

api::DeviceInfo DeviceAt(std::string_view type, int32_t minor, int32_t pcie) {
  api::DeviceInfo device;
  device.type = type;
  device.minor = minor;
  device.id = fmt::format("{}-{}", type, minor);
  device.health = true;
  api::DeviceTopology& place = device.topology.emplace();
  place.node_id = place.socket_id = pcie / 2;
  place.pcie_id = std::to_string(pcie);
  return device;
}

void ReportDevices(ClusterObjects& objects, const std::vector<kube::Node>& nodes) {
  api::Device devices;
  for (int32_t minor = 0; minor < kCardsOfLargeNode; ++minor) {
    api::DeviceInfo card = DeviceAt(api::kDeviceGpu, minor, minor / 2);
    card.resources = {{std::string(api::kGpuCore), kube::Quantity(100)},
                      {std::string(api::kGpuMemoryRatio), kube::Quantity(100)},
                      {std::string(api::kGpuMemory), Memory(kMemoryOfCard)}};
    devices.spec.devices.push_back(std::move(card));
  }
  for (int32_t minor = 0; minor < kCardsOfLargeNode / 2; ++minor) {
    api::DeviceInfo nic = DeviceAt(api::kDeviceRdma, minor, minor);
    nic.resources = {{std::string(api::kRdma), kube::Quantity(100)}};
    devices.spec.devices.push_back(std::move(nic));
  }
  for (const kube::Node& node : nodes) {
    devices.metadata.name = node.metadata.name;
    objects.devices.Set(std::make_shared<const api::Device>(devices));
  }
}

kube::Pod PodWithCards(std::string_view prefix, size_t i, int64_t percent) {
  kube::Pod pod = PodWith(prefix, i, 1000, 4 << 10);
  kube::ResourceRequirements& asked = pod.spec.containers.Mutable().front().resources;
  for (const std::string_view name : {api::kGpuCore, api::kGpuMemoryRatio}) {
    asked.requests.emplace(name, kube::Quantity(percent));
  }
  asked.limits = asked.requests;
  return pod;
}

// A tenth of a card to eight of them.
kube::Pod SharingPod(std::string_view prefix, size_t i) {
  constexpr std::array<int64_t, 8> kPercents{10, 25, 50, 100, 100, 200, 400, 800};
  return PodWithCards(prefix, i, kPercents[i % kPercents.size()]);
}

// One or two cards, and an RDMA device on the same PCIe switch.
kube::Pod JointPod(std::string_view prefix, size_t i) {
  kube::Pod pod = PodWithCards(prefix, i, i % 2 == 0 ? 100 : 200);
  kube::ResourceRequirements& asked = pod.spec.containers.Mutable().front().resources;
  asked.requests.emplace(api::kRdma, kube::Quantity(25));
  asked.limits = asked.requests;
  pod.metadata.annotations[std::string(api::kAnnotationDeviceJointAllocate)] =
      R"({"deviceTypes":["gpu","rdma"],"requiredScope":"SamePCIe"})";
  return pod;
}

// No pod is like another, and their shares are not either.
kube::Pod DiverseSharingPod(std::string_view prefix, size_t i) {
  const auto percent = static_cast<int64_t>(i % 4 == 0 ? 100 * (1 + i / 4 % 4) : 1 + i * 7 % 99);
  return Labelled(PodWithCards(prefix, i, percent), "app", fmt::format("{}-{}", prefix, i));
}

// ---- Quotas

// So many at each level of the tree, the last being teams.
constexpr std::array<size_t, 5> kQuotasOfLevel{5, 25, 70, 200, 700};
constexpr size_t kPodsOfAJob = 20;
constexpr size_t kPodsThatRun = 5000;
constexpr size_t kQuotaPods = 20000;

std::string QuotaName(size_t level, size_t i) { return fmt::format("quota-{}-{}", level, i); }

std::shared_ptr<const kube::Pod> TeamPod(size_t i) {
  static const auto kPods = [] {
    std::vector<std::shared_ptr<const kube::Pod>> pods;
    for (size_t each = 0; each < kQuotaPods; ++each) {
      const size_t team = each / kPodsOfAJob % kQuotasOfLevel.back();
      pods.push_back(std::make_shared<const kube::Pod>(
          Labelled(PodWith("pod", each, 100, 500), std::string(api::kLabelQuotaName),
                   QuotaName(kQuotasOfLevel.size() - 1, team))));
    }
    return pods;
  }();
  return kPods[i % kPods.size()];
}

// Every tenth team has room for half a job only.
void MakeQuotas(ClusterObjects& objects, const std::vector<kube::Node>&) {
  TeamPod(0);  // all are made before anything is measured
  for (size_t level = 0; level < kQuotasOfLevel.size(); ++level) {
    for (size_t i = 0; i < kQuotasOfLevel[level]; ++i) {
      api::ElasticQuota quota;
      quota.metadata.ns = "sched-1";
      quota.metadata.name = QuotaName(level, i);
      auto& labels = quota.metadata.labels.Mutable();
      const bool is_team = level + 1 == kQuotasOfLevel.size();
      if (!is_team) labels.emplace(api::kLabelQuotaIsParent, "true");
      if (level > 0) {
        labels.emplace(api::kLabelQuotaParent, QuotaName(level - 1, i % kQuotasOfLevel[level - 1]));
      }
      const auto share = static_cast<int64_t>(20000 / kQuotasOfLevel[level]);
      const bool is_small = is_team && i % 10 == 0;
      quota.spec.min = {{"cpu", Cpu(share * 500)}, {"memory", Memory(share << 10)}};
      quota.spec.max = {{"cpu", Cpu(is_small ? 1000 : share * 4000)},
                        {"memory", Memory(share << 14)}};
      if (is_small) quota.spec.min = {{"cpu", Cpu(500)}, {"memory", Memory(share << 10)}};
      objects.elastic_quotas.Set(std::make_shared<const api::ElasticQuota>(std::move(quota)));
    }
  }
}

// A pod comes and one goes; now and then whoever has room by that is looked for.
void ChurnQuotas(CoreDriver& driver, size_t i) {
  constexpr size_t kStepsOfATurn = 100;
  driver.Add(TeamPod(i));
  if (i >= kPodsThatRun) driver.DeletePod(TeamPod(i - kPodsThatRun)->metadata.uid);
  driver.TryNext();
  if (i % kStepsOfATurn != 0) return;
  driver.RunReady();
  driver.TryAll();
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
      {"preemption-distinct", "preemptors of which no two are alike, 20 victims a node", 100000,
       1000, PlainNode, SmallVictim, DistinctPreemptor},
      {"preemption-budgets",
       "the same, with 500 disruption budgets",
       100000,
       1000,
       PlainNode,
       SmallVictim,
       DistinctPreemptor,
       0,
       {},
       GuardVictims},
      {"mixed", "plain pods among pods with affinities of all kinds", 10000, 5000, PlainNode,
       MixedInit, PlainPod},
      {"diverse", "no pod is like another", 1000, 10000, PlainNode, PlainInit, DiversePod},
      {"loadaware",
       "nodes that report their usage",
       1000,
       10000,
       PlainNode,
       PlainInit,
       PlainPod,
       0,
       {},
       ReportUsage},
      {"shapes-4", "pods of four workloads in turn", 1000, 10000, PlainNode, PlainInit, InTurn(4)},
      {"shapes-5", "pods of five workloads in turn", 1000, 10000, PlainNode, PlainInit, InTurn(5)},
      {"shapes-16", "pods of 16 workloads in turn", 1000, 10000, PlainNode, PlainInit, InTurn(16)},
      {"shapes-64", "pods of 64 workloads in turn", 1000, 10000, PlainNode, PlainInit, InTurn(64)},
      {.name = "cpuset",
       .description = "4 to 16 CPUs on whole cores of nodes with 128",
       .default_init_pods = 1000,
       .default_pods = 10000,
       .node = LargeNode,
       .init_pod = [](size_t i) { return BoundPod("init", i); },
       .pod = [](size_t i) { return BoundPod("pod", i); },
       .objects = ReportTopologies,
       .numa = true},
      {.name = "numa",
       .description = "cpu and memory from a single one of two NUMA nodes",
       .default_init_pods = 1000,
       .default_pods = 10000,
       .node = AlignedNode,
       .init_pod = [](size_t i) { return AlignedPod("init", i); },
       .pod = [](size_t i) { return AlignedPod("pod", i); },
       .objects = ReportTopologies,
       .numa = true},
      {.name = "numa-none",
       .description = "as basic, with NodeNUMAResource in the profile",
       .default_init_pods = 1000,
       .default_pods = 10000,
       .node = PlainNode,
       .init_pod = PlainInit,
       .pod = PlainPod,
       .numa = true},
      {.name = "gpu-share",
       .description = "a tenth of a card to eight cards, of nodes with eight",
       .default_init_pods = 1000,
       .default_pods = 10000,
       .node = DeviceNode,
       .init_pod = [](size_t i) { return SharingPod("init", i); },
       .pod = [](size_t i) { return SharingPod("pod", i); },
       .objects = ReportDevices,
       .devices = true},
      {.name = "gpu-joint",
       .description = "cards with an RDMA device on the same PCIe switch",
       .default_init_pods = 1000,
       .default_pods = 10000,
       .node = DeviceNode,
       .init_pod = [](size_t i) { return JointPod("init", i); },
       .pod = [](size_t i) { return JointPod("pod", i); },
       .objects = ReportDevices,
       .devices = true},
      {.name = "gpu-diverse",
       .description = "shares of cards, no pod is like another",
       .default_init_pods = 1000,
       .default_pods = 10000,
       .node = DeviceNode,
       .init_pod = [](size_t i) { return DiverseSharingPod("init", i); },
       .pod = [](size_t i) { return DiverseSharingPod("pod", i); },
       .objects = ReportDevices,
       .devices = true},
      {.name = "gpu-none",
       .description = "as basic, with DeviceShare in the profile",
       .default_init_pods = 1000,
       .default_pods = 10000,
       .node = PlainNode,
       .init_pod = PlainInit,
       .pod = PlainPod,
       .devices = true},
      {.name = "quota",
       .description = "1,000 quotas in 5 levels; jobs of 20 pods come and go, some beyond a max",
       .default_init_pods = 0,
       .default_pods = kQuotaPods,
       .node = PlainNode,
       .init_pod = PlainInit,
       .pod = [](size_t i) { return *TeamPod(i); },
       .objects = MakeQuotas,
       .step = ChurnQuotas,
       .quotas = true},
      {.name = "unfit-new-shape",
       .description = "full nodes, a pod of a new shape each time",
       .default_init_pods = 20000,
       .default_pods = 1000,
       .node = PlainNode,
       .init_pod = QuarterOfANode,
       .step = Adding(UnfitOfItsOwn)},
      {.name = "unfit-known-shape",
       .description = "full nodes, another pod of a shape that fits nowhere",
       .default_init_pods = 20000,
       .default_pods = 5000,
       .node = PlainNode,
       .init_pod = QuarterOfANode,
       .step = Adding(UnfitLikeOthers)},
      {.name = "deletion-makes-room",
       .description = "10,000 pods of a shape wait, a deleted one makes room for one of them",
       .default_init_pods = 20000,
       .default_pods = 20,
       .node = PlainNode,
       .init_pod = QuarterOfANode,
       .waiting_pods = 10000,
       .waiting_pod = AnotherQuarter,
       .step = DeletePod},
      {.name = "deletion-too-small",
       .description = "10,000 pods of a shape wait, a deleted one leaves too little room",
       .default_init_pods = 20000,
       .default_pods = 20,
       .node = PlainNode,
       .init_pod = QuarterOfANode,
       .waiting_pods = 10000,
       .waiting_pod = HalfOfANode,
       .step = DeletePod},
      {.name = "metric-still-too-high",
       .description = "1,000 pods of a shape wait for load, a node reports its usage",
       .default_init_pods = 0,
       .default_pods = 20,
       .node = PlainNode,
       .init_pod = PlainInit,
       .objects = ReportOverload,
       .waiting_pods = 1000,
       .waiting_pod = PlainPod,
       .step = ReportAgain},
      {"nominated", "plain pods while 1,000 others are promised nodes", 1000, 10000, PlainNode,
       PlainInit, PlainPod, 1000, PromisedPod},
      {.name = "reservation",
       .description = "pods of 500 workloads, one after the other, with 5,000 reservations",
       .default_init_pods = 1000,
       .default_pods = 10000,
       .node = PlainNode,
       .init_pod = PlainInit,
       .pod = [](size_t i) { return OfReserver(i, i / 20); },
       .reservations = kReservations,
       .reservation = RoomForTen},
      {.name = "reservation-in-turn",
       .description = "the same, pods of all workloads in turn",
       .default_init_pods = 1000,
       .default_pods = 10000,
       .node = PlainNode,
       .init_pod = PlainInit,
       .pod = [](size_t i) { return OfReserver(i, i); },
       .reservations = kReservations,
       .reservation = RoomForTen},
      {.name = "reservation-none",
       .description = "plain pods, for which none of 5,000 reservations is",
       .default_init_pods = 1000,
       .default_pods = 10000,
       .node = PlainNode,
       .init_pod = PlainInit,
       .pod = PlainPod,
       .reservations = kReservations,
       .reservation = RoomForTen},
      {.name = "reservation-churn",
       .description = "reservations that are made, used once and collected",
       .default_init_pods = 1000,
       .default_pods = 10000,
       .node = PlainNode,
       .init_pod = PlainInit,
       .step = UseOnce},
      {"own-affinity", "5,000 workloads with (anti-)affinity terms of their own", 5000, 5000,
       PlainNode, [](size_t i) { return OfOwnTerms(PlainInit(i), i); },
       [](size_t i) { return OfOwnTerms(PlainPod(i), i); }},
  };
  return kWorkloads;
}

const Workload* FindWorkload(std::string_view name) {
  const auto& all = Workloads();
  const auto found = std::ranges::find(all, name, &Workload::name);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace koord::scheduler
