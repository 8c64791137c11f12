#include "koordlet/qos/cpu_evict/cpu_evict.h"

#include <algorithm>
#include <utility>

#include "api/extended_resources.h"
#include "koordlet/qos/eviction/victims.h"
#include "koordlet/qos/framework/amounts.h"
#include "koordlet/qos/framework/node_inputs.h"

namespace koord::koordlet {
namespace {

constexpr std::string_view kSatisfaction = "BECPUEvict";
constexpr std::string_view kAllocatable = "CPUAllocatableEvict";
constexpr std::string_view kUsage = "CPUEvict";
constexpr std::string_view kByAllocatable = "evictByAllocatable";

// What the node has for batch pods. Nothing at all is not the same as not known.
int64_t AllocatableBatchCpu(const kube::Node& node) {
  const auto amount = ValueOf(node.status.allocatable, api::kBatchCpu);
  if (!amount || *amount < 0) return -1;
  return std::max<int64_t>(*amount, 1);
}

struct BeVictim {
  const NodePod* pod;
  int32_t priority;
  int64_t request;
  double ratio;  // of use to request
};

bool GoesBefore(const BeVictim& a, const BeVictim& b) {
  if (a.priority != b.priority) return a.priority < b.priority;
  return a.ratio > b.ratio;
}

}  // namespace

CpuEvict::CpuEvict(const QosContext& context)
    : context_(context),
      problems_("CPUEvict"),
      cool_time_(context.options.cpu_evict_cool_time, context.clock, context.evictor) {
  cool_time_.Start();  // samples from before a restart say little about now
}

void CpuEvict::Run() {
  if (ThresholdSwitchOf(context_.state) != ThresholdSwitch::kOn || !cool_time_.Over()) return;
  const auto& node = context_.state.node();
  if (node == nullptr || CpuOf(node->status.capacity).value_or(MilliCpu()) <= MilliCpu()) return;
  const Strategy& strategy = *context_.state.slo()->resource_used_threshold_with_be;
  std::vector<EvictionTask> tasks;
  if (context_.gates.Enabled(kSatisfaction)) AddSatisfactionTask(strategy, tasks);
  if (context_.gates.Enabled(kAllocatable)) AddAllocatableTask(strategy, tasks);
  if (context_.gates.Enabled(kUsage)) AddUsageTask(strategy, tasks);
  if (tasks.empty()) return;
  auto evicted = Evict(tasks, context_.evictor);
  if (!evicted.empty()) cool_time_.Start(std::move(evicted));
}

Duration CpuEvict::Window(const Strategy& strategy) const {
  constexpr int64_t kLongest = 24 * 3600;
  const int64_t seconds =
      std::clamp<int64_t>(strategy.cpu_evict_time_window_seconds.value_or(0), 0, kLongest);
  return std::max(context_.collect_interval, Duration(std::chrono::seconds(seconds)));
}

bool CpuEvict::Covers(size_t samples, Duration window) const {
  return static_cast<int64_t>(samples) * context_.collect_interval >= window / 3;
}

void CpuEvict::AddSatisfactionTask(const Strategy& strategy, std::vector<EvictionTask>& tasks) {
  const auto limits = SatisfactionLimitsOf(strategy);
  if (!limits.ok()) {
    problems_.Report({.object = "NodeSLO", .kind = "satisfaction limits are unusable"},
                     limits.status());
    return;
  }
  problems_.Resolve({.object = "NodeSLO", .kind = "satisfaction limits are unusable"});
  if (!*limits) return;
  const Duration window = Window(strategy);
  const auto usage = context_.metrics.Average({Metric::kBeCpuUsage}, window);
  const auto request = context_.metrics.Average({Metric::kBeCpuRequest}, window);
  const auto limit = context_.metrics.Average({Metric::kBeCpuLimit}, window);
  if (!usage || !request || !limit) return;
  if (!Covers(std::min({usage->count, request->count, limit->count}), window)) return;

  BeCpu average{Truncate(usage->average), Truncate(request->average), Truncate(limit->average)};
  BeCpu last{Truncate(usage->last), Truncate(request->last), Truncate(limit->last)};
  if (strategy.cpu_evict_policy == kByAllocatable) {
    average.limit = last.limit = AllocatableBatchCpu(*context_.state.node());
  }
  const int64_t release = SatisfactionRelease(average, last, **limits);
  if (release <= 0) return;
  tasks.push_back({.feature = kSatisfaction,
                   .counts = EvictionTask::Counts::kRequested,
                   .release = {{api::kBatchCpu, release}},
                   .victims = BeVictims()});
}

std::vector<Victim> CpuEvict::BeVictims() const {
  std::vector<BeVictim> found;
  for (const NodePod& pod : *context_.state.pods()) {
    if (pod.raw_qos != api::QosClass::kBe || !pod.is_active) continue;
    if (!api::MayBeEvictedBy(pod.pod->metadata.annotations, kSatisfaction)) continue;
    const int64_t request = RequestOf(pod, api::kBatchCpu);
    const double used =
        context_.metrics.Last({Metric::kPodCpu, pod.uid()}, 2 * context_.collect_interval)
            .value_or(0);
    const double ratio = request > 0 ? used * 1000 / static_cast<double>(request) : 0;
    found.push_back({&pod, pod.pod->spec.priority.value_or(0), request, ratio});
  }
  std::stable_sort(found.begin(), found.end(), GoesBefore);
  std::vector<Victim> victims;
  for (const BeVictim& v : found) victims.push_back({v.pod, {{api::kBatchCpu, v.request}}});
  return victims;
}

void CpuEvict::AddAllocatableTask(const Strategy& strategy, std::vector<EvictionTask>& tasks) {
  const auto limits = CheckAllocatableLimits(strategy.cpu_allocatable_evict_threshold_percent,
                                             strategy.cpu_allocatable_evict_lower_percent,
                                             strategy.allocatable_evict_priority_threshold);
  if (!limits) return;
  auto task = AllocatableTask(context_, kAllocatable, kube::kCpu, *limits,
                              *strategy.allocatable_evict_priority_threshold);
  if (task) tasks.push_back(*std::move(task));
}

void CpuEvict::AddUsageTask(const Strategy& strategy, std::vector<EvictionTask>& tasks) {
  const auto limits =
      CheckUsageLimits(strategy.cpu_evict_threshold_percent, strategy.cpu_evict_lower_percent);
  if (!limits || !strategy.evict_enabled_priority_threshold) return;
  const Duration window = Window(strategy);
  const auto used = context_.metrics.Average({Metric::kNodeCpu}, window);
  if (!used || !Covers(used->count, window)) return;
  const MilliCpu capacity = *CpuOf(context_.state.node()->status.capacity);
  const auto release =
      UsageRelease(MilliCpu::OfCores(used->average).value(), capacity.value(), *limits);
  if (!release) return;
  tasks.push_back(
      UsedTask(context_, kUsage, kube::kCpu, *release, *strategy.evict_enabled_priority_threshold));
}

}  // namespace koord::koordlet
