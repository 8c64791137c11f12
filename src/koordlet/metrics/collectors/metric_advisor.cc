#include "koordlet/metrics/collectors/metric_advisor.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "koordlet/metrics/collectors/be_usage.h"
#include "koordlet/metrics/collectors/cold_memory.h"
#include "koordlet/metrics/collectors/cpi.h"
#include "koordlet/metrics/collectors/gpu_usage.h"
#include "koordlet/metrics/collectors/host_application_usage.h"
#include "koordlet/metrics/collectors/node_info.h"
#include "koordlet/metrics/collectors/node_usage.h"
#include "koordlet/metrics/collectors/pod_usage.h"
#include "koordlet/metrics/collectors/pressure.h"
#include "koordlet/metrics/collectors/resctrl_usage.h"
#include "koordlet/metrics/collectors/system_usage.h"

namespace koord::koordlet {
namespace {

template <class C>
std::unique_ptr<Collector> Make(const CollectorContext& context) {
  return std::make_unique<C>(context);
}

// In the order in which they run: some need what others have found.
constexpr std::unique_ptr<Collector> (*kCollectors[])(const CollectorContext&) = {
    Make<CpuInfoCollector>,         Make<StorageInfoCollector>,
    Make<NodeUsageCollector>,       Make<PodUsageCollector>,
    Make<HostApplicationCollector>, Make<SystemUsageCollector>,
    Make<BeUsageCollector>,         Make<GpuUsageCollector>,
    Make<PressureCollector>,        Make<CpiCollector>,
    Make<ColdMemoryCollector>,      Make<ResctrlUsageCollector>,
    Make<ResourceMetricsCollector>,
};

constexpr Duration kShortestInterval = std::chrono::seconds(1);

}  // namespace

MetricAdvisor::MetricAdvisor(const Context& context, Options options)
    : context_(context),
      options_(std::move(options)),
      gc_timer_(context.loop),
      save_timer_(context.loop) {
  // A shorter interval is how users switch measuring off.
  is_enabled_ = options_.collectors.usage_interval >= kShortestInterval;
  if (!is_enabled_) return;
  const CollectorContext for_collectors{context.host,  context.executor,    context.state,
                                        context.store, context.info,        context.loop,
                                        context.gates, context.internal,    context.external,
                                        context.gpus,  options_.collectors, usage_};
  for (const auto make : kCollectors) {
    std::unique_ptr<Collector> collector = make(for_collectors);
    if (!collector->enabled() || collector->interval() <= Duration(0)) continue;
    auto group = std::ranges::find(groups_, collector->interval(), &Group::interval);
    if (group == groups_.end()) {
      groups_.push_back({collector->interval(), {}, std::make_unique<Timer>(context.loop)});
      group = std::prev(groups_.end());
    }
    group->collectors.push_back(collector.get());
    collectors_.push_back(std::move(collector));
  }
}

MetricAdvisor::~MetricAdvisor() = default;

void MetricAdvisor::Start() {
  is_running_ = true;
  if (!options_.store_directory.empty()) {
    const Status status = context_.store.Load(options_.store_directory);
    if (!status.ok() && !absl::IsNotFound(status)) {
      LOG_WARNING("Starts without the metrics of before", {"err", status});
    }
  }
  CollectOnce();
  for (Group& group : groups_) Schedule(group);
  ScheduleUpkeep();
}

void MetricAdvisor::Schedule(Group& group) {
  group.timer->Set(group.interval, [this, &group] {
    Schedule(group);
    for (Collector* collector : group.collectors) collector->Collect();
  });
}

void MetricAdvisor::ScheduleUpkeep() {
  if (!gc_timer_.pending()) {
    gc_timer_.Set(options_.gc_interval, [this] {
      context_.store.CollectGarbage();
      ScheduleUpkeep();
    });
  }
  if (!save_timer_.pending() && !options_.store_directory.empty()) {
    save_timer_.Set(options_.save_interval, [this] {
      Save();
      ScheduleUpkeep();
    });
  }
}

void MetricAdvisor::Save() {
  if (options_.store_directory.empty()) return;
  if (const Status status = context_.store.Save(options_.store_directory); !status.ok()) {
    LOG_WARNING("Cannot save metrics", {"err", status});
  }
}

void MetricAdvisor::Stop() {
  if (!std::exchange(is_running_, false)) return;
  for (Group& group : groups_) group.timer->Cancel();
  gc_timer_.Cancel();
  save_timer_.Cancel();
  Save();
}

bool MetricAdvisor::has_synced() const {
  return std::ranges::all_of(collectors_, [](const auto& c) { return c->has_synced(); });
}

void MetricAdvisor::CollectOnce() {
  for (const auto& collector : collectors_) collector->Collect();
}

}  // namespace koord::koordlet
