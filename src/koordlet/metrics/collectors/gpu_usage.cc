#include "koordlet/metrics/collectors/gpu_usage.h"

#include <algorithm>

namespace koord::koordlet {
namespace {

constexpr Duration kInventoryInterval = std::chrono::seconds(10);

}  // namespace

void GpuUsageCollector::CollectInventory() {
  if (inventory_at_.has_value() && Now() - *inventory_at_ < kInventoryInterval) return;
  inventory_at_ = Now();
  auto inventory = context_.gpus->Inventory();
  if (!inventory.ok()) return Complain("GPUs", inventory.status());
  context_.info.SetGpus(std::move(*inventory));
}

GpuUsageCollector::Shares GpuUsageCollector::SharesOf(Pods::Entry& container,
                                                      const ProcessShares& processes) {
  const auto text = container.memory.Read(context_.host.cgroups(), CgroupFile::kProcesses,
                                          container.dir(), buffer_);
  const auto pids = text.ok() ? ParseIds(*text) : StatusOr<std::vector<int32_t>>(text.status());
  Shares shares;
  if (!pids.ok()) {
    Complain(container.dir(), pids.status());
    return shares;
  }
  for (const int32_t pid : *pids) {
    if (const auto it = processes.find(pid); it != processes.end()) {
      shares.insert(shares.end(), it->second.begin(), it->second.end());
    }
  }
  return shares;
}

void GpuUsageCollector::Store(const std::vector<GpuDevices::DeviceUsage>& devices,
                              const Pods::Entry& entry, const Shares& shares) {
  const bool is_pod = entry.container == nullptr;
  for (size_t i = 0; i < devices.size(); ++i) {
    Share sum;
    bool uses = false;
    for (const Share& share : shares) {
      if (share.device != i) continue;
      uses = true;
      sum.core_percent += share.core_percent;
      sum.memory += share.memory;
    }
    if (!uses) continue;
    context_.store.Append({is_pod ? Metric::kPodGpuCore : Metric::kContainerGpuCore,
                           entry.subject(), devices[i].uuid},
                          sum.core_percent);
    context_.store.Append({is_pod ? Metric::kPodGpuMemory : Metric::kContainerGpuMemory,
                           entry.subject(), devices[i].uuid},
                          sum.memory);
  }
}

void GpuUsageCollector::CollectPods(const std::vector<GpuDevices::DeviceUsage>& devices,
                                    const ProcessShares& processes) {
  pods_.Follow(context_.state);
  auto& entries = pods_.entries();
  for (size_t i = 0; i < entries.size();) {
    const Pods::Entry& pod = entries[i++];
    Shares of_pod;
    for (; i < entries.size() && entries[i].container != nullptr; ++i) {
      const Shares shares = SharesOf(entries[i], processes);
      Store(devices, entries[i], shares);
      of_pod.insert(of_pod.end(), shares.begin(), shares.end());
    }
    Store(devices, pod, of_pod);
  }
}

void GpuUsageCollector::Collect() {
  CollectInventory();
  const auto devices = context_.gpus->Usage();
  has_synced_ = true;
  if (!devices.ok()) return Complain("GPUs", devices.status());
  ProcessShares processes;
  for (size_t i = 0; i < devices->size(); ++i) {
    const GpuDevices::DeviceUsage& device = (*devices)[i];
    context_.store.Append({Metric::kNodeGpuCore, device.uuid}, device.core_percent);
    context_.store.Append({Metric::kNodeGpuMemory, device.uuid},
                          static_cast<double>(device.memory));
    for (const GpuDevices::ProcessUsage& process : device.processes) {
      processes[process.pid].push_back(
          {i, process.core_percent, static_cast<double>(process.memory)});
    }
  }
  // Whose processes they are costs a read for every container.
  if (!processes.empty() && context_.state.has_pods()) CollectPods(*devices, processes);
}

}  // namespace koord::koordlet
