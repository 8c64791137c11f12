#include "koordlet/qos/qos_manager.h"

#include <algorithm>

#include "koordlet/qos/blkio/blkio_qos.h"
#include "koordlet/qos/cpu_burst/cpu_burst.h"
#include "koordlet/qos/cpu_evict/cpu_evict.h"
#include "koordlet/qos/cpu_suppress/cpu_suppress.h"
#include "koordlet/qos/memory_evict/memory_evict.h"
#include "koordlet/qos/memory_qos/memory_qos.h"
#include "koordlet/qos/resctrl/resctrl_qos.h"
#include "koordlet/qos/system_config/system_config.h"

namespace koord::koordlet {
namespace {

struct Registration {
  std::vector<std::string_view> gates;  // one of them is enough
  std::unique_ptr<QosStrategy> (*make)(const QosContext& context);
};

template <class Strategy>
std::unique_ptr<QosStrategy> Make(const QosContext& context) {
  return std::make_unique<Strategy>(context);
}

// Every strategy there is, one line each.
std::vector<Registration> Registry() {
  return {
      {{"BECPUSuppress"}, Make<CpuSuppress>},
      {{"BECPUEvict", "CPUEvict", "CPUAllocatableEvict"}, Make<CpuEvict>},
      {{"BEMemoryEvict", "MemoryEvict", "MemoryAllocatableEvict"}, Make<MemoryEvict>},
      {{"CPUBurst"}, Make<CpuBurst>},
      {{"CgroupReconcile"}, Make<MemoryQosStrategy>},
      {{"BlkIOReconcile"}, Make<BlkioQosStrategy>},
      {{"RdtResctrl"}, Make<ResctrlQosStrategy>},
      {{"SystemConfig"}, Make<SystemConfig>},
  };
}

}  // namespace

QosManager::QosManager(EventLoop& loop, const QosContext& context)
    : loop_(loop), enabled_(context.collect_interval >= std::chrono::seconds(1)) {
  for (const Registration& registration : Registry()) {
    const bool on = std::ranges::any_of(
        registration.gates, [&](std::string_view gate) { return context.gates.Enabled(gate); });
    if (!on) continue;
    auto strategy = registration.make(context);
    if (strategy->interval() <= Duration(0)) continue;
    jobs_.push_back({std::move(strategy), std::make_unique<Timer>(loop_)});
  }
}

void QosManager::Start() {
  if (!enabled_) return;
  for (Job& job : jobs_) Schedule(job);
}

void QosManager::Stop() {
  for (Job& job : jobs_) job.timer->Cancel();
}

void QosManager::Schedule(Job& job) {
  job.timer->Set(job.strategy->interval(), [this, &job] {
    Schedule(job);
    job.strategy->Run();
  });
}

void QosManager::RunOnce() {
  if (!enabled_) return;
  for (Job& job : jobs_) job.strategy->Run();
}

std::vector<std::string_view> QosManager::names() const {
  std::vector<std::string_view> names;
  for (const Job& job : jobs_) names.push_back(job.strategy->name());
  return names;
}

}  // namespace koord::koordlet
