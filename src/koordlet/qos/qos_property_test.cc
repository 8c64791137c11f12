#include <gtest/gtest.h>

#include <algorithm>

#include "base/cpu_set.h"
#include "base/log.h"
#include "base/strings.h"
#include "koordlet/host/kernel_text.h"
#include "koordlet/qos/qos_testing.h"

// Whatever policies say, however pods look and whatever is measured: every write is one that the
// kernel takes, best-effort pods keep their floor, and with all policies off the machine is as the
// kubelet alone would leave it.
namespace koord::koordlet::qos_property_test {
namespace {

constexpr int kWorlds = 1000;
constexpr int kPoliciesOfWorld = 100;

class World {
 public:
  explicit World(uint64_t seed) : random_(seed), rig_(RandomMachine()) {
    rig_.machine.proc().Set("sys/vm/min_free_kbytes", "67584");
    rig_.machine.proc().Set("sys/vm/watermark_scale_factor", "10");
    const auto pods = 1 + random_.Below(5);
    for (uint64_t i = 0; i < pods; ++i) rig_.AddPod(RandomPod(i));
    before_ = Seen();
  }

  void Run() {
    QosManager manager(rig_.loop, rig_.Context());
    for (int i = 0; i < kPoliciesOfWorld; ++i) {
      RandomPolicy();
      RandomMetrics();
      rig_.loop.Advance(1s);
      manager.RunOnce();
      CheckWrites();
      if (::testing::Test::HasFailure()) return;
    }
    SwitchAllOff();
    for (int i = 0; i < 3; ++i) {
      rig_.loop.Advance(61s);
      manager.RunOnce();
    }
    CheckWrites();
    EXPECT_EQ(Seen(), before_);
  }

 private:
  TestHost::Options RandomMachine() {
    constexpr ResctrlFlavour kFlavours[] = {ResctrlFlavour::kNone, ResctrlFlavour::kIntel,
                                            ResctrlFlavour::kAmd};
    const int sockets = 1 + static_cast<int>(random_.Below(2));
    anolis_ = random_.Chance(0.5);
    return {.version = random_.Chance(0.5) ? CgroupVersion::kV1 : CgroupVersion::kV2,
            .driver = random_.Chance(0.5) ? CgroupDriver::kSystemd : CgroupDriver::kCgroupfs,
            .shape = {.sockets = sockets,
                      .nodes = sockets * (1 + static_cast<int>(random_.Below(2))),
                      .cores = 8,
                      .threads = 1 + static_cast<int>(random_.Below(2)),
                      .adjacent_threads = random_.Chance(0.5)},
            .resctrl = kFlavours[random_.Below(3)],
            .anolis = anolis_};
  }

  std::shared_ptr<const kube::Pod> RandomPod(uint64_t index) {
    constexpr std::string_view kClasses[] = {"LS", "LS", "LSR", "LSE", "BE", "BE", "SYSTEM", ""};
    const std::string_view qos = kClasses[random_.Below(std::size(kClasses))];
    kube::Pod pod;
    pod.metadata.name = fmt::format("p{}", index);
    if (!qos.empty()) pod.metadata.labels.Mutable()["koordinator.sh/qosClass"] = qos;
    if (random_.Chance(0.5))
      pod.metadata.labels.Mutable()["koordinator.sh/eviction-enabled"] = "true";
    const bool pinned = (qos == "LSR" || qos == "LSE") && random_.Chance(0.7);
    if (pinned) {
      // One core each, so that something is left for the others.
      pod.metadata.annotations["scheduling.koordinator.sh/resource-status"] =
          fmt::format(R"({{"cpuset":"{}"}})", index);
    }
    if (random_.Chance(0.2)) {
      pod.metadata.annotations["koordinator.sh/cpuBurst"] =
          fmt::format(R"({{"policy":"auto","cpuBurstPercent":{}}})", random_.Below(2000));
    }
    if (random_.Chance(0.2)) {
      pod.metadata.annotations["koordinator.sh/memoryQOS"] =
          fmt::format(R"({{"policy":"default","minLimitPercent":{}}})", random_.Below(200));
    }
    pod.spec.priority = static_cast<int32_t>(random_.Below(10000));
    const auto containers = 1 + random_.Below(3);
    for (uint64_t i = 0; i < containers; ++i) {
      kube::Container container;
      container.name = fmt::format("c{}", i);
      RandomResources(qos, container.resources);
      pod.spec.containers.Mutable().push_back(std::move(container));
    }
    return TestPod(kube::Serialize(kube::Encode(pod)));
  }

