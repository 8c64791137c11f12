#include "koordlet/qos/memory_evict/memory_evict.h"

#include <algorithm>
#include <utility>

#include "koordlet/qos/framework/amounts.h"
#include "koordlet/qos/framework/node_inputs.h"

namespace koord::koordlet {
namespace {

constexpr std::string_view kBe = "BEMemoryEvict";
constexpr std::string_view kAllocatable = "MemoryAllocatableEvict";
constexpr std::string_view kUsage = "MemoryEvict";

struct BeVictim {
  const NodePod* pod;
  int32_t priority;
  int64_t used;  // 0: not known
};

bool GoesBefore(const BeVictim& a, const BeVictim& b) {
  if (a.priority != b.priority) return a.priority < b.priority;
  if (a.used == 0 && b.used == 0) {
    return a.pod->pod->metadata.name > b.pod->pod->metadata.name;
  }
  return a.used > b.used;
}

}  // namespace

MemoryEvict::MemoryEvict(const QosContext& context)
    : context_(context),
      cool_time_(context.options.memory_evict_cool_time, context.clock, context.evictor) {}

void MemoryEvict::Run() {
  if (ThresholdSwitchOf(context_.state) != ThresholdSwitch::kOn || !cool_time_.Over()) return;
  const auto& node = context_.state.node();
  if (node == nullptr) return;
  const int64_t capacity = ValueOf(node->status.capacity, kube::kMemory).value_or(0);
  if (capacity <= 0) return;
  const Strategy& strategy = *context_.state.slo()->resource_used_threshold_with_be;
  const std::optional<int64_t> release = Release(strategy, capacity);
  std::vector<EvictionTask> tasks;
  if (context_.gates.Enabled(kBe) && release) {
    tasks.push_back(
        {.feature = kBe, .release = {{kube::kMemory, *release}}, .victims = BeVictims()});
  }
  if (context_.gates.Enabled(kAllocatable)) {
    const auto limits = CheckAllocatableLimits(strategy.memory_allocatable_evict_threshold_percent,
                                               strategy.memory_allocatable_evict_lower_percent,
                                               strategy.allocatable_evict_priority_threshold);
    auto task = limits ? AllocatableTask(context_, kAllocatable, kube::kMemory, *limits,
                                         *strategy.allocatable_evict_priority_threshold)
                       : std::nullopt;
    if (task) tasks.push_back(*std::move(task));
  }
  if (context_.gates.Enabled(kUsage) && release && strategy.evict_enabled_priority_threshold) {
    tasks.push_back(UsedTask(context_, kUsage, kube::kMemory, *release,
                             *strategy.evict_enabled_priority_threshold));
  }
  if (tasks.empty()) return;
  auto evicted = Evict(tasks, context_.evictor);
  if (!evicted.empty()) cool_time_.Start(std::move(evicted));
}

std::optional<int64_t> MemoryEvict::Release(const Strategy& strategy, int64_t capacity) const {
  const auto limits = CheckUsageLimits(strategy.memory_evict_threshold_percent,
                                       strategy.memory_evict_lower_percent);
  if (!limits) return std::nullopt;
  const auto used = context_.metrics.Last({Metric::kNodeMemory}, 2 * context_.collect_interval);
  if (!used) return std::nullopt;
  return UsageRelease(Truncate(*used), capacity, *limits);
}

std::vector<Victim> MemoryEvict::BeVictims() const {
  std::vector<BeVictim> found;
  for (const NodePod& pod : *context_.state.pods()) {
    if (pod.raw_qos != api::QosClass::kBe || !pod.is_active) continue;
    if (!api::MayBeEvictedBy(pod.pod->metadata.annotations, kBe)) continue;
    const auto used =
        context_.metrics.Last({Metric::kPodMemory, pod.uid()}, 2 * context_.collect_interval);
    found.push_back({&pod, pod.pod->spec.priority.value_or(0), Truncate(used.value_or(0))});
  }
  std::stable_sort(found.begin(), found.end(), GoesBefore);
  std::vector<Victim> victims;
  for (const BeVictim& v : found) victims.push_back({v.pod, {{kube::kMemory, v.used}}});
  return victims;
}

}  // namespace koord::koordlet
