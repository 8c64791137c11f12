#pragma once
#include "koordlet/metrics/collectors/cgroup_usage.h"
#include "koordlet/states/tracked_pods.h"

namespace koord::koordlet {

// CPU, memory and throttling of every pod and container, from the cgroups' own counters, and the
// memory of pods by NUMA node.
class PodUsageCollector final : public Collector {
 public:
  explicit PodUsageCollector(CollectorContext context) : Collector(context) {}

  std::string_view name() const override { return "pod usage"; }
  void Collect() override;
  bool has_synced() const override { return has_synced_; }

 private:
  struct Slots {
    MetricSlot cpu;
    MetricSlot memory;
    MetricSlot with_page_cache;
    MetricSlot throttled;
    std::vector<MetricSlot> numa;
  };
  struct Memory {
    CgroupUsage usage;
    KeptFile numa;
    Slots slots;
  };
  using Pods = TrackedPods<Memory>;

  void CollectUsage(Pods::Entry& entry, UsageSum& sum);
  void CollectNumaMemory(Pods::Entry& entry, UsageSum& sum);

  Pods pods_;
  std::string buffer_;
  std::vector<std::string> numa_names_;
  bool has_synced_ = false;
};

}  // namespace koord::koordlet