  void RandomResources(std::string_view qos, kube::ResourceRequirements& resources) {
    const bool be = qos == "BE";
    const auto amount = [&](uint64_t most) {
      return kube::Quantity(static_cast<int64_t>(1 + random_.Below(most)));
    };
    if (random_.Chance(0.7)) {
      const std::string memory = be ? "kubernetes.io/batch-memory" : "memory";
      resources.requests[memory] = resources.limits[memory] = amount(uint64_t{4} << 30);
    }
    if (!be && random_.Chance(0.7)) {
      const auto milli = static_cast<int64_t>(1 + random_.Below(4000));
      resources.requests["cpu"] = resources.limits["cpu"] = kube::Quantity::FromMilli(milli);
    }
    if (be) resources.requests["kubernetes.io/batch-cpu"] = amount(8000);
  }

  // Mostly something that makes sense.
  std::optional<int64_t> Percent() {
    constexpr int64_t kNonsense[] = {INT64_MIN, -1000, -1, 101, 5000, INT64_MAX};
    if (random_.Chance(0.1)) return std::nullopt;
    if (random_.Chance(0.1)) return kNonsense[random_.Below(std::size(kNonsense))];
    return static_cast<int64_t>(random_.Below(101));
  }

  void RandomPolicy() {
    api::NodeSloSpec slo = QuietSlo();
    auto& threshold = *slo.resource_used_threshold_with_be;
    threshold.enable = random_.Chance(0.8);
    threshold.cpu_suppress_threshold_percent = Percent();
    if (random_.Chance(0.3)) threshold.cpu_suppress_min_percent = Percent();
    threshold.cpu_suppress_policy = random_.Chance(0.5) ? "cpuset" : "cfsQuota";
    threshold.memory_evict_threshold_percent = Percent();
    threshold.memory_evict_lower_percent = Percent();
    threshold.cpu_evict_be_satisfaction_lower_percent = Percent();
    threshold.cpu_evict_be_satisfaction_upper_percent = Percent();
    threshold.cpu_evict_time_window_seconds = Percent();
    threshold.evict_enabled_priority_threshold = static_cast<int32_t>(random_.Below(10000));

    auto& classes = *slo.resource_qos_strategy;
    for (auto* of_class : {&classes.lsr_class, &classes.ls_class, &classes.be_class}) {
      if (random_.Chance(0.6)) RandomMemoryQos(*(*of_class)->memory_qos);
      if (random_.Chance(0.6)) RandomResctrl(*(*of_class)->resctrl_qos);
    }
    constexpr std::string_view kPolicies[] = {"none", "cpuBurstOnly", "cfsQuotaBurstOnly",
                                              "auto", "auto",         "garbage"};
    auto& burst = *slo.cpu_burst_strategy;
    burst.policy = kPolicies[random_.Below(std::size(kPolicies))];
    burst.cpu_burst_percent = Percent();
    burst.cfs_quota_burst_percent = random_.Chance(0.7) ? 100 + random_.Below(400) : Percent();
    burst.cfs_quota_burst_period_seconds = random_.Chance(0.5) ? -1 : Percent();
    burst.share_pool_threshold_percent = Percent();
    slo.system_strategy->min_free_kbytes_factor = Percent();
    slo.system_strategy->watermark_scale_factor = Percent();
    rig_.SetSlo(std::move(slo));

    TopologyView topology;
    topology.kubelet_policy = random_.Chance(0.2) ? "static" : "none";
    if (random_.Chance(0.2)) topology.reserved_cpus = {6};
    if (random_.Chance(0.2)) topology.system_qos_cpus = {7};
    rig_.state.SetTopology(std::make_shared<TopologyView>(topology));
  }

  void RandomMemoryQos(api::MemoryQos& memory) {
    memory.enable = true;
    memory.min_limit_percent = Percent();
    memory.low_limit_percent = Percent();
    memory.throttling_percent = Percent();
    memory.wmark_ratio = Percent();
    memory.wmark_scale_permill = Percent();
    memory.wmark_min_adj = Percent();
    memory.priority_enable = static_cast<int64_t>(random_.Below(2));
    memory.priority = static_cast<int64_t>(random_.Below(14));
    memory.oom_kill_group = static_cast<int64_t>(random_.Below(2));
  }

