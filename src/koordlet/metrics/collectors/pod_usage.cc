#include "koordlet/metrics/collectors/pod_usage.h"

namespace koord::koordlet {
namespace {

constexpr double kBytesPerPage = 4096;

// Only CPU burst asks for it.
CgroupCpu::Throttling ThrottlingOf(const NodePod& pod, const NodeContainer* container) {
  const bool is_limited =
      container != nullptr && container->spec != nullptr &&
      kube::AmountOf(container->spec->resources.limits, kube::kCpu).MilliValue() > 0;
  return is_limited && MayBurst(pod) ? CgroupCpu::Throttling::kRead
                                     : CgroupCpu::Throttling::kIgnored;
}

}  // namespace

StatusOr<CgroupCpu::Sample> PodUsageCollector::ReadCpu(Pods::Entry& entry) {
  return entry.memory.cpu.Read(context_.host.cgroups(), entry.dir(), entry.memory.throttling, Now(),
                               MaxAge(), buffer_);
}

std::optional<NumaStat> PodUsageCollector::ReadNuma(Pods::Entry& entry) {
  const Cgroups& cgroups = context_.host.cgroups();
  const auto text =
      entry.memory.numa.Read(cgroups, CgroupFile::kMemoryNumaStat, entry.dir(), buffer_);
  auto stat = text.ok() ? ParseNumaStat(*text, cgroups.layout().version)
                        : StatusOr<NumaStat>(text.status());
  if (stat.ok()) return *std::move(stat);
  Complain(entry.dir(), stat.status());
  return std::nullopt;
}

StatusOr<MemoryUse> PodUsageCollector::ReadMemory(Pods::Entry& entry, UsageSum& sum) {
  const auto numa = ReadNuma(entry);
  if (numa.has_value()) {
    const std::vector<int64_t>& pages = numa->by_node;
    if (sum.numa_bytes.size() < pages.size()) sum.numa_bytes.resize(pages.size());
    for (size_t node = 0; node < pages.size(); ++node) {
      sum.numa_bytes[node] += static_cast<double>(pages[node]) * kBytesPerPage;
    }
    if (numa->lists) return UseOf(*numa->lists, context_.host.kernel().page_size());
  }
  return entry.memory.memory.Read(context_.host.cgroups(), entry.dir(), buffer_);
}

void PodUsageCollector::CollectPod(Pods::Entry& entry, UsageSum& sum) {
  const auto cpu = ReadCpu(entry);
  const auto memory = ReadMemory(entry, sum);
  if (!cpu.ok()) return Complain(entry.dir(), cpu.status());
  if (!memory.ok()) return Complain(entry.dir(), memory.status());
  if (!cpu->cores.has_value()) return;
  MetricStore& store = context_.store;
  Slots& slots = entry.memory.slots;
  store.Append({Metric::kPodCpu, entry.subject()}, *cpu->cores, slots.cpu);
  store.Append({Metric::kPodMemory, entry.subject()}, memory->used, slots.memory);
  if (context_.options.page_cache) {
    store.Append({Metric::kPodMemoryWithPageCache, entry.subject()}, memory->with_page_cache,
                 slots.with_page_cache);
  }
  sum.cores += *cpu->cores;
  sum.bytes += memory->used;
}

void PodUsageCollector::CollectContainer(Pods::Entry& entry) {
  const auto cpu = ReadCpu(entry);
  if (!cpu.ok()) return Complain(entry.dir(), cpu.status());
  MetricStore& store = context_.store;
  Slots& slots = entry.memory.slots;
  if (cpu->throttled.has_value()) {
    store.Append({Metric::kContainerThrottled, entry.subject()}, *cpu->throttled, slots.throttled);
  }
  if (cpu->cores.has_value()) {
    store.Append({Metric::kContainerCpu, entry.subject()}, *cpu->cores, slots.cpu);
  }
}

void PodUsageCollector::Follow() {
  if (!pods_.Follow(context_.state)) return;
  for (Pods::Entry& entry : pods_.entries()) {
    // What is remembered is that of a directory, which may be another pod's now.
    entry.memory.slots = {};
    entry.memory.throttling = ThrottlingOf(*entry.pod, entry.container);
  }
}

void PodUsageCollector::Collect() {
  if (!context_.state.has_pods()) return;
  Follow();
  UsageSum sum;
  for (Pods::Entry& entry : pods_.entries()) {
    if (entry.container == nullptr) {
      CollectPod(entry, sum);
    } else {
      CollectContainer(entry);
    }
  }
  sum.at = Now();
  sum.is_known = true;
  context_.usage.pods = std::move(sum);
  has_synced_ = true;
}

}  // namespace koord::koordlet
