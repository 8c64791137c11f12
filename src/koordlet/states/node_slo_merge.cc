#include "koordlet/states/node_slo_merge.h"

#include <fmt/format.h>

#include <limits>

#include "base/log.h"
#include "kube/json.h"

namespace koord::koordlet {
namespace {

using api::NodeSloSpec;
using kube::Json;

constexpr int64_t kAny = std::numeric_limits<int64_t>::max();
constexpr int64_t kAnyInt32 = std::numeric_limits<int32_t>::max();

// --- Defaults ---

api::CpuQos CpuQosOf(int64_t identity, bool expeller) {
  return {.enable = false, .group_identity = identity, .sched_idle = 0, .core_expeller = expeller};
}

api::ResctrlQos ResctrlQosOf(int64_t end_percent) {
  return {.enable = false,
          .cat_range_start_percent = 0,
          .cat_range_end_percent = end_percent,
          .mba_percent = 100};
}

api::MemoryQos MemoryQosOf(int64_t ratio, int64_t permill, int64_t min_adj) {
  api::MemoryQos qos;
  qos.enable = false;
  qos.min_limit_percent = 0;
  qos.low_limit_percent = 0;
  qos.throttling_percent = 0;
  qos.wmark_ratio = ratio;
  qos.wmark_scale_permill = permill;
  qos.wmark_min_adj = min_adj;
  qos.priority_enable = 0;
  qos.priority = 0;
  qos.oom_kill_group = 0;
  return qos;
}

api::NetworkQos NoNetworkQos() {
  const kube::IntOrString zero(0);
  return {.enable = false,
          .ingress_request = zero,
          .ingress_limit = zero,
          .egress_request = zero,
          .egress_limit = zero};
}

api::ResourceQos ClassOf(const api::CpuQos& cpu, const api::ResctrlQos& resctrl,
                         const api::MemoryQos& memory) {
  return {.cpu_qos = cpu,
          .memory_qos = memory,
          .blkio_qos = api::BlkioQos{.enable = false, .blocks = {}},
          .resctrl_qos = resctrl,
          .network_qos = NoNetworkQos()};
}

NodeSloSpec MakeDefaults() {
  NodeSloSpec spec;
  api::ResourceThresholdStrategy threshold;
  threshold.enable = false;
  threshold.cpu_suppress_threshold_percent = 65;
  threshold.cpu_suppress_policy = "cpuset";
  threshold.memory_evict_threshold_percent = 70;
  threshold.cpu_evict_policy = "evictByRealLimit";
  spec.resource_used_threshold_with_be = threshold;

  api::ResourceQosStrategy qos;
  qos.policies = api::QosPolicies{.cpu_policy = "groupIdentity", .net_qos_policy = "tc"};
  const api::ResourceQos latency_sensitive =
      ClassOf(CpuQosOf(2, true), ResctrlQosOf(100), MemoryQosOf(95, 20, -25));
  qos.lsr_class = latency_sensitive;
  qos.ls_class = latency_sensitive;
  qos.be_class = ClassOf(CpuQosOf(-1, false), ResctrlQosOf(30), MemoryQosOf(95, 20, 50));
  qos.system_class = ClassOf(CpuQosOf(0, false), ResctrlQosOf(100), MemoryQosOf(0, 50, 0));
  qos.cgroup_root = api::ResourceQos{.cpu_qos = {},
                                     .memory_qos = {},
                                     .blkio_qos = api::BlkioQos{.enable = false, .blocks = {}},
                                     .resctrl_qos = {},
                                     .network_qos = {}};
  spec.resource_qos_strategy = qos;

  api::CpuBurstStrategy burst;
  burst.policy = "none";
  burst.cpu_burst_percent = 1000;
  burst.cfs_quota_burst_percent = 300;
  burst.cfs_quota_burst_period_seconds = -1;
  burst.share_pool_threshold_percent = 50;
  spec.cpu_burst_strategy = burst;
  spec.system_strategy = api::SystemStrategy{};
  return spec;
}

// --- Numbers that make sense ---

struct Range {
  std::string_view name;
  int64_t least;
  int64_t most;
};

constexpr Range kThresholdRanges[] = {
    {"cpuSuppressThresholdPercent", 0, 100},
    {"cpuSuppressMinPercent", 0, 100},
    {"memoryEvictThresholdPercent", 0, 100},
    {"memoryEvictLowerPercent", 0, 100},
    // Of what is requested, which may be more than there is.
    {"memoryAllocatableEvictThresholdPercent", 0, 10000},
    {"memoryAllocatableEvictLowerPercent", 0, 10000},
    {"cpuAllocatableEvictThresholdPercent", 0, 10000},
    {"cpuAllocatableEvictLowerPercent", 0, 10000},
    {"cpuEvictBESatisfactionUpperPercent", 0, 100},
    {"cpuEvictBESatisfactionLowerPercent", 0, 100},
    {"cpuEvictBEUsageThresholdPercent", 0, 100},
    {"cpuEvictTimeWindowSeconds", 1, 86400},
    {"cpuEvictThresholdPercent", 0, 100},
    {"cpuEvictLowerPercent", 0, 100},
    {"evictEnabledPriorityThreshold", -kAnyInt32 - 1, kAnyInt32},
    {"allocatableEvictPriorityThreshold", -kAnyInt32 - 1, 7999},
};
constexpr Range kBurstRanges[] = {
    {"cpuBurstPercent", 0, 10000},
    {"cfsQuotaBurstPercent", 0, 10000},
    {"cfsQuotaBurstPeriodSeconds", -1, 86400 * 365},
    {"sharePoolThresholdPercent", 0, 100},
};
constexpr Range kCpuQosRanges[] = {{"groupIdentity", -1, 2}, {"schedIdle", 0, 1}};
constexpr Range kResctrlRanges[] = {
    {"catRangeStartPercent", 0, 100}, {"catRangeEndPercent", 0, 100}, {"mbaPercent", 0, 100}};
constexpr Range kMemoryRanges[] = {
    {"minLimitPercent", 0, 100},    {"lowLimitPercent", 0, 100},
    {"throttlingPercent", 0, 100},  {"wmarkRatio", 0, 100},
    {"wmarkScalePermill", 1, 1000}, {"wmarkMinAdj", -25, 50},
    {"priorityEnable", 0, 1},       {"priority", 0, 12},
    {"oomKillGroup", 0, 1},         {"pageCacheLimitPercent", 0, 100},
};
constexpr Range kSystemRanges[] = {
    {"minFreeKbytesFactor", 0, 10000}, {"watermarkScaleFactor", 0, 3000},
    {"memcgReapBackGround", 0, 1},     {"schedGroupIdentityEnabled", 0, 1},
    {"schedIdleSaverWmark", 0, kAny},  {"pageCacheLimitEnabled", 0, 1},
};
constexpr std::string_view kClasses[] = {"lsrClass", "lsClass", "beClass", "systemClass",
                                         "cgroupRoot"};

// Says of each number that was left out why.
class Checker {
 public:
  Checker(std::string_view object, Complaints& complaints)
      : object_(object), complaints_(complaints) {}