  void RandomResctrl(api::ResctrlQos& resctrl) {
    resctrl.enable = true;
    resctrl.cat_range_start_percent = Percent();
    resctrl.cat_range_end_percent = Percent();
    resctrl.mba_percent = Percent();
  }

  void RandomMetrics() {
    if (random_.Chance(0.05)) return;
    const auto cpus = static_cast<double>(rig_.machine.processors().size());
    rig_.metrics.Append({Metric::kNodeCpu}, random_.Fraction() * cpus * 1.2);
    rig_.metrics.Append({Metric::kNodeMemory}, random_.Fraction() * 0x1p35);
    for (const Metric metric : {Metric::kBeCpuUsage, Metric::kBeCpuRequest, Metric::kBeCpuLimit}) {
      rig_.metrics.Append({metric}, random_.Fraction() * 10000);
    }
    for (const NodePod& pod : *rig_.state.pods()) {
      if (random_.Chance(0.1)) continue;
      rig_.metrics.Append({Metric::kPodCpu, pod.uid()}, random_.Fraction() * 4);
      rig_.metrics.Append({Metric::kPodMemory, pod.uid()}, random_.Fraction() * 0x1p32);
      for (const NodeContainer& container : pod.containers) {
        rig_.metrics.Append({Metric::kContainerCpu, container.id}, random_.Fraction() * 4);
        rig_.metrics.Append({Metric::kContainerThrottled, container.id},
                            random_.Chance(0.5) ? random_.Fraction() : 0);
      }
    }
  }

  void CheckWrites() {
    const CgroupDir be = rig_.QosDir(kube::PodQos::kBestEffort);
    for (const WriteRecord& write : rig_.writes) {
      const bool of_be = write.path.find(be) != write.path.npos;
      if (write.path.ends_with("cpuset.cpus")) {
        const auto cpus = CpuSet::Parse(write.new_value);
        EXPECT_TRUE(cpus.ok() && cpus->size() >= 2) << write.path << ": " << write.new_value;
      } else if (of_be && (write.path.ends_with("cpu.max") || write.path.ends_with("quota_us"))) {
        const auto quota = NumberOf<int64_t>(write.new_value.substr(0, write.new_value.find(' ')));
        EXPECT_TRUE(!quota || *quota == -1 || *quota >= 2000) << write.path << write.new_value;
      }
    }
    rig_.writes.clear();
    // A kernel that takes no burst above the quota is found out by asking it once.
    const uint64_t may_fail = anolis_ ? 0 : 1;
    EXPECT_LE(failed_.count(), may_fail);
  }

  void SwitchAllOff() {
    rig_.SetSlo(QuietSlo());
    rig_.state.SetTopology(std::make_shared<TopologyView>());
    // CPUs of LSE pods are theirs whatever the policy, and what pods ask for is a policy as well.
    for (auto& pod : rig_.pods) {
      kube::Pod plain = *pod;
      plain.metadata.annotations.clear();
      pod = std::make_shared<const kube::Pod>(std::move(plain));
    }
    rig_.PublishPods();
  }

  // In version 2 a cgroup may state the CPUs that it would inherit anyway: what counts is what is
  // in effect.
  std::string Seen() const {
    std::string seen = rig_.machine.Dump("proc");
    const std::string dump = rig_.machine.Dump();
    std::string_view rest = dump;
    while (!rest.empty()) {
      const std::string_view line = TakeLine(rest);
      const bool is_wish =
          version() == CgroupVersion::kV2 && line.find("cpuset.cpus:") != line.npos;
      if (!is_wish) seen.append(line) += '\n';
    }
    return seen;
  }
  CgroupVersion version() const {
    return const_cast<World*>(this)->rig_.machine.host().cgroups().layout().version;
  }

  Random random_;
  bool anolis_ = false;
  QosRig rig_;
  std::string before_;
  metrics::Histogram& failed_ =
      rig_.registry
          .AddHistograms("koordlet_resource_update_duration_milliseconds", "", {"type", "status"},
                         metrics::ExponentialBuckets(0.01, 4, 8))
          .With({"cgroup", "failed"});
};

TEST(QosPropertyTest, ManyRandomPolicies) {
  log::SetSink([](std::string_view) {});  // there is much to complain of
  for (int seed = 1; seed <= kWorlds; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    World(static_cast<uint64_t>(seed)).Run();
    if (HasFailure()) break;
  }
  log::SetSink(nullptr);
}

}  // namespace
}  // namespace koord::koordlet::qos_property_test
