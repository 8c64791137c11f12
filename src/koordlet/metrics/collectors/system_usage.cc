#include "koordlet/metrics/collectors/system_usage.h"

#include <algorithm>

namespace koord::koordlet {

bool SystemUsageCollector::IsFresh(const UsageSum& sum) const {
  return sum.is_known && Now() - sum.at <= context_.options.system_outdated;
}

void SystemUsageCollector::CollectNuma(double system_cores) {
  const SharedUsage& usage = context_.usage;
  const size_t nodes = std::max(usage.node.numa_bytes.size(), usage.node.numa_cores.size());
  while (numa_names_.size() < nodes) numa_names_.push_back(std::to_string(numa_names_.size()));
  for (size_t i = 0; i < usage.node.numa_bytes.size(); ++i) {
    const double pods = i < usage.pods.numa_bytes.size() ? usage.pods.numa_bytes[i] : 0;
    context_.store.Append({Metric::kSystemNumaMemory, "", numa_names_[i]},
                          std::max(usage.node.numa_bytes[i] - pods, 0.0));
  }
  // The kernel does not say on which node a pod's CPU time was spent.
  for (size_t i = 0; i < usage.node.numa_cores.size(); ++i) {
    const double share = usage.node.cores > 0 ? usage.node.numa_cores[i] / usage.node.cores : 0;
    context_.store.Append({Metric::kSystemNumaCpu, "", numa_names_[i]}, system_cores * share);
  }
}

void SystemUsageCollector::Collect() {
  const SharedUsage& usage = context_.usage;
  if (!IsFresh(usage.node) || !IsFresh(usage.pods) || !IsFresh(usage.host_applications)) return;
  const double cores =
      std::max(usage.node.cores - usage.pods.cores - usage.host_applications.cores, 0.0);
  const double bytes =
      std::max(usage.node.bytes - usage.pods.bytes - usage.host_applications.bytes, 0.0);
  context_.store.Append({Metric::kSystemCpu}, cores);
  context_.store.Append({Metric::kSystemMemory}, bytes);
  CollectNuma(cores);
  has_synced_ = true;
}

}  // namespace koord::koordlet