  void Check(Json& spec) {
    CheckIn(spec, "resourceUsedThresholdWithBE", kThresholdRanges);
    CheckIn(spec, "cpuBurstStrategy", kBurstRanges);
    CheckIn(spec, "systemStrategy", kSystemRanges);
    Json* strategy = kube::Find(spec, {"resourceQOSStrategy"});
    if (strategy == nullptr) return;
    for (std::string_view name : kClasses) {
      Json* block = kube::Find(*strategy, {name});
      if (block == nullptr) continue;
      CheckIn(*block, "cpuQOS", kCpuQosRanges, name);
      CheckIn(*block, "resctrlQOS", kResctrlRanges, name);
      CheckIn(*block, "memoryQOS", kMemoryRanges, name);
    }
    CheckChoice(spec, {"resourceUsedThresholdWithBE", "cpuSuppressPolicy"}, {"cpuset", "cfsQuota"});
    CheckChoice(spec, {"resourceUsedThresholdWithBE", "cpuEvictPolicy"},
                {"evictByRealLimit", "evictByAllocatable"});
    CheckChoice(spec, {"cpuBurstStrategy", "policy"},
                {"none", "cpuBurstOnly", "cfsQuotaBurstOnly", "auto"});
  }

 private:
  template <size_t n>
  void CheckIn(Json& parent, std::string_view section, const Range (&ranges)[n],
               std::string_view above = {}) {
    Json* found = kube::Find(parent, {section});
    if (found == nullptr || !found->is_object()) return;
    kube::json::object& object = found->as_object();
    for (const Range& range : ranges) {
      const auto it = object.find(range.name);
      if (it == object.end() || !it->value().is_int64()) continue;
      const int64_t value = it->value().as_int64();
      const std::string field =
          fmt::format("{}{}{}.{}", above, above.empty() ? "" : ".", section, range.name);
      if (value >= range.least && value <= range.most) {
        complaints_.Forget(object_, field);
        continue;
      }
      Complain(field, fmt::format("{} is not from {} to {}", value, range.least, range.most));
      object.erase(it);
    }
  }

