#include "localcluster/nodes/koordlet/simulated_host.h"

#include <algorithm>
#include <limits>

#include "koordlet/informers/pod_filter.h"
#include "koordlet/simulated_kernel/kernel_counters.h"
#include "koordlet/simulated_kernel/simulated_kernel.h"
#include "kube/objects/pod_resources.h"
#include "localcluster/nodes/cpu_topology.h"
#include "localcluster/nodes/system_usage.h"

namespace koord::localcluster {
namespace {

using koordlet::CgroupFile;
using koordlet::CgroupVersion;
using kube::PodQos;

constexpr koordlet::CgroupLayout kLayout{CgroupVersion::kV2, koordlet::CgroupDriver::kSystemd};
// What is used is looked at this often, and at most so often at once: nobody reads for long only
// where nobody cares.
constexpr Duration kStep = kSystemNoiseStep;
constexpr int64_t kMaxSteps = 40;
constexpr Duration kPeriod = std::chrono::microseconds(koordlet::kCpuPeriodMicros);

koordlet::MemoryStat AnonymousMemory(int64_t bytes) { return {.rss = bytes, .active_anon = bytes}; }

int64_t NanosOf(double cores, Duration span) {
  return static_cast<int64_t>(cores * static_cast<double>(span.count()));
}

bool HasSameContainers(const kube::Pod& a, const kube::Pod& b) {
  return std::ranges::equal(a.status.container_statuses, b.status.container_statuses, {},
                            &kube::ContainerStatus::container_id,
                            &kube::ContainerStatus::container_id);
}

template <class List>
void CutToBudget(kube::Shared<List>& list) {
  const List& all = list.get();
  if (all.size() <= koordlet::PodBudget::kElements) return;
  list = List(all.begin(), all.begin() + koordlet::PodBudget::kElements);
}

}  // namespace

std::shared_ptr<const kube::Pod> WithinBudget(std::shared_ptr<const kube::Pod> pod) {
  constexpr size_t kMost = koordlet::PodBudget::kElements;
  if (std::max(pod->spec.containers.size(), pod->spec.init_containers.size()) <= kMost) return pod;
  auto part = std::make_shared<kube::Pod>(*pod);
  part->status.qos_class = kube::ToString(kube::PodQosOf(*pod));
  CutToBudget(part->spec.containers);
  CutToBudget(part->spec.init_containers);
  CutToBudget(part->status.container_statuses);
  CutToBudget(part->status.init_container_statuses);
  return part;
}

std::unique_ptr<koordlet::MemoryMachine> SimulatedHost::MakeModel(const NodeShape& shape) {
  koordlet::MemoryMachine::Options options;
  options.layout = kLayout;
  options.memory = shape.memory;
  options.model = "Simulated CPU";
  options.processors = CpuTopologyOf(shape).processors();
  return std::make_unique<koordlet::MemoryMachine>(std::move(options),
                                                   std::make_unique<koordlet::SimulatedKernel>());
}

SimulatedHost::SimulatedHost(const Clock& clock, const koordlet::MemoryMachine& model,
                             uint64_t seed)
    : clock_(clock),
      seed_(seed),
      machine_(model, std::make_unique<koordlet::SimulatedKernel>()),
      until_(clock.Now()) {
  for (const PodQos qos : {PodQos::kGuaranteed, PodQos::kBurstable, PodQos::kBestEffort}) {
    Show(kLayout.QosDir(qos), tiers_[qos]);
  }
  Show(koordlet::CgroupDir(), total_);
  ShowMachine();
}

void SimulatedHost::SetPods(const std::vector<std::shared_ptr<const kube::Pod>>& pods,
                            const LoadModels& models) {
  CatchUp();
  std::map<std::string, std::unique_ptr<RunningPod>, std::less<>> before = std::move(pods_);
  pods_.clear();
  for (const auto& pod : pods) {
    const auto known = before.find(pod->metadata.uid);
    if (known != before.end() && HasSameContainers(*known->second->pod, *pod)) {
      if (known->second->pod != pod) {
        known->second->pod = pod;
        known->second->load = PodLoad(*pod, models, seed_);
      }
      pods_.insert(before.extract(known));
      continue;
    }
    if (known != before.end()) {
      machine_.RemovePod(*known->second->pod);
      before.erase(known);
    }
    Run(pod, models);
  }
  for (const auto& [uid, gone] : before) machine_.RemovePod(*gone->pod);
}

void SimulatedHost::Run(const std::shared_ptr<const kube::Pod>& pod, const LoadModels& models) {
  machine_.AddPod(*pod);
  auto running = std::make_unique<RunningPod>(RunningPod{.pod = pod,
                                                         .load = PodLoad(*pod, models, seed_),
                                                         .qos = kube::PodQosOf(*pod),
                                                         .dir = machine_.PodDir(*pod),
                                                         .counters = {},
                                                         .containers = {}});
  for (const kube::Container& container : pod->spec.containers) {
    koordlet::CgroupDir dir = machine_.ContainerDir(*pod, container.name);
    if (!dir.is_root()) running->containers.push_back({.dir = std::move(dir), .counters = {}});
  }
  for (RunningContainer& container : running->containers) {
    container.share = 1.0 / static_cast<double>(running->containers.size());
    Show(container.dir, container.counters);
  }
  Show(running->dir, running->counters);
  pods_.insert_or_assign(pod->metadata.uid, std::move(running));
}

// The files of a cgroup go before its counters do.
void SimulatedHost::Show(const koordlet::CgroupDir& dir, const Counters& counters) {
  const auto show = [&](CgroupFile file, auto text) {
    machine_.cgroup().SetReader(machine_.host().cgroups().PathOf(file, dir).value(),
                                [this, &counters, text] {
                                  CatchUp();
                                  return text(counters) + "\n";
                                });
  };
  show(CgroupFile::kCpuStat, [](const Counters& c) {
    return koordlet::CpuStatText(CgroupVersion::kV2, c.cpu_nanos, c.stat);
  });
  show(CgroupFile::kMemoryUsage, [](const Counters& c) { return std::to_string(c.memory); });
  show(CgroupFile::kMemoryStat, [](const Counters& c) {
    return koordlet::MemoryStatText(CgroupVersion::kV2, AnonymousMemory(c.memory));
  });
}

void SimulatedHost::ShowMachine() {
  machine_.proc().SetReader("stat", [this] { return StatText(); });
  machine_.proc().SetReader("meminfo", [this] {
    CatchUp();
    return koordlet::MemInfoText("", machine_.memory(), UsedMemory());
  });
  for (int node = 0; node < machine_.numa_nodes(); ++node) {
    machine_.sys().SetReader(fmt::format("devices/system/node/node{}/meminfo", node), [this, node] {
      CatchUp();
      const int nodes = machine_.numa_nodes();
      return koordlet::MemInfoText(fmt::format("Node {} ", node), machine_.memory() / nodes,
                                   koordlet::ShareOf(UsedMemory(), nodes));
    });
  }
}

// Work is spread evenly over all processors.
std::string SimulatedHost::StatText() {
  CatchUp();
  const auto count = static_cast<int64_t>(machine_.processors().size());
  std::vector<koordlet::ProcessorTime> times;
  times.reserve(machine_.processors().size());
  for (const koordlet::Processor& p : machine_.processors()) {
    times.push_back({p.cpu, total_.cpu_nanos / count});
  }
  return koordlet::ProcStatText(total_.cpu_nanos, times, machine_.host().kernel().jiffy().count());
}

koordlet::MemoryStat SimulatedHost::UsedMemory() const { return AnonymousMemory(total_.memory); }

// In whole periods, as the kernel counts them: time passes while files are read, and not everybody
// who reads one shall have all of them worked out again.
void SimulatedHost::CatchUp() {
  const WallTime clock = clock_.Now();
  until_ = std::min(until_, clock);  // it may have been set back
  const WallTime now = until_ + (clock - until_) / kPeriod * kPeriod;
  const Duration step = std::max<Duration>(kStep, (now - until_) / kMaxSteps);
  while (until_ < now) {
    const Duration span = std::min<Duration>(step, now - until_);
    Step(until_ + span / 2, span);
    until_ += span;
  }
}

double SimulatedHost::QuotaOf(const koordlet::CgroupDir& dir) const {
  const auto quota = machine_.host().cgroups().ReadCpuQuota(dir);
  if (!quota.ok() || quota->unlimited()) return std::numeric_limits<double>::infinity();
  return static_cast<double>(quota->value()) / koordlet::kCpuPeriodMicros;
}

double SimulatedHost::BestEffortCores() const {
  const koordlet::CgroupDir dir = kLayout.QosDir(PodQos::kBestEffort);
  const auto cpus = machine_.host().cgroups().ReadCpuset(dir);
  const double quota = QuotaOf(dir);
  return cpus.ok() && !cpus->empty() ? std::min(quota, static_cast<double>(cpus->size())) : quota;
}

// Quotas of the pod and of its containers, which share what it wants.
void SimulatedHost::Limit(RunningPod& pod, Duration span) {
  const double wanted = pod.cores;
  const auto count = [&](Counters& counters, double demand, double quota) {
    const int64_t periods = quota < std::numeric_limits<double>::infinity() ? span / kPeriod : 0;
    counters.stat.periods += periods;
    if (demand > quota) counters.stat.throttled += periods;
  };
  double granted = pod.containers.empty() ? wanted : 0;
  for (RunningContainer& container : pod.containers) {
    const double demand = wanted * container.share;
    count(container.counters, demand, container.quota);
    granted += std::min(demand, container.quota);
  }
  count(pod.counters, granted, pod.quota);
  pod.cores = std::min(granted, pod.quota);
}

void SimulatedHost::ReadLimits() {
  const uint64_t state = machine_.cgroup().changes();
  if (limits_are_of_ == state) return;
  for (auto& [uid, pod] : pods_) {
    pod->quota = QuotaOf(pod->dir);
    for (RunningContainer& container : pod->containers) container.quota = QuotaOf(container.dir);
  }
  best_effort_cores_ = BestEffortCores();
  limits_are_of_ = state;
}

// The cgroup of guaranteed pods is the one above the others.
template <class Visit>
void SimulatedHost::ForTiersOf(PodQos qos, const Visit& visit) {
  visit(tiers_[PodQos::kGuaranteed]);
  if (qos != PodQos::kGuaranteed) visit(tiers_[qos]);
}

void SimulatedHost::NoteSuppression(double wanted, double left) {
  const bool suppressed = wanted > left;
  if (suppressed && !suppressed_) ++suppressions_;
  suppressed_ = suppressed;
}

void SimulatedHost::Step(WallTime time, Duration span) {
  const auto cpus = static_cast<double>(machine_.processors().size());
  const Usage system = SystemUsage({cpus, static_cast<double>(machine_.memory())}, seed_, time);
  ReadLimits();
  double best_effort = 0;
  double others = 0;
  for (auto& [tier, counters] : tiers_) counters.memory = 0;
  total_.memory = static_cast<int64_t>(system.memory);
  for (auto& [uid, pod] : pods_) {
    const Usage wanted = pod->load.At(time);
    pod->cores = wanted.cpu;
    Limit(*pod, span);
    (pod->qos == PodQos::kBestEffort ? best_effort : others) += pod->cores;
    const auto memory = static_cast<int64_t>(wanted.memory);
    pod->counters.memory = memory;
    total_.memory += memory;
    ForTiersOf(pod->qos, [&](Counters& tier) { tier.memory += memory; });
  }
  total_.memory = std::min(total_.memory, machine_.memory());
  // Services come first, best-effort pods share what they may have of the rest.
  const double for_others = std::min(others, std::max(cpus - system.cpu, 0.0));
  NoteSuppression(best_effort, best_effort_cores_);
  const double for_best_effort =
      std::min({best_effort, best_effort_cores_, std::max(cpus - system.cpu - for_others, 0.0)});
  for (auto& [uid, pod] : pods_) {
    const bool is_best_effort = pod->qos == PodQos::kBestEffort;
    const double wanted = is_best_effort ? best_effort : others;
    const double given = is_best_effort ? for_best_effort : for_others;
    const double cores = wanted > 0 ? pod->cores * given / wanted : 0;
    pod->counters.cpu_nanos += NanosOf(cores, span);
    ForTiersOf(pod->qos, [&](Counters& tier) { tier.cpu_nanos += NanosOf(cores, span); });
    for (RunningContainer& container : pod->containers) {
      container.counters.cpu_nanos += NanosOf(cores * container.share, span);
      container.counters.memory =
          static_cast<int64_t>(static_cast<double>(pod->counters.memory) * container.share);
    }
  }
  total_.cpu_nanos += NanosOf(std::min(system.cpu + for_others + for_best_effort, cpus), span);
}

}  // namespace koord::localcluster
