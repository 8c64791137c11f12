#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "kube/objects/meta.h"
#include "kube/objects/resource_list.h"
#include "kube/time.h"

// What is said of a node in annotations and labels, of the Node itself or of its
// NodeResourceTopology.
namespace koord::api {

// --- On NodeResourceTopology, by koordlet ---

struct CpuInfo {
  int32_t id = 0;
  int32_t core = 0;
  int32_t socket = 0;
  int32_t node = 0;

  static void Fields(auto& self, auto&& field) {
    field("id", kube::Always(self.id));
    field("core", kube::Always(self.core));
    field("socket", kube::Always(self.socket));
    field("node", kube::Always(self.node));
  }
  bool operator==(const CpuInfo&) const = default;
};

// node.koordinator.sh/cpu-topology
struct CpuTopology {
  std::vector<CpuInfo> detail;

  static void Fields(auto& self, auto&& field) { field("detail", self.detail); }
  bool operator==(const CpuTopology&) const = default;
};

StatusOr<std::optional<CpuTopology>> CpuTopologyOf(const kube::Annotations& annotations);
std::string EncodeCpuTopology(const CpuTopology& topology);

struct PodCpuAlloc {
  std::string ns;
  std::string name;
  std::string uid;
  std::string cpuset;
  bool managed_by_kubelet = false;

  static void Fields(auto& self, auto&& field) {
    field("namespace", self.ns);
    field("name", self.name);
    field("uid", self.uid);
    field("cpuset", self.cpuset);
    field("managedByKubelet", self.managed_by_kubelet);
  }
  bool operator==(const PodCpuAlloc&) const = default;
};

// node.koordinator.sh/pod-cpu-allocs; none where absent.
StatusOr<std::vector<PodCpuAlloc>> PodCpuAllocsOf(const kube::Annotations& annotations);
std::string EncodePodCpuAllocs(const std::vector<PodCpuAlloc>& allocs);

struct CpuSharedPool {
  int32_t socket = 0;
  int32_t node = 0;
  std::string cpuset;

  static void Fields(auto& self, auto&& field) {
    field("socket", kube::Always(self.socket));
    field("node", kube::Always(self.node));
    field("cpuset", self.cpuset);
  }
  bool operator==(const CpuSharedPool&) const = default;
};

// node.koordinator.sh/cpu-shared-pools and .../be-cpu-shared-pools: `key` says which; none where
// absent.
StatusOr<std::vector<CpuSharedPool>> CpuSharedPoolsOf(const kube::Annotations& annotations,
                                                      std::string_view key);
std::string EncodeCpuSharedPools(const std::vector<CpuSharedPool>& pools);

// kubelet.koordinator.sh/cpu-manager-policy
struct KubeletCpuManagerPolicy {
  std::string policy;  // static, none
  kube::Labels options;
  std::string reserved_cpus;

  static void Fields(auto& self, auto&& field) {
    field("policy", self.policy);
    field("options", self.options);
    field("reservedCPUs", self.reserved_cpus);
  }
  bool operator==(const KubeletCpuManagerPolicy&) const = default;
};

StatusOr<std::optional<KubeletCpuManagerPolicy>> KubeletCpuManagerPolicyOf(
    const kube::Annotations& annotations);
std::string EncodeKubeletCpuManagerPolicy(const KubeletCpuManagerPolicy& policy);

inline constexpr std::string_view kNodeCpuBindNone = "None";
inline constexpr std::string_view kNodeCpuBindFullPcpusOnly = "FullPCPUsOnly";
inline constexpr std::string_view kNodeCpuBindSpreadByPcpus = "SpreadByPCPUs";

// The policy in force: whole cores where the node's label or the kubelet insists on them, else what
// the label says.
std::string_view NodeCpuBindPolicyOf(const kube::Labels& node_labels,
                                     const KubeletCpuManagerPolicy& kubelet);

// node.koordinator.sh/cpu-basic-info
struct CpuBasicInfo {
  std::string cpu_model;
  bool hyper_thread_enabled = false;
  bool turbo_enabled = false;
  std::string cat_l3_cbm_mask;
  std::string vendor_id;

