#include "koordlet/metrics/collectors/pod_usage.h"

namespace koord::koordlet {
namespace {

struct LevelMetrics {
  Metric cpu;
  Metric memory;
  Metric with_page_cache;
  Metric throttled;
};
constexpr LevelMetrics kPod{Metric::kPodCpu, Metric::kPodMemory, Metric::kPodMemoryWithPageCache,
                            Metric::kPodThrottled};
constexpr LevelMetrics kContainer{Metric::kContainerCpu, Metric::kContainerMemory,
                                  Metric::kContainerMemoryWithPageCache,
                                  Metric::kContainerThrottled};
constexpr double kBytesPerPage = 4096;

}  // namespace

void PodUsageCollector::CollectUsage(Pods::Entry& entry, UsageSum& sum) {
  const auto sample =
      entry.memory.usage.Read(context_.host.cgroups(), entry.dir(), Now(), MaxAge(), buffer_);
  if (!sample.ok()) return Complain(entry.dir(), sample.status());
  const bool is_pod = entry.container == nullptr;
  const LevelMetrics& metrics = is_pod ? kPod : kContainer;
  const auto append = [&](Metric metric, double value, MetricSlot& slot) {
    context_.store.Append({metric, entry.subject()}, value, slot);
  };
  Slots& slots = entry.memory.slots;
  if (sample->throttled.has_value()) {
    append(metrics.throttled, *sample->throttled, slots.throttled);
  }
  if (!sample->cores.has_value()) return;
  const double memory = UsedMemory(sample->memory);
  append(metrics.cpu, *sample->cores, slots.cpu);
  append(metrics.memory, memory, slots.memory);
  if (context_.options.page_cache) {
    append(metrics.with_page_cache, WithPageCache(sample->memory), slots.with_page_cache);
  }
  if (!is_pod) return;
  sum.cores += *sample->cores;
  sum.bytes += memory;
}

void PodUsageCollector::CollectNumaMemory(Pods::Entry& entry, UsageSum& sum) {
  const Cgroups& cgroups = context_.host.cgroups();
  const auto text =
      entry.memory.numa.Read(cgroups, CgroupFile::kMemoryNumaStat, entry.dir(), buffer_);
  if (!text.ok()) return Complain(entry.dir(), text.status());
  const auto pages = ParseNumaStat(*text, cgroups.layout().version);
  if (!pages.ok()) return Complain(entry.dir(), pages.status());
  std::vector<MetricSlot>& slots = entry.memory.slots.numa;
  if (slots.size() < pages->size()) slots.resize(pages->size());
  for (size_t node = 0; node < pages->size(); ++node) {
    if (numa_names_.size() <= node) numa_names_.push_back(std::to_string(node));
    if (sum.numa_bytes.size() <= node) sum.numa_bytes.resize(node + 1);
    const double bytes = static_cast<double>((*pages)[node]) * kBytesPerPage;
    sum.numa_bytes[node] += bytes;
    context_.store.Append({Metric::kPodNumaMemory, entry.subject(), numa_names_[node]}, bytes,
                          slots[node]);
  }
}

void PodUsageCollector::Collect() {
  if (!context_.state.has_pods()) return;
  if (pods_.Follow(context_.state)) {
    // What is remembered is that of a directory, which may be another pod's now.
    for (Pods::Entry& entry : pods_.entries()) entry.memory.slots = {};
  }
  UsageSum sum;
  for (Pods::Entry& entry : pods_.entries()) {
    CollectUsage(entry, sum);
    if (entry.container == nullptr) CollectNumaMemory(entry, sum);
  }
  sum.at = Now();
  sum.is_known = true;
  context_.usage.pods = std::move(sum);
  has_synced_ = true;
}

}  // namespace koord::koordlet
