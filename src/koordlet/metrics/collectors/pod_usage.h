#pragma once
#include "koordlet/informers/tracked_pods.h"
#include "koordlet/metrics/collectors/cgroup_usage.h"

namespace koord::koordlet {

// CPU of every pod and container, memory of pods, and how containers whose quota may be raised are
// throttled, all from the cgroups' own counters.
//
// This is most of what koordlet costs, since the kernel writes a text for each of hundreds of files
// each second. So only what somebody asks for is read, and where one file has what two would say
// (in version 1 memory.numa_stat has the lists of memory.stat), one is.
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
  };
  struct Memory {
    CgroupCpu cpu;
    CgroupMemory memory;  // of pods
    KeptFile numa;        // of pods
    CgroupCpu::Throttling throttling = CgroupCpu::Throttling::kIgnored;
    Slots slots;
  };
  using Pods = TrackedPods<Memory>;

  void Follow();
  void CollectPod(Pods::Entry& entry, UsageSum& sum);
  void CollectContainer(Pods::Entry& entry);
  StatusOr<CgroupCpu::Sample> ReadCpu(Pods::Entry& entry);
  StatusOr<MemoryUse> ReadMemory(Pods::Entry& entry, UsageSum& sum);
  std::optional<NumaStat> ReadNuma(Pods::Entry& entry);

  Pods pods_;
  std::string buffer_;
  bool has_synced_ = false;
};

}  // namespace koord::koordlet
