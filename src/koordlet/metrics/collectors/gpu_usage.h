#pragma once
#include <absl/container/flat_hash_map.h>

#include "koordlet/informers/tracked_pods.h"
#include "koordlet/metrics/collectors/collector.h"
#include "koordlet/metrics/gpu/gpu_devices.h"

namespace koord::koordlet {

// Cores and memory of GPUs: of each as a whole, and of each pod and container by the processes that
// run in it.
class GpuUsageCollector final : public Collector {
 public:
  explicit GpuUsageCollector(CollectorContext context) : Collector(context) {}

  std::string_view name() const override { return "GPU usage"; }
  bool enabled() const override {
    return context_.gates.Enabled("Accelerators") && context_.gpus != nullptr;
  }
  void Collect() override;
  bool has_synced() const override { return has_synced_; }

 private:
  using Pods = TrackedPods<KeptFile>;
  struct Share {
    size_t device = 0;
    double core_percent = 0;
    double memory = 0;
  };
  using Shares = std::vector<Share>;  // of one pod or container
  using ProcessShares = absl::flat_hash_map<int32_t, Shares>;

  void CollectInventory();
  void CollectPods(const std::vector<GpuDevices::DeviceUsage>& devices,
                   const ProcessShares& processes);
  Shares SharesOf(Pods::Entry& container, const ProcessShares& processes);
  void Store(const std::vector<GpuDevices::DeviceUsage>& devices, const Pods::Entry& entry,
             const Shares& shares);

  Pods pods_;
  std::string buffer_;
  std::optional<SteadyTime> inventory_at_;
  bool has_synced_ = false;
};

}  // namespace koord::koordlet
