#pragma once
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/virtual_loop.h"
#include "koordlet/config/koordlet_gates.h"
#include "koordlet/informers/pod_book.h"
#include "koordlet/qos/qos_manager.h"
#include "koordlet/testing/test_host.h"
#include "koordlet/testing/test_pod.h"

namespace koord::koordlet {

// Lets everybody go who is asked to.
class WillingEvictor final : public PodEvictor {
 public:
  Result Evict(const NodePod& pod, std::string_view, std::string_view) override {
    evicted.push_back(pod.pod->metadata.name);
    return {.ok = true, .is_new = true};
  }
  bool WasRefused(std::string_view) const override { return false; }

  std::vector<std::string> evicted;
};

// For tests: a machine with all that strategies need, and nobody but the test to tell what happens.
class QosRig {
 public:
  explicit QosRig(TestHost::Options options = {})
      : machine(options),
        executor(machine.host(), loop.clock(), nullptr, &registry, {}),
        metrics(loop.clock(), {}) {
    (void)gates.Set("AllAlpha=true,BECPUManager=false");
    executor.set_observer([this](const WriteRecord& write) { writes.push_back(write); });
    auto cpus = machine.host().ReadCpuInfo();
    if (cpus.ok()) info.SetCpu(*std::move(cpus));
    SetNode(static_cast<int64_t>(machine.processors().size()), options.memory);
    state.SetTopology(std::make_shared<TopologyView>());
  }

  QosContext Context() {
    return {.host = machine.host(),
            .executor = executor,
            .state = state,
            .metrics = metrics,
            .info = info,
            .clock = loop.clock(),
            .gates = gates,
            .evictor = evictor,
            .auditor = nullptr,
            .registry = registry,
            .random = random,
            .node_name = "n"};
  }

  void SetNode(int64_t cpus, int64_t memory) {
    kube::Node node;
    node.metadata.name = "n";
    node.status.capacity = {{"cpu", kube::Quantity(cpus)}, {"memory", kube::Quantity(memory)}};
    node.status.allocatable = node.status.capacity;
    state.SetNode(std::make_shared<kube::Node>(std::move(node)));
  }
  void SetSlo(api::NodeSloSpec slo) {
    state.SetSlo(std::make_shared<api::NodeSloSpec>(std::move(slo)));
  }
  const kube::Pod& AddPod(std::shared_ptr<const kube::Pod> pod) {
    machine.AddPod(*pod);
    pods.push_back(std::move(pod));
    PublishPods();
    return *pods.back();
  }
  const kube::Pod& AddPod(std::string_view yaml) { return AddPod(TestPod(yaml)); }
  void PublishPods() {
    auto known = std::make_shared<NodePods>();
    for (const auto& pod : pods) {
      known->push_back(MakeNodePod(pod, machine.host().cgroups().layout()));
    }
    state.SetPods(std::move(known));
  }
  std::string Get(CgroupFile file, std::string_view dir) const { return machine.Get(file, dir); }
  CgroupDir QosDir(kube::PodQos qos) { return machine.host().cgroups().layout().QosDir(qos); }

  VirtualLoop loop;
  TestHost machine;
  metrics::Registry registry;
  ResourceExecutor executor;
  NodeState state;
  MetricStore metrics;
  NodeInfoCache info;
  FeatureGates gates = KoordletFeatureGates();
  WillingEvictor evictor;
  Random random{1};
  std::vector<std::shared_ptr<const kube::Pod>> pods;
  std::vector<WriteRecord> writes;
};

// A NodeSLO that asks for nothing, as it is after merging.
inline api::NodeSloSpec QuietSlo() {
  api::ResourceQos off;
  off.memory_qos.emplace();
  off.memory_qos->enable = false;
  off.memory_qos->min_limit_percent = off.memory_qos->low_limit_percent = 0;
  off.memory_qos->throttling_percent = 0;
  off.memory_qos->wmark_ratio = 0;
  off.memory_qos->wmark_scale_permill = 50;
  off.memory_qos->wmark_min_adj = 0;
  off.memory_qos->priority_enable = off.memory_qos->priority = off.memory_qos->oom_kill_group = 0;
  off.resctrl_qos.emplace();
  off.resctrl_qos->enable = false;
  off.blkio_qos.emplace();
  off.blkio_qos->enable = false;
  api::NodeSloSpec slo;
  auto& threshold = slo.resource_used_threshold_with_be.emplace();
  threshold.enable = false;
  threshold.cpu_suppress_threshold_percent = 65;
  threshold.cpu_suppress_policy = "cpuset";
  threshold.memory_evict_threshold_percent = 70;
  auto& classes = slo.resource_qos_strategy.emplace();
  classes.lsr_class = classes.ls_class = classes.be_class = classes.system_class = off;
  auto& burst = slo.cpu_burst_strategy.emplace();
  burst.policy = "none";
  burst.cpu_burst_percent = 1000;
  burst.cfs_quota_burst_percent = 300;
  burst.cfs_quota_burst_period_seconds = -1;
  burst.share_pool_threshold_percent = 50;
  slo.system_strategy.emplace();
  return slo;
}

}  // namespace koord::koordlet