  static void Fields(auto& self, auto&& field) {
    field("cpuModel", self.cpu_model);
    field("hyperThreadEnabled", self.hyper_thread_enabled);
    field("turboEnabled", self.turbo_enabled);
    field("catL3CbmMask", self.cat_l3_cbm_mask);
    field("vendorID", self.vendor_id);
  }
  bool operator==(const CpuBasicInfo&) const = default;
};

StatusOr<std::optional<CpuBasicInfo>> CpuBasicInfoOf(const kube::Annotations& annotations);
std::string EncodeCpuBasicInfo(const CpuBasicInfo& info);
// "<model>_<hyper-threading>_<turbo>": CPUs that are worth the same.
std::string KeyOf(const CpuBasicInfo& info);

// --- On the Node ---

// node.koordinator.sh/cpu-normalization-ratio; nothing where absent.
StatusOr<std::optional<double>> CpuNormalizationRatioOf(const kube::Annotations& annotations);
std::string FormatRatio(double ratio);      // two decimals
bool IsRatioDifferent(double a, double b);  // by more than 0.01
// node.koordinator.sh/cpu-normalization-enabled; nothing where absent.
StatusOr<std::optional<bool>> CpuNormalizationEnabledOf(const kube::Labels& labels);

// node.koordinator.sh/resource-amplification-ratio
using AmplificationRatios = std::map<std::string, double, std::less<>>;
StatusOr<std::optional<AmplificationRatios>> AmplificationRatiosOf(
    const kube::Annotations& annotations);
std::string EncodeAmplificationRatios(const AmplificationRatios& ratios);  // two decimals each
// The amount that the scheduler counts with: rounded up, in milli-cores for cpu. Ratios up to 1
// change nothing.
kube::Quantity Amplify(std::string_view resource, const kube::Quantity& amount, double ratio);
// node.koordinator.sh/raw-allocatable
StatusOr<std::optional<kube::ResourceList>> RawAllocatableOf(const kube::Annotations& annotations);

// A ratio label such as node.koordinator.sh/cpu-reclaim-ratio, in percent; nothing where it is
// absent, malformed or negative.
std::optional<int64_t> RatioPercentOf(const kube::Labels& labels, std::string_view key);

// node.koordinator.sh/originExtendedAllocatable; nothing where absent.
StatusOr<std::optional<kube::ResourceList>> OriginExtendedAllocatableOf(
    const kube::Annotations& annotations);
std::string EncodeOriginExtendedAllocatable(const kube::ResourceList& resources);

struct ThirdPartyAllocation {
  std::string name;
  std::string priority;  // "koord-batch", ...
  kube::ResourceList resources;

  static void Fields(auto& self, auto&& field) {
    field("name", kube::Always(self.name));
    field("priority", kube::Always(self.priority));
    field("resources", self.resources);
  }
  bool operator==(const ThirdPartyAllocation&) const = default;
};

// node.koordinator.sh/thirdPartyAllocations; none where absent.
StatusOr<std::vector<ThirdPartyAllocation>> ThirdPartyAllocationsOf(
    const kube::Annotations& annotations);
// What all of them took of one priority class.
kube::ResourceList SumOf(const std::vector<ThirdPartyAllocation>& allocations,
                         std::string_view priority);

// node.koordinator.sh/network-bandwidth; nothing where absent.
StatusOr<std::optional<kube::Quantity>> NetworkBandwidthOf(const kube::Annotations& annotations);

struct AggregatedUsageThresholds {
  std::map<std::string, int64_t, std::less<>> usage_thresholds;
  std::string usage_aggregation_type;  // avg, p50, p90, p95, p99
  std::optional<Duration> usage_aggregated_duration;

  static void Fields(auto& self, auto&& field) {
    field("usageThresholds", self.usage_thresholds);
    field("usageAggregationType", self.usage_aggregation_type);
    field("usageAggregatedDuration", self.usage_aggregated_duration);
  }
  bool operator==(const AggregatedUsageThresholds&) const = default;
};

// scheduling.koordinator.sh/usage-thresholds: percent per resource.
struct UsageThresholds {
  std::map<std::string, int64_t, std::less<>> usage_thresholds;
  std::map<std::string, int64_t, std::less<>> prod_usage_thresholds;
  std::optional<AggregatedUsageThresholds> aggregated_usage;

  static void Fields(auto& self, auto&& field) {
    field("usageThresholds", self.usage_thresholds);
    field("prodUsageThresholds", self.prod_usage_thresholds);
    field("aggregatedUsage", self.aggregated_usage);
  }
  bool operator==(const UsageThresholds&) const = default;
};

StatusOr<std::optional<UsageThresholds>> UsageThresholdsOf(const kube::Annotations& annotations);

}  // namespace koord::api
