#pragma once
#include <memory>
#include <vector>

#include "koordlet/metrics/collectors/collector.h"

namespace koord::koordlet {

// The CPU and memory that the whole node and its NUMA nodes use: everything that runs, pods or not.
// Memory without page cache is what could not be had by dropping caches.
class NodeUsageCollector final : public Collector {
 public:
  explicit NodeUsageCollector(CollectorContext context);

  std::string_view name() const override { return "node usage"; }
  void Collect() override;
  bool has_synced() const override { return has_synced_; }

 private:
  struct Cpu {
    double cores = 0;
    std::vector<double> numa_cores;
  };

  StatusOr<std::optional<Cpu>> ReadCpu();
  void FollowTopology();
  void CollectNuma(const std::vector<double>& numa_cores);

  KeptPath stat_{"stat"};
  KeptPath meminfo_{"meminfo"};
  std::string buffer_;
  RateCounter ticks_;
  std::shared_ptr<const CpuInfo> topology_;
  std::vector<int32_t> node_of_cpu_;  // -1: unknown
  std::vector<RateCounter> numa_ticks_;
  std::vector<int64_t> numa_sums_;
  std::vector<std::string> numa_names_;
  bool has_synced_ = false;

  metrics::Gauges& used_cpu_;
  metrics::Gauges& used_memory_;
  metrics::Counters& numa_status_;
};

}  // namespace koord::koordlet
