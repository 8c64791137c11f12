#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/qos_strategy.h"
#include "base/status.h"
#include "kube/objects/meta.h"

// What a pod asks of koordlet for itself, over the class that it belongs to.
namespace koord::api {

// koordinator.sh/cpuBurst
StatusOr<std::optional<CpuBurstConfig>> CpuBurstConfigOf(const kube::Annotations& annotations);

// koordinator.sh/cpuQOS
StatusOr<std::optional<CpuQos>> CpuQosOf(const kube::Annotations& annotations);

// koordinator.sh/memoryQOS
struct PodMemoryQos : MemoryQos {
  std::string policy;  // default (also when empty), none, auto

  static void Fields(auto& self, auto&& field) {
    field("policy", self.policy);
    MemoryQos::Fields(self, field);
  }
  bool operator==(const PodMemoryQos&) const = default;
};

StatusOr<std::optional<PodMemoryQos>> MemoryQosOf(const kube::Annotations& annotations);

// koordinator.sh/blkioQOS; none where absent.
StatusOr<std::vector<BlockConfig>> BlkioBlocksOf(const kube::Annotations& annotations);

// koordinator.sh/networkQOS, in bytes per second; 0 is no limit.
struct PodNetworkLimits {
  int64_t ingress = 0;
  int64_t egress = 0;

  bool operator==(const PodNetworkLimits&) const = default;
};

StatusOr<std::optional<PodNetworkLimits>> NetworkLimitsOf(const kube::Annotations& annotations);

struct ResctrlSchemata {
  std::optional<int64_t> percent;
  std::vector<int64_t> range;  // of percentages: from, to

  static void Fields(auto& self, auto&& field) {
    field("percent", self.percent);
    field("range", self.range);
  }
  bool operator==(const ResctrlSchemata&) const = default;
};

struct ResctrlCacheSchemata : ResctrlSchemata {
  int64_t cache_id = 0;

  static void Fields(auto& self, auto&& field) {
    field("cacheID", kube::Always(self.cache_id));
    ResctrlSchemata::Fields(self, field);
  }
  bool operator==(const ResctrlCacheSchemata&) const = default;
};

struct ResctrlResource {
  ResctrlSchemata schemata;
  std::vector<ResctrlCacheSchemata> schemata_per_cache;  // over schemata

  static void Fields(auto& self, auto&& field) {
    field("schemata", self.schemata);
    field("schemataPerCache", self.schemata_per_cache);
  }
  bool operator==(const ResctrlResource&) const = default;
};

// node.koordinator.sh/resctrl
struct PodResctrl {
  ResctrlResource llc;
  ResctrlResource mb;

  static void Fields(auto& self, auto&& field) {
    field("llc", self.llc);
    field("mb", self.mb);
  }
  bool operator==(const PodResctrl&) const = default;
};

StatusOr<std::optional<PodResctrl>> ResctrlOf(const kube::Annotations& annotations);

// koordinator.sh/eviction-policy: whether the named feature may evict the pod. Every feature may
// where the annotation is absent, none where it is malformed.
bool MayBeEvictedBy(const kube::Annotations& annotations, std::string_view feature);
// koordinator.sh/eviction-priority: lower goes first; 0 where absent or malformed.
int32_t EvictionPriorityOf(const kube::Annotations& annotations);

// koordinator.sh/oom-score-adj-spec and .../oom-score-adj: the value for a container; nothing where
// neither says anything good, or where the spec is malformed.
std::optional<int32_t> OomScoreAdjOf(const kube::Annotations& annotations,
                                     std::string_view container);

// runtimeproxy.koordinator.sh/skip-hookserver, as label or annotation.
bool SkipsHookServer(const kube::ObjectMeta& pod);

}  // namespace koord::api
