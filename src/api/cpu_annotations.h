#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "kube/objects/meta.h"
#include "kube/objects/resource_list.h"

// Which CPUs and NUMA nodes pods want and get, and which a node keeps for itself.
namespace koord::api {

inline constexpr std::string_view kCpuBindDefault = "Default";
inline constexpr std::string_view kCpuBindFullPcpus = "FullPCPUs";
inline constexpr std::string_view kCpuBindSpreadByPcpus = "SpreadByPCPUs";
inline constexpr std::string_view kCpuBindConstrainedBurst = "ConstrainedBurst";

inline constexpr std::string_view kCpuExclusiveNone = "None";
inline constexpr std::string_view kCpuExclusivePcpuLevel = "PCPULevel";
inline constexpr std::string_view kCpuExclusiveNumaNodeLevel = "NUMANodeLevel";

inline constexpr std::string_view kNumaTopologyBestEffort = "BestEffort";
inline constexpr std::string_view kNumaTopologyRestricted = "Restricted";
inline constexpr std::string_view kNumaTopologySingleNumaNode = "SingleNUMANode";

// scheduling.koordinator.sh/resource-spec
struct ResourceSpec {
  std::string required_cpu_bind_policy;
  std::string preferred_cpu_bind_policy;
  std::string preferred_cpu_exclusive_policy;

  static void Fields(auto& self, auto&& field) {
    field("requiredCPUBindPolicy", self.required_cpu_bind_policy);
    field("preferredCPUBindPolicy", self.preferred_cpu_bind_policy);
    field("preferredCPUExclusivePolicy", self.preferred_cpu_exclusive_policy);
  }
  bool operator==(const ResourceSpec&) const = default;
};

StatusOr<std::optional<ResourceSpec>> ResourceSpecOf(const kube::Annotations& annotations);
std::string EncodeResourceSpec(const ResourceSpec& spec);

// scheduling.koordinator.sh/numa-topology-spec
struct NumaTopologySpec {
  std::string numa_topology_policy;        // empty, BestEffort, Restricted, SingleNUMANode
  std::string single_numa_node_exclusive;  // empty, Preferred, Required

  static void Fields(auto& self, auto&& field) {
    field("numaTopologyPolicy", self.numa_topology_policy);
    field("singleNUMANodeExclusive", self.single_numa_node_exclusive);
  }
  bool operator==(const NumaTopologySpec&) const = default;
};

StatusOr<std::optional<NumaTopologySpec>> NumaTopologySpecOf(const kube::Annotations& annotations);

struct NumaNodeResource {
  int32_t node = 0;
  kube::ResourceList resources;

  static void Fields(auto& self, auto&& field) {
    field("node", kube::Always(self.node));
    field("resources", self.resources);
  }
  bool operator==(const NumaNodeResource&) const = default;
};

// scheduling.koordinator.sh/resource-status
struct ResourceStatus {
  std::string cpuset;  // "0-3,8"
  std::vector<NumaNodeResource> numa_node_resources;

  static void Fields(auto& self, auto&& field) {
    field("cpuset", self.cpuset);
    field("numaNodeResources", self.numa_node_resources);
  }
  bool operator==(const ResourceStatus&) const = default;
};

StatusOr<std::optional<ResourceStatus>> ResourceStatusOf(const kube::Annotations& annotations);
std::string EncodeResourceStatus(const ResourceStatus& status);

// node.koordinator.sh/reservation
struct NodeReservation {
  kube::ResourceList resources;
  std::string reserved_cpus;  // a list of CPUs, as the user wrote it
  std::string apply_policy;   // Default (also when empty), ReservedCPUsOnly

  static void Fields(auto& self, auto&& field) {
    field("resources", self.resources);
    field("reservedCPUs", self.reserved_cpus);
    field("applyPolicy", self.apply_policy);
  }
  bool operator==(const NodeReservation&) const = default;
};

// An empty annotation counts as absent.
StatusOr<std::optional<NodeReservation>> NodeReservationOf(const kube::Annotations& annotations);
// How many CPUs are to be picked: the amount of cpu rounded up; none where a list names them.
int64_t ReservedCpuCount(const NodeReservation& reservation);

// node.koordinator.sh/system-qos-resource
struct SystemQosResource {
  std::string cpuset;
  std::optional<bool> cpuset_exclusive;  // true when absent

  static void Fields(auto& self, auto&& field) {
    field("cpuset", self.cpuset);
    field("cpusetExclusive", self.cpuset_exclusive);
  }
  bool operator==(const SystemQosResource&) const = default;
};

StatusOr<std::optional<SystemQosResource>> SystemQosResourceOf(
    const kube::Annotations& annotations);

}  // namespace koord::api