  void CheckChoice(Json& spec, std::initializer_list<std::string_view> path,
                   std::initializer_list<std::string_view> choices) {
    const Json* found = kube::Find(spec, path);
    if (found == nullptr || !found->is_string()) return;
    const std::string_view value(found->as_string().data(), found->as_string().size());
    if (value.empty()) return;
    for (std::string_view choice : choices) {
      if (value == choice) return complaints_.Forget(object_, Join(path, "."));
    }
    Complain(Join(path, "."), fmt::format("{} is none of {}", Quote(value), Join(choices, ", ")));
    kube::Find(spec, {*path.begin()})->as_object().erase(*(path.end() - 1));
  }

  void Complain(const std::string& field, const std::string& problem) {
    if (!complaints_.IsNew(object_, field, problem)) return;
    LOG_WARNING("NodeSLO asks for something that makes no sense, the default holds instead",
                {"nodeSLO", object_}, {"field", field}, {"problem", problem});
  }

  const std::string_view object_;
  Complaints& complaints_;
};

// What is present wins; lists are replaced, and an empty text is as good as none.
void Overlay(Json& base, const Json& over) {
  if (!base.is_object() || !over.is_object()) {
    base = over;
    return;
  }
  for (const auto& [name, value] : over.as_object()) {
    if (value.is_null() || (value.is_string() && value.as_string().empty())) continue;
    Overlay(base.as_object()[name], value);
  }
}

// --- Blocks that are switched off ---

template <class Block>
void DropDisabled(std::optional<Block>& block, const Block& none) {
  if (!block || block->enable.value_or(false)) return;
  *block = none;
  block->enable = false;
}

void DropDisabledBlocks(std::optional<api::ResourceQos>& qos) {
  if (!qos) return;
  DropDisabled(qos->cpu_qos, CpuQosNone());
  DropDisabled(qos->resctrl_qos, ResctrlQosNone());
  DropDisabled(qos->memory_qos, MemoryQosNone());
}

}  // namespace

const NodeSloSpec& DefaultNodeSlo() {
  static const NodeSloSpec& spec = *new NodeSloSpec(MakeDefaults());
  return spec;
}

const api::CpuQos& CpuQosNone() {
  static const api::CpuQos& none = *new api::CpuQos(CpuQosOf(0, false));
  return none;
}

const api::ResctrlQos& ResctrlQosNone() {
  static const api::ResctrlQos& none = *new api::ResctrlQos(ResctrlQosOf(100));
  return none;
}

const api::MemoryQos& MemoryQosNone() {
  static const api::MemoryQos& none = *new api::MemoryQos(MemoryQosOf(0, 50, 0));
  return none;
}

const api::MemoryQos& DefaultMemoryQos(std::string_view class_name) {
  const api::ResourceQosStrategy& strategy = *DefaultNodeSlo().resource_qos_strategy;
  if (class_name == "BE") return *strategy.be_class->memory_qos;
  if (class_name == "SYSTEM") return *strategy.system_class->memory_qos;
  if (class_name == "LS") return *strategy.ls_class->memory_qos;
  return *strategy.lsr_class->memory_qos;
}

NodeSloSpec MergeNodeSlo(const NodeSloSpec& spec, std::string_view object, Complaints& complaints) {
  Json over = kube::Encode(spec);
  for (const char* as_it_is : {"hostApplications", "extensions"}) over.as_object().erase(as_it_is);
  Checker(object, complaints).Check(over);
  static const Json& defaults = *new Json(kube::Encode(DefaultNodeSlo()));
  Json merged = defaults;
  Overlay(merged, over);
  // Both sides were encoded from the same type, so that decoding cannot fail.
  NodeSloSpec result = kube::Decode<NodeSloSpec>(merged).value_or(DefaultNodeSlo());
  result.host_applications = spec.host_applications;
  if (auto& qos = result.resource_qos_strategy) {
    DropDisabledBlocks(qos->lsr_class);
    DropDisabledBlocks(qos->ls_class);
    DropDisabledBlocks(qos->be_class);
  }
  return result;
}

NodeSloSpec MergeNodeSlo(const NodeSloSpec& spec) {
  Complaints complaints;
  return MergeNodeSlo(spec, "", complaints);
}

}  // namespace koord::koordlet
