#include "koordlet/reporters/topology_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/annotation_codec.h"
#include "api/keys.h"
#include "base/cpu_set.h"
#include "base/log.h"
#include "koordlet/reporters/cpu_manager_state.h"
#include "kube/quantity.h"
#include "model/cpu/pack_cpus.h"
#include "model/cpu/shared_pools.h"

namespace koord::koordlet {
namespace {

using kube::Json;
using kube::Quantity;

constexpr int64_t kHuge2Mi = int64_t{2} << 20;
constexpr int64_t kHuge1Gi = int64_t{1} << 30;

// "" or anything unknown of either is None.
std::string TopologyPolicyName(const KubeletConfig& kubelet) {
  const std::string_view scope = kubelet.topology_manager_scope;
  const std::string_view level = scope == "container" ? "ContainerLevel"
                                 : scope == "pod"     ? "PodLevel"
                                                      : "";
  if (level.empty()) return "None";
  const std::string_view policy = kubelet.topology_manager_policy;
  if (policy == "single-numa-node") return fmt::format("SingleNUMANode{}", level);
  if (policy == "restricted") return fmt::format("Restricted{}", level);
  if (policy == "best-effort") return fmt::format("BestEffort{}", level);
  return "None";
}

const NodePod* FindPod(const NodePods& pods, std::string_view uid) {
  const auto it =
      std::find_if(pods.begin(), pods.end(), [&](const NodePod& pod) { return pod.uid() == uid; });
  return it == pods.end() ? nullptr : &*it;
}

// Whose CPUs Koordinator decides about, whatever the kubelet thinks.
bool IsManagedByKoordinator(const NodePod& pod) {
  return pod.raw_qos == api::QosClass::kLs || pod.raw_qos == api::QosClass::kBe ||
         !pod.cpuset.empty();
}

// What the kubelet's static policy has given, by pod.
StatusOr<std::vector<api::PodCpuAlloc>> KubeletAllocations(const TopologyInputs& inputs) {
  std::vector<api::PodCpuAlloc> allocations;
  const bool is_static =
      inputs.kubelet != nullptr && inputs.kubelet->cpu_manager_policy == "static";
  if (!is_static || inputs.cpu_manager_state.empty()) return allocations;
  ASSIGN_OR_RETURN(const auto given, ParseCpuManagerState(inputs.cpu_manager_state));
  for (const auto& [uid, cpus] : given) {
    const NodePod* pod = FindPod(inputs.pods, uid);
    if (pod != nullptr && IsManagedByKoordinator(*pod)) continue;
    api::PodCpuAlloc allocation;
    if (pod != nullptr) {
      allocation.ns = pod->pod->metadata.ns;
      allocation.name = pod->pod->metadata.name;
    }
    allocation.uid = uid;
    allocation.cpuset = cpus.ToString();
    allocation.managed_by_kubelet = true;
    allocations.push_back(std::move(allocation));
  }
  return allocations;
}

// The Node's reservation with its CPUs filled in; empty where it has none or a bad one.
api::NodeReservation ReservationOf(const TopologyInputs& inputs, CpuSet& reserved) {
  const auto read = api::NodeReservationOf(inputs.node.metadata.annotations);
  if (!read.ok() || !*read) return {};
  api::NodeReservation reservation = **read;
  StatusOr<CpuSet> cpus =
      reservation.reserved_cpus.empty()
          ? model::PackCpus(inputs.cpu.topology, api::ReservedCpuCount(reservation))
          : CpuSet::Parse(reservation.reserved_cpus);
  if (!cpus.ok()) return {};
  reserved = *cpus;
  if (reservation.reserved_cpus.empty()) reservation.reserved_cpus = cpus->ToString();
  return reservation;
}

Quantity ReservedCpuOf(const kube::Labels& reserved) {
  const auto it = reserved.find("cpu");
  if (it == reserved.end()) return Quantity();
  return Quantity::Parse(it->second).value_or(Quantity());
}

api::KubeletCpuManagerPolicy KubeletPolicy(const TopologyInputs& inputs) {
  api::KubeletCpuManagerPolicy policy;
  if (inputs.kubelet == nullptr) return policy;
  policy.policy = inputs.kubelet->cpu_manager_policy;
  policy.options = inputs.kubelet->cpu_manager_policy_options;
  if (policy.policy != "static") return policy;
  policy.reserved_cpus = inputs.kubelet->reserved_system_cpus;
  if (!policy.reserved_cpus.empty()) return policy;
  const Quantity amount =
      ReservedCpuOf(inputs.kubelet->system_reserved) + ReservedCpuOf(inputs.kubelet->kube_reserved);
  const auto taken = model::PackCpus(inputs.cpu.topology, amount.Value());
  if (taken.ok()) policy.reserved_cpus = taken->ToString();
  return policy;
}

api::CpuBasicInfo BasicInfoOf(const CpuInfo& cpu) {
  return {.cpu_model = cpu.model,
          .hyper_thread_enabled = cpu.hyper_threading,
          .turbo_enabled = cpu.turbo,
          .cat_l3_cbm_mask = cpu.cat_l3_mask,
          .vendor_id = cpu.vendor};
}

bool ReservesNuma(const TopologyReport& report) { return report.numa_reservation == "true"; }

int64_t DivideUp(int64_t amount, int64_t by) { return amount <= 0 ? 0 : (amount - 1) / by + 1; }

// What one of `zones` equal shares has to give up of what the node keeps for itself.
int64_t ShareOfOverhead(const kube::Node& node, std::string_view resource, int64_t zones) {
  const Quantity kept = kube::AmountOf(node.status.capacity, resource) -
                        kube::AmountOf(node.status.allocatable, resource);
  return DivideUp(resource == kube::kCpu ? kept.MilliValue() : kept.Value(), zones);
}

api::ZoneResource ResourceOf(std::string_view name, const Quantity& amount) {
  return {std::string(name), amount, amount, amount};
}

void Reserve(api::ZoneResource& resource, const kube::Node& node, int64_t zones) {
  const int64_t share = ShareOfOverhead(node, resource.name, zones);
  if (resource.name == kube::kCpu) {
    const int64_t rest = std::max<int64_t>(resource.capacity.MilliValue() - share, 0);
    resource.allocatable = Quantity::FromMilli(rest);
  } else {
    const int64_t rest = std::max<int64_t>(resource.capacity.Value() - share, 0);
    resource.allocatable = Quantity(rest, Quantity::Format::kBinarySi);
  }
  resource.available = resource.allocatable;
}

api::TopologyZone ZoneOf(const TopologyInputs& inputs, const NumaNode& numa, bool reserves) {
  const auto cpus = static_cast<int64_t>(inputs.cpu.topology.CpusOfNode(numa.id).size());
  const int64_t huge_2mi = inputs.report_huge_pages ? numa.huge_2mi * kHuge2Mi : 0;
  const int64_t huge_1gi = inputs.report_huge_pages ? numa.huge_1gi * kHuge1Gi : 0;
  const auto bytes = [](int64_t amount) { return Quantity(amount, Quantity::Format::kBinarySi); };
  api::TopologyZone zone;
  zone.name = fmt::format("node-{}", numa.id);
  zone.type = api::kZoneTypeNode;
  zone.resources = {
      ResourceOf(kube::kCpu, Quantity(cpus)),
      ResourceOf("hugepages-1Gi", bytes(huge_1gi)),
      ResourceOf("hugepages-2Mi", bytes(huge_2mi)),
      ResourceOf(kube::kMemory,
                 bytes(std::max<int64_t>(numa.memory_total - huge_2mi - huge_1gi, 0))),
  };
  if (reserves) {
    for (api::ZoneResource& resource : zone.resources) {
      if (resource.name != kube::kCpu && resource.name != kube::kMemory) continue;
      Reserve(resource, inputs.node, static_cast<int64_t>(inputs.numa.size()));
    }
  }
  return zone;
}

std::string_view LabelOf(const kube::Labels& labels, std::string_view key) {
  const auto it = labels.find(key);
  return it == labels.end() ? std::string_view() : it->second;
}

// What koordlet says of a zone, with what others have said about it.
api::TopologyZone MergeZone(const api::TopologyZone& ours, const api::TopologyZone& theirs) {
  api::TopologyZone merged = theirs;
  merged.type = ours.type;
  for (const api::ZoneResource& resource : ours.resources) {
    const auto it = std::find_if(merged.resources.begin(), merged.resources.end(),
                                 [&](const auto& each) { return each.name == resource.name; });
    if (it == merged.resources.end()) {
      merged.resources.push_back(resource);
    } else {
      *it = resource;
    }
  }
  std::sort(merged.resources.begin(), merged.resources.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return merged;
}

std::vector<api::TopologyZone> MergeZones(const std::vector<api::TopologyZone>& ours,
                                          const std::vector<api::TopologyZone>& existing) {
  std::vector<api::TopologyZone> merged;
  for (const api::TopologyZone& zone : ours) {
    const auto it = std::find_if(existing.begin(), existing.end(),
                                 [&](const auto& each) { return each.name == zone.name; });
    merged.push_back(it == existing.end() ? zone : MergeZone(zone, *it));
  }
  return merged;
}

bool SameJson(std::string_view a, std::string_view b) {
  if (a == b) return true;
  const auto left = kube::ParseJson(a);
  const auto right = kube::ParseJson(b);
  return left.ok() && right.ok() && kube::Equal(*left, *right);
}

Json EncodeAll(const std::vector<api::TopologyZone>& zones) {
  kube::json::array array;
  for (const api::TopologyZone& zone : zones) array.push_back(kube::Encode(zone));
  return array;
}

Status CheckKnown(const TopologyInputs& inputs) {
  if (inputs.cpu.topology.empty() || inputs.numa.empty()) {
    return FailedPrecondition("nothing is known of the node's processors and memory yet");
  }
  if (inputs.cpu.topology.node_count() != static_cast<int64_t>(inputs.numa.size())) {
    return FailedPrecondition("the processors are on {} NUMA nodes, the memory is on {}",
                              inputs.cpu.topology.node_count(), inputs.numa.size());
  }
  return absl::OkStatus();
}

void SetSystemQos(const api::SystemQosResource& system_qos, TopologyView& view) {
  view.system_qos_exclusive = system_qos.cpuset_exclusive.value_or(true);
  view.system_qos_cpus = CpuSet::Parse(system_qos.cpuset).value_or(CpuSet());
}

// What is left of the processors for those who have none of their own.
void SetPools(const TopologyInputs& inputs, const std::vector<api::PodCpuAlloc>& allocations,
              TopologyView& view) {
  CpuSet kept_back = view.reserved_cpus;
  if (view.system_qos_exclusive) kept_back |= view.system_qos_cpus;
  CpuSet of_kubelet;
  for (const api::PodCpuAlloc& each : allocations) {
    const auto cpus = CpuSet::Parse(each.cpuset);
    if (cpus.ok()) of_kubelet |= *cpus;
  }
  view.kubelet_cpus = of_kubelet;
  CpuSet of_all = of_kubelet;
  CpuSet of_exclusive = of_kubelet;
  for (const NodePod& pod : inputs.pods) {
    of_all |= pod.cpuset;
    if (pod.qos == api::QosClass::kLse) of_exclusive |= pod.cpuset;
  }
  view.ls_pools = model::SharedPoolsOf(inputs.cpu.topology, of_all, kept_back);
  view.be_pools = model::SharedPoolsOf(inputs.cpu.topology, of_exclusive, kept_back);
}

}  // namespace

StatusOr<TopologyReport> BuildTopologyReport(const TopologyInputs& inputs) {
  RETURN_IF_ERROR(CheckKnown(inputs));
  ASSIGN_OR_RETURN(const auto system_qos,
                   api::SystemQosResourceOf(inputs.node.metadata.annotations));
  ASSIGN_OR_RETURN(const auto allocations, KubeletAllocations(inputs));
  TopologyReport report;
  CpuSet reserved;
  const api::NodeReservation reservation = ReservationOf(inputs, reserved);
  const api::KubeletCpuManagerPolicy policy = KubeletPolicy(inputs);
  TopologyView& view = report.view;
  view.reserved_cpus = reserved;
  view.kubelet_policy = policy.policy;
  view.binds_all_pods =
      api::NodeCpuBindPolicyOf(inputs.node.metadata.labels, policy) != api::kNodeCpuBindNone;
  if (system_qos) SetSystemQos(*system_qos, view);
  SetPools(inputs, allocations, view);

  const auto annotate = [&](std::string_view key, std::string value) {
    report.annotations.emplace(key, std::move(value));
  };
  annotate(api::kAnnotationCpuTopology, api::EncodeCpuTopology(inputs.cpu.topology.ToAnnotation()));
  annotate(api::kAnnotationCpuBasicInfo, api::EncodeCpuBasicInfo(BasicInfoOf(inputs.cpu)));
  annotate(api::kAnnotationCpuSharedPools, api::EncodeCpuSharedPools(view.ls_pools));
  annotate(api::kAnnotationBeCpuSharedPools, api::EncodeCpuSharedPools(view.be_pools));
  annotate(api::kAnnotationKubeletCpuManagerPolicy, api::EncodeKubeletCpuManagerPolicy(policy));
  annotate(api::kAnnotationPodCpuAllocs,
           allocations.empty() ? "null" : api::EncodePodCpuAllocs(allocations));
  annotate(api::kAnnotationNodeReservation, api::EncodeAnnotation(reservation));
  annotate(api::kAnnotationSystemQosResource,
           system_qos ? api::EncodeAnnotation(*system_qos) : "null");
  report.numa_reservation = LabelOf(inputs.node.metadata.labels, api::kLabelEnableNumaReservation);
  report.policies = {inputs.kubelet == nullptr ? "None" : TopologyPolicyName(*inputs.kubelet)};
  for (const NumaNode& numa : inputs.numa) {
    report.zones.push_back(ZoneOf(inputs, numa, ReservesNuma(report)));
  }
  return report;
}

kube::Json NodeOwnerReferences(const kube::Node& node) {
  return kube::json::array{Json{{"apiVersion", "v1"},
                                {"kind", "Node"},
                                {"name", node.metadata.name},
                                {"uid", node.metadata.uid},
                                {"controller", true},
                                {"blockOwnerDeletion", true}}};
}

kube::Json NewTopologyObject(const TopologyReport& report, const kube::Node& node) {
  kube::json::object labels{{api::kLabelManagedBy, "Koordinator"}};
  if (!report.numa_reservation.empty()) {
    labels.emplace(api::kLabelEnableNumaReservation, report.numa_reservation);
  }
  kube::json::object annotations;
  for (const auto& [key, value] : report.annotations) annotations.emplace(key, value);
  return {
      {"metadata",
       {{"name", node.metadata.name},
        {"labels", std::move(labels)},
        {"annotations", std::move(annotations)},
        {"ownerReferences", NodeOwnerReferences(node)}}},
      {"topologyPolicies", Json(kube::json::array(report.policies.begin(), report.policies.end()))},
      {"zones", EncodeAll(report.zones)}};
}

kube::Json TopologyPatch(const TopologyReport& report, const api::NodeResourceTopology& existing) {
  Json patch = kube::json::object{};
  const kube::Annotations& annotations = existing.metadata.annotations;
  for (const auto& [key, value] : report.annotations) {
    const auto it = annotations.find(key);
    if (it != annotations.end() && SameJson(it->second, value)) continue;
    kube::At(patch, {"metadata", "annotations", key}) = value;
  }
  const std::string_view label =
      LabelOf(existing.metadata.labels, api::kLabelEnableNumaReservation);
  if (label != report.numa_reservation) {
    kube::At(patch, {"metadata", "labels", api::kLabelEnableNumaReservation}) =
        report.numa_reservation.empty() ? Json(nullptr) : Json(report.numa_reservation);
  }
  if (existing.topology_policies != report.policies) {
    patch.as_object()["topologyPolicies"] =
        kube::json::array(report.policies.begin(), report.policies.end());
  }
  std::vector<api::TopologyZone> zones = MergeZones(report.zones, existing.zones);
  if (zones != existing.zones) patch.as_object()["zones"] = EncodeAll(zones);
  if (patch.as_object().empty()) return nullptr;
  kube::At(patch, {"metadata", "labels", api::kLabelManagedBy}) = "Koordinator";
  kube::At(patch, {"metadata", "resourceVersion"}) = existing.metadata.resource_version;
  return patch;
}

}  // namespace koord::koordlet
