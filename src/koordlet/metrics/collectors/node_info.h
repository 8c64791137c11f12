#pragma once
#include "koordlet/metrics/collectors/collector.h"

namespace koord::koordlet {

// The processors of the machine, for everybody who places something on them.
class CpuInfoCollector final : public Collector {
 public:
  explicit CpuInfoCollector(CollectorContext context);

  std::string_view name() const override { return "CPU info"; }
  Duration interval() const override { return context_.options.cpu_info_interval; }
  void Collect() override;
  bool has_synced() const override { return context_.info.cpu() != nullptr; }

 private:
  metrics::Counters& status_;
};

// Disks, volume groups and mounts, for limits of block I/O. Looked up again only when the kernel's
// own lists have changed, and once a minute.
class StorageInfoCollector final : public Collector {
 public:
  explicit StorageInfoCollector(CollectorContext context);

  std::string_view name() const override { return "storage info"; }
  bool enabled() const override { return context_.gates.Enabled("BlkIOReconcile"); }
  Duration interval() const override { return context_.options.storage_interval; }
  void Collect() override;
  bool has_synced() const override { return context_.info.storage() != nullptr; }

 private:
  size_t fingerprint_ = 0;
  std::optional<SteadyTime> read_at_;
  metrics::Counters& status_;
};

// What Koordinator adds to the node and containers ask for, as metrics only.
class ResourceMetricsCollector final : public Collector {
 public:
  explicit ResourceMetricsCollector(CollectorContext context);

  std::string_view name() const override { return "resource metrics"; }
  void Collect() override;
  bool has_synced() const override { return true; }

 private:
  void ShowNode(const kube::Node& node);
  void ShowPods(const NodePods& pods);

  std::shared_ptr<const kube::Node> node_;
  std::shared_ptr<const NodePods> pods_;
  metrics::Gauges& allocatable_;
  metrics::Gauges& requests_;
  metrics::Gauges& limits_;
};

}  // namespace koord::koordlet
