#include "scheduler/books/node_topology.h"

#include <algorithm>

#include "api/cpu_annotations.h"
#include "api/keys.h"
#include "base/strings.h"

namespace koord::scheduler {
namespace {

// The number in "node-3"; nothing for other names.
std::optional<int32_t> NumaNodeOf(const api::TopologyZone& zone) {
  constexpr std::string_view kPrefix = "node-";
  if (zone.type != api::kZoneTypeNode) return {};
  const size_t at = zone.name.find(kPrefix);
  if (at == std::string::npos || at != zone.name.rfind(kPrefix)) return {};
  const auto number = ParseUint(std::string_view(zone.name).substr(at + kPrefix.size()));
  if (!number || *number >= uint64_t{model::NumaMask::kMaxNodes}) return {};
  return static_cast<int32_t>(*number);
}

// CPUs that pods do not get, whoever keeps them.
CpuSet ReservedCpus(const kube::Annotations& annotations,
                    const api::KubeletCpuManagerPolicy& kubelet) {
  CpuSet reserved;
  const auto add = [&](const std::string& list) {
    if (const auto cpus = CpuSet::Parse(list); cpus.ok()) reserved |= *cpus;
  };
  if (const auto pods = api::PodCpuAllocsOf(annotations); pods.ok()) {
    for (const api::PodCpuAlloc& pod : *pods) {
      if (pod.managed_by_kubelet && !pod.uid.empty()) add(pod.cpuset);
    }
  }
  add(kubelet.reserved_cpus);
  const auto reservation = api::NodeReservationOf(annotations);
  if (reservation.ok() && *reservation) add((*reservation)->reserved_cpus);
  const auto system = api::SystemQosResourceOf(annotations);
  if (system.ok() && *system && (*system)->cpuset_exclusive.value_or(true)) add((*system)->cpuset);
  return reserved;
}

model::NumaPolicy PolicyOf(const std::vector<std::string>& policies) {
  for (const std::string& policy : policies) {
    if (policy == "BestEffort") return model::NumaPolicy::kBestEffort;
    if (policy == "Restricted") return model::NumaPolicy::kRestricted;
    if (policy == "SingleNUMANodePodLevel") return model::NumaPolicy::kSingleNumaNode;
  }
  return model::NumaPolicy::kNone;
}

template <class T>
T ValueOr(StatusOr<std::optional<T>> read, T otherwise) {
  return read.ok() && *read ? **std::move(read) : otherwise;
}

}  // namespace

std::shared_ptr<const model::CpuTopology> NodeTopologyReader::CpusOf(
    const kube::Annotations& annotations) {
  static const auto kUnknown = std::make_shared<const model::CpuTopology>();
  const std::string* text = kube::FindValue(annotations, api::kAnnotationCpuTopology);
  if (text == nullptr) return kUnknown;
  if (const auto known = kinds_.find(*text); known != kinds_.end()) {
    if (auto cpus = known->second.lock()) return cpus;
  }
  const auto read = api::CpuTopologyOf(annotations);
  if (!read.ok() || !*read) return kUnknown;
  auto topology = model::CpuTopology::FromAnnotation(**read);
  if (!topology.ok() || topology->empty()) return kUnknown;
  absl::erase_if(kinds_, [](const auto& kind) { return kind.second.expired(); });
  auto cpus = std::make_shared<const model::CpuTopology>(*std::move(topology));
  kinds_.insert_or_assign(*text, cpus);
  return cpus;
}

std::shared_ptr<const NodeTopology> NodeTopologyReader::Read(
    const api::NodeResourceTopology& object) {
  const kube::Annotations& annotations = object.metadata.annotations;
  auto topology = std::make_shared<NodeTopology>();
  topology->cpus = CpusOf(annotations);
  topology->kubelet = ValueOr(api::KubeletCpuManagerPolicyOf(annotations), {});
  topology->reserved = ReservedCpus(annotations, topology->kubelet);
  topology->policy = PolicyOf(object.topology_policies);
  if (const auto ratios = api::AmplificationRatiosOf(annotations); ratios.ok()) {
    topology->ratios = *ratios;
  }
  for (const api::TopologyZone& zone : object.zones) {
    const auto node = NumaNodeOf(zone);
    if (!node) continue;
    kube::ResourceList list;
    for (const api::ZoneResource& each : zone.resources) list[each.name] = each.allocatable;
    ResourceAmounts amounts = resources_.AmountsIn(list, topology->names);
    const int64_t reserved =
        static_cast<int64_t>((topology->reserved & topology->cpus->CpusOfNode(*node)).size());
    if (AmountOf(amounts, kCpuId) != 0) AddTo(amounts, {{kCpuId, reserved * 1000}}, -1);
    topology->zones.push_back({*node, std::move(amounts)});
  }
  std::ranges::stable_sort(topology->zones, {}, &Holdings::Zone::numa_node);
  const auto is_same_node = [](const Holdings::Zone& a, const Holdings::Zone& b) {
    return a.numa_node == b.numa_node;
  };
  topology->zones.erase(std::unique(topology->zones.begin(), topology->zones.end(), is_same_node),
                        topology->zones.end());
  return topology;
}

}  // namespace koord::scheduler
