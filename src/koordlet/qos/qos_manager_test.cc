#include "koordlet/qos/qos_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/cpu_set.h"
#include "koordlet/informers/node_slo_merge.h"
#include "koordlet/qos/qos_testing.h"

namespace koord::koordlet::qos_manager_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kGb = 1'000'000'000;

struct Layout {
  CgroupVersion version;
  CgroupDriver driver;
};

class QosOnLayoutTest : public ::testing::TestWithParam<Layout> {
 protected:
  TestHost::Options Options() const {
    return {.version = GetParam().version,
            .driver = GetParam().driver,
            // Eight processors on two sockets, as in the vectors.
            .shape = {.sockets = 2, .nodes = 2, .cores = 4, .threads = 2},
            .anolis = true};
  }
  void Run(QosManager& manager) {
    rig_.loop.Advance(1s);
    manager.RunOnce();
  }
  std::string Quota(const CgroupDir& dir) {
    const auto quota = rig_.machine.host().cgroups().ReadCpuQuota(dir);
    return !quota.ok() ? "?" : quota->unlimited() ? "none" : std::to_string(quota->value());
  }
  std::string Get(CgroupFile file, std::string_view dir) { return rig_.Get(file, dir); }
  std::string Cpus(const CgroupDir& dir) {
    const auto cpus = rig_.machine.host().cgroups().ReadCpuset(dir);
    return cpus.ok() ? cpus->ToString() : "?";
  }

  QosRig rig_{Options()};
};

TEST_P(QosOnLayoutTest, Vector3CpusetOfBestEffortPods) {
  rig_.AddPod(R"(
metadata:
  name: lsr
  labels: {koordinator.sh/qosClass: LSR}
  annotations: {scheduling.koordinator.sh/resource-status: '{"cpuset":"0,6"}'}
spec: {containers: [{name: c, resources: {requests: {cpu: 2}, limits: {cpu: 2}}}]}
)");
  rig_.AddPod(R"(
metadata:
  name: lse
  labels: {koordinator.sh/qosClass: LSE}
  annotations: {scheduling.koordinator.sh/resource-status: '{"cpuset":"7"}'}
spec: {containers: [{name: c, resources: {requests: {cpu: 1}, limits: {cpu: 1}}}]}
)");
  const kube::Pod& be = rig_.AddPod(R"(
metadata: {name: be, labels: {koordinator.sh/qosClass: BE}}
spec: {containers: [{name: c}]}
)");
  const CgroupDir root = rig_.QosDir(kube::PodQos::kBestEffort);
  const CgroupDir container = rig_.machine.ContainerDir(be, "c");
  for (const CgroupDir& dir :
       {container, rig_.machine.SandboxDir(be), rig_.machine.PodDir(be), root}) {
    ASSERT_TRUE(rig_.executor.Apply({CgroupTarget{CgroupFile::kCpuset, dir}, "2-3,6-7", {}}).ok());
  }
  rig_.writes.clear();

  api::NodeSloSpec slo = QuietSlo();
  slo.resource_used_threshold_with_be->enable = true;
  rig_.SetSlo(slo);
  QosManager manager(rig_.loop, rig_.Context());
  // 8 cores, 65 percent: 5200 m, less 2200 m of the LSR pod.
  rig_.loop.Advance(1s);
  rig_.metrics.Append({Metric::kNodeCpu}, 2.2);
  rig_.metrics.Append({Metric::kPodCpu, "lsr"}, 2.2);
  manager.RunOnce();
  EXPECT_EQ(Cpus(root), "2-4");
  EXPECT_EQ(Cpus(container), "2-4");
  std::vector<std::string> cpusets;
  for (const WriteRecord& write : rig_.writes) {
    if (write.path.find("cpuset") != write.path.npos) cpusets.push_back(write.new_value);
  }
  ASSERT_EQ(cpusets.size(), 8u);
  EXPECT_EQ(cpusets.front(), "2-4,6-7");
  EXPECT_EQ(cpusets[3], "2-4,6-7");
  EXPECT_EQ(cpusets[4], "2-4");
  EXPECT_THAT(rig_.registry.Text(),
              HasSubstr(R"(koordlet_be_suppress_cpu_cores{node="n",type="cpuset"} 3)"));

  // Switched off: everything but the LSE pod's.
  rig_.SetSlo(QuietSlo());
  Run(manager);
  EXPECT_EQ(Cpus(root), "0-6");
  EXPECT_EQ(Cpus(container), "0-6");
}

TEST_P(QosOnLayoutTest, StaticKubeletKeepsWhatIsAboveContainers) {
  const kube::Pod& be = rig_.AddPod(R"(
metadata: {name: be, labels: {koordinator.sh/qosClass: BE}}
spec: {containers: [{name: c}]}
)");
  TopologyView topology;
  topology.kubelet_policy = "static";
  rig_.state.SetTopology(std::make_shared<TopologyView>(topology));
  api::NodeSloSpec slo = QuietSlo();
  slo.resource_used_threshold_with_be->enable = true;
  slo.resource_used_threshold_with_be->cpu_suppress_threshold_percent = 25;
  rig_.SetSlo(slo);
  QosManager manager(rig_.loop, rig_.Context());
  rig_.loop.Advance(1s);
  rig_.metrics.Append({Metric::kNodeCpu}, 0);
  manager.RunOnce();
  EXPECT_EQ(Cpus(rig_.QosDir(kube::PodQos::kBestEffort)), "0-7");
  EXPECT_EQ(Cpus(rig_.machine.PodDir(be)), "0-7");
  EXPECT_EQ(Cpus(rig_.machine.ContainerDir(be, "c")), "0-1");
}

TEST_P(QosOnLayoutTest, QuotaOfBestEffortPodsAndBack) {
  rig_.AddPod(R"(
metadata: {name: be, labels: {koordinator.sh/qosClass: BE}}
spec: {containers: [{name: c}]}
)");
  api::NodeSloSpec slo = QuietSlo();
  slo.resource_used_threshold_with_be->enable = true;
  slo.resource_used_threshold_with_be->cpu_suppress_policy = "cfsQuota";
  rig_.SetSlo(slo);
  QosManager manager(rig_.loop, rig_.Context());
  rig_.loop.Advance(1s);
  rig_.metrics.Append({Metric::kNodeCpu}, 3.2);  // of the system
  manager.RunOnce();
  const CgroupDir root = rig_.QosDir(kube::PodQos::kBestEffort);
  EXPECT_EQ(Quota(root), "200000");
  // Somebody else takes it off: put back within one period.
  rig_.machine.Set(CgroupFile::kCpuQuota, root,
                   GetParam().version == CgroupVersion::kV1 ? "-1" : "max 100000");
  Run(manager);
  EXPECT_EQ(Quota(root), "200000");
  rig_.SetSlo(QuietSlo());
  Run(manager);
  EXPECT_EQ(Quota(root), "none");
}

TEST_P(QosOnLayoutTest, Vector9QuotaOfAThrottledContainer) {
  const kube::Pod& pod = rig_.AddPod(R"(
metadata: {name: ls, labels: {koordinator.sh/qosClass: LS}}
spec: {containers: [{name: c, resources: {requests: {cpu: 1}, limits: {cpu: 2}}}]}
)");
  api::NodeSloSpec slo = QuietSlo();
  slo.cpu_burst_strategy->policy = "auto";
  rig_.SetSlo(slo);
  const CgroupDir pod_dir = rig_.machine.PodDir(pod);
  const CgroupDir dir = rig_.machine.ContainerDir(pod, "c");
  const auto set = [&](const CgroupDir& where, int64_t quota) {
    const Update update{CgroupTarget{CgroupFile::kCpuQuota, where}, std::to_string(quota), {}};
    ASSERT_TRUE(rig_.executor.ApplyNow(update).ok());
  };
  set(pod_dir, 580000);
  set(dir, 580000);
  rig_.writes.clear();
  QosManager manager(rig_.loop, rig_.Context());
  const auto run = [&](double node_usage) {
    rig_.loop.Advance(1s);
    rig_.metrics.Append({Metric::kNodeCpu}, node_usage);
    rig_.metrics.Append({Metric::kContainerThrottled, "ls-c"}, 0.5);
    manager.RunOnce();
  };
  run(1);
  EXPECT_EQ(Quota(dir), "600000");
  EXPECT_EQ(Quota(pod_dir), "600000");
  EXPECT_EQ(Get(CgroupFile::kCpuBurst, dir), "2000000");

  rig_.loop.Advance(20s);
  run(7);  // of 8 processors
  EXPECT_EQ(Quota(dir), "480000");
  EXPECT_EQ(Quota(pod_dir), "480000");

  slo.cpu_burst_strategy->policy = "cpuBurstOnly";
  rig_.SetSlo(slo);
  run(1);
  EXPECT_EQ(Quota(dir), "200000");
  EXPECT_EQ(Quota(pod_dir), "200000");
  rig_.SetSlo(QuietSlo());
  run(1);
  EXPECT_EQ(Get(CgroupFile::kCpuBurst, dir), "0");
}

TEST_P(QosOnLayoutTest, Vector12MemoryOfABestEffortPod) {
  const kube::Pod& pod = rig_.AddPod(R"(
metadata: {name: be, labels: {koordinator.sh/qosClass: BE}}
spec:
  containers:
  - name: c
    resources:
      requests: {kubernetes.io/batch-memory: 4Mi}
      limits: {kubernetes.io/batch-memory: 4Mi}
  - name: free
)");
  rig_.SetNode(8, 1 << 30);
  api::NodeSloSpec slo = QuietSlo();
  auto& memory = *slo.resource_qos_strategy->be_class->memory_qos;
  memory.enable = true;
  memory.min_limit_percent = 100;
  memory.low_limit_percent = 0;
  memory.throttling_percent = 80;
  rig_.SetSlo(slo);
  QosManager manager(rig_.loop, rig_.Context());
  Run(manager);
  const CgroupDir dir = rig_.machine.ContainerDir(pod, "c");
  EXPECT_EQ(Get(CgroupFile::kMemoryMin, dir), "4194304");
  EXPECT_EQ(Get(CgroupFile::kMemoryLow, dir), "0");
  EXPECT_EQ(Get(CgroupFile::kMemoryHigh, dir), "4194304");
  EXPECT_EQ(Get(CgroupFile::kMemoryHigh, rig_.machine.ContainerDir(pod, "free")), "858992640");
  EXPECT_EQ(Get(CgroupFile::kMemoryMin, rig_.machine.PodDir(pod)), "4194304");
  EXPECT_EQ(Get(CgroupFile::kMemoryMin, rig_.QosDir(kube::PodQos::kBestEffort)), "4194304");
  EXPECT_EQ(Get(CgroupFile::kMemoryMin, rig_.QosDir(kube::PodQos::kGuaranteed)), "4194304");

  // The pod leaves, and with it what it was sure of.
  rig_.machine.RemovePod(pod);
  rig_.pods.clear();
  rig_.PublishPods();
  Run(manager);
  EXPECT_EQ(Get(CgroupFile::kMemoryMin, rig_.QosDir(kube::PodQos::kBestEffort)), "0");
  EXPECT_EQ(Get(CgroupFile::kMemoryMin, rig_.QosDir(kube::PodQos::kGuaranteed)), "0");
}

INSTANTIATE_TEST_SUITE_P(Layouts, QosOnLayoutTest,
                         ::testing::Values(Layout{CgroupVersion::kV1, CgroupDriver::kCgroupfs},
                                           Layout{CgroupVersion::kV1, CgroupDriver::kSystemd},
                                           Layout{CgroupVersion::kV2, CgroupDriver::kCgroupfs},
                                           Layout{CgroupVersion::kV2, CgroupDriver::kSystemd}));

TEST(QosManagerTest, Vector6MemoryEvictionPicksTheRightPod) {
  QosRig rig;
  rig.SetNode(8, 120 * kGb);
  const auto add = [&](std::string_view name, int priority, double used) {
    rig.AddPod(
        fmt::format("metadata: {{name: {}, labels: {{koordinator.sh/qosClass: BE}}}}\n"
                    "spec: {{priority: {}, containers: [{{name: c}}]}}\n",
                    name, priority));
    rig.metrics.Append({Metric::kPodMemory, name}, used * kGb);
  };
  rig.loop.Advance(1s);
  add("small", 100, 10);
  add("important", 120, 30);
  add("large", 100, 20);
  rig.metrics.Append({Metric::kNodeMemory}, 115.0 * kGb);
  api::NodeSloSpec slo = QuietSlo();
  slo.resource_used_threshold_with_be->enable = true;
  slo.resource_used_threshold_with_be->memory_evict_threshold_percent = 82;
  rig.SetSlo(slo);
  QosManager manager(rig.loop, rig.Context());
  manager.RunOnce();
  EXPECT_THAT(rig.evictor.evicted, ElementsAre("large"));
  manager.RunOnce();
  EXPECT_EQ(rig.evictor.evicted.size(), 1u) << "it cools down first";
}

TEST(QosManagerTest, Vector7AllocatableEviction) {
  QosRig rig;
  const auto add = [&](std::string_view name, int gi, bool willing) {
    rig.AddPod(fmt::format(R"(
metadata: {{name: {0}, labels: {{koordinator.sh/qosClass: BE, koordinator.sh/eviction-enabled: "{2}"}}}}
spec:
  priority: 5500
  containers: [{{name: c, resources: {{requests: {{kubernetes.io/batch-memory: {1}Gi}}}}}}]
)",
                           name, gi, willing));
    rig.metrics.Append({Metric::kPodMemory, name}, 1);
  };
  rig.loop.Advance(1s);
  add("a", 45, false);
  add("b", 40, true);
  kube::Node node = *rig.state.node();
  node.status.allocatable.Mutable()["kubernetes.io/batch-memory"] = *kube::Quantity::Parse("100Gi");
  rig.state.SetNode(std::make_shared<kube::Node>(node));
  api::NodeSloSpec slo = QuietSlo();
  auto& threshold = *slo.resource_used_threshold_with_be;
  threshold.enable = true;
  threshold.memory_allocatable_evict_threshold_percent = 80;
  threshold.memory_allocatable_evict_lower_percent = 70;
  threshold.allocatable_evict_priority_threshold = 5999;
  rig.SetSlo(slo);
  QosManager manager(rig.loop, rig.Context());
  manager.RunOnce();
  EXPECT_THAT(rig.evictor.evicted, ElementsAre("b"));
}

// What a pod uses that is listed no more is neither the system's, of which a part is reserved
// anyhow, nor that of best-effort pods.
TEST(QosManagerTest, UsageOfAPodThatIsNotListedCountsAsNotBestEffort) {
  QosRig rig;
  rig.AddPod(R"(
metadata: {name: ls}
spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}
)");
  rig.AddPod("{metadata: {name: gone}, spec: {containers: [{name: c}]}}");
  rig.SetNode(8, 1 << 30);
  kube::Node node = *rig.state.node();
  node.status.allocatable.Mutable()["cpu"] =
      kube::Quantity::Parse("7").value();  // of 8: one is reserved
  rig.state.SetNode(std::make_shared<kube::Node>(node));
  api::NodeSloSpec slo = QuietSlo();
  slo.resource_used_threshold_with_be->enable = true;
  slo.resource_used_threshold_with_be->cpu_suppress_policy = "cfsQuota";
  rig.SetSlo(slo);
  QosContext context = rig.Context();
  std::string said;
  context.on_decision = [&](const QosDecision& decision) {
    if (decision.strategy == "CPUSuppresss") said = decision.text;
  };
  QosManager manager(rig.loop, std::move(context));
  const auto left = [&] {
    rig.loop.Advance(1s);
    rig.metrics.Append({Metric::kNodeCpu}, 2);
    rig.metrics.Append({Metric::kPodCpu, "ls"}, 1);
    rig.metrics.Append({Metric::kPodCpu, "gone"}, 1);
    manager.RunOnce();
    return said.substr(0, said.find(' '));
  };
  // 65 percent of 8 cores, less 1 of the service and 1 that is reserved.
  EXPECT_EQ(left(), "3200");
  rig.pods.pop_back();
  rig.PublishPods();
  EXPECT_EQ(left(), "2200") << "the reserved core is not the one that the pod uses";
  rig.loop.Advance(10s);
  rig.metrics.Append({Metric::kNodeCpu}, 1);
  rig.metrics.Append({Metric::kPodCpu, "ls"}, 1);
  manager.RunOnce();
  EXPECT_EQ(said.substr(0, said.find(' ')), "3200") << "nobody has seen it use anything lately";
}

constexpr char kBePod[] = R"(
metadata: {name: be, labels: {koordinator.sh/qosClass: BE}}
spec: {containers: [{name: c}]}
)";

api::NodeSloSpec ResctrlForBe() {
  api::NodeSloSpec slo = QuietSlo();
  slo.resource_qos_strategy->be_class->resctrl_qos->enable = true;
  return slo;
}

TEST(QosManagerTest, Vector11ResctrlOfIntelAndAmd) {
  for (const auto flavour : {ResctrlFlavour::kIntel, ResctrlFlavour::kAmd}) {
    QosRig rig({.resctrl = flavour});
    const kube::Pod& pod = rig.AddPod(kBePod);
    const int32_t pids[] = {7, 5};
    rig.machine.SetProcesses(rig.machine.ContainerDir(pod, "c"), pids);
    api::NodeSloSpec slo = QuietSlo();
    auto& be = *slo.resource_qos_strategy->be_class->resctrl_qos;
    be.enable = true;
    be.cat_range_start_percent = 0;
    be.cat_range_end_percent = 30;
    be.mba_percent = 85;
    rig.SetSlo(slo);
    QosManager manager(rig.loop, rig.Context());
    rig.loop.Advance(1s);
    manager.RunOnce();
    const std::string schemata = *rig.machine.resctrl().Read("BE/schemata");
    EXPECT_THAT(schemata, HasSubstr("=3f"));  // 30 percent of 20 ways
    EXPECT_THAT(schemata, HasSubstr(flavour == ResctrlFlavour::kIntel ? "=90" : "=136"));
    EXPECT_THAT(rig.machine.resctrl_kernel().Tasks("BE"), ElementsAre(5, 7));
    rig.SetSlo(QuietSlo());
    rig.loop.Advance(1s);
    manager.RunOnce();
    EXPECT_EQ(*rig.machine.resctrl().Read("BE/schemata"), *rig.machine.resctrl().Read("schemata"));
  }
}

TEST(QosManagerTest, ANodesBandwidthThatMakesNoSenseLeavesTheGroupAsItIs) {
  for (const int64_t percent : {-1, 0, 101, 1000}) {
    QosRig rig({.resctrl = ResctrlFlavour::kIntel});
    rig.AddPod(kBePod);
    KnownProblems known_problems;
    const auto set = [&](int64_t mba) {
      api::NodeSloSpec slo = QuietSlo();
      auto& be = *slo.resource_qos_strategy->be_class->resctrl_qos;
      be.enable = true;
      be.mba_percent = mba;
      rig.SetSlo(MergeNodeSlo(slo, "n", known_problems));
    };
    set(20);
    QosManager manager(rig.loop, rig.Context());
    rig.loop.Advance(1s);
    manager.RunOnce();
    ASSERT_THAT(*rig.machine.resctrl().Read("BE/schemata"), HasSubstr("=20"));
    set(percent);
    rig.loop.Advance(1s);
    manager.RunOnce();
    EXPECT_THAT(*rig.machine.resctrl().Read("BE/schemata"), HasSubstr("=20")) << percent;
    set(30);
    rig.loop.Advance(1s);
    manager.RunOnce();
    EXPECT_THAT(*rig.machine.resctrl().Read("BE/schemata"), HasSubstr("=30")) << percent;
  }
}

TEST(QosManagerTest, NewThreadsFollowTheirContainerIntoItsResctrlGroup) {
  for (const CgroupVersion version : {CgroupVersion::kV1, CgroupVersion::kV2}) {
    QosRig rig({.version = version, .resctrl = ResctrlFlavour::kIntel});
    const kube::Pod& pod = rig.AddPod(kBePod);
    const CgroupDir dir = rig.machine.ContainerDir(pod, "c");
    const auto run = [&](const CgroupDir& where, std::vector<int32_t> threads) {
      rig.machine.SetProcesses(where, threads);
      rig.machine.UseCpu(where, 1ms);
    };
    rig.SetSlo(ResctrlForBe());
    QosManager manager(rig.loop, rig.Context());
    const auto pass = [&] {
      rig.loop.Advance(1s);
      manager.RunOnce();
    };
    run(dir, {5});
    run(rig.machine.SandboxDir(pod), {3});
    pass();
    EXPECT_THAT(rig.machine.resctrl_kernel().Tasks("BE"), ElementsAre(3, 5));
    run(dir, {5, 6});
    pass();
    EXPECT_THAT(rig.machine.resctrl_kernel().Tasks("BE"), ElementsAre(3, 5, 6));
    // Somebody takes one out; nothing runs meanwhile.
    ASSERT_TRUE(rig.machine.resctrl().Append("tasks", "6").ok());
    ASSERT_THAT(rig.machine.resctrl_kernel().Tasks("BE"), ElementsAre(3, 5));
    pass();
    EXPECT_THAT(rig.machine.resctrl_kernel().Tasks("BE"), ElementsAre(3, 5, 6));
  }
}

TEST(QosManagerTest, ThreadsOfPodsThatHaveNotRunAreNotReadAgain) {
  for (const CgroupVersion version : {CgroupVersion::kV1, CgroupVersion::kV2}) {
    QosRig rig({.version = version, .resctrl = ResctrlFlavour::kIntel});
    const kube::Pod& pod = rig.AddPod(kBePod);
    const CgroupDir dir = rig.machine.ContainerDir(pod, "c");
    const std::string& id = rig.state.pods()->front().containers.front().id;
    rig.SetSlo(ResctrlForBe());
    QosManager manager(rig.loop, rig.Context());
    const auto tasks_after = [&](std::vector<int32_t> threads, double pod_cores, double cores) {
      rig.machine.SetProcesses(dir, threads);
      rig.loop.Advance(1s);
      rig.metrics.Append({Metric::kPodCpu, pod.metadata.uid}, pod_cores);
      rig.metrics.Append({Metric::kContainerCpu, id}, cores);
      manager.RunOnce();
      return rig.machine.resctrl_kernel().Tasks("BE");
    };
    EXPECT_THAT(tasks_after({5}, 0, 0), ElementsAre(5));  // never seen before
    EXPECT_THAT(tasks_after({5, 6}, 0, 0), ElementsAre(5));
    EXPECT_THAT(tasks_after({5, 6}, 1e-9, 0), ElementsAre(5));  // only its neighbours have run
    EXPECT_THAT(tasks_after({5, 6}, 1e-9, 1e-9), ElementsAre(5, 6));
    EXPECT_THAT(tasks_after({5, 6}, 0, 0), ElementsAre(5, 6));
    // What is not measured may have run.
    rig.machine.SetProcesses(dir, std::vector<int32_t>{5, 6, 7});
    rig.loop.Advance(10s);
    manager.RunOnce();
    EXPECT_THAT(rig.machine.resctrl_kernel().Tasks("BE"), ElementsAre(5, 6, 7));
  }
}

TEST(QosManagerTest, OnlyGatesThatAreOnRun) {
  QosRig rig;
  ASSERT_TRUE(rig.gates.Set("AllAlpha=false,CPUBurst=false").ok());
  EXPECT_THAT(QosManager(rig.loop, rig.Context()).names(),
              ElementsAre("CPUSuppresss", "ResctrlReconcile"));
  ASSERT_TRUE(rig.gates.Set("CPUEvict=true,MemoryAllocatableEvict=true").ok());
  EXPECT_THAT(QosManager(rig.loop, rig.Context()).names(),
              ElementsAre("CPUSuppresss", "CPUEvict", "memoryEvict", "ResctrlReconcile"));
}

TEST(QosManagerTest, NothingHappensWithoutANodeSlo) {
  QosRig rig;
  rig.AddPod(kBePod);
  const std::string before = rig.machine.Dump();
  QosManager manager(rig.loop, rig.Context());
  manager.Start();
  rig.loop.Advance(5s);
  EXPECT_EQ(rig.machine.Dump(), before);
  EXPECT_THAT(rig.writes, IsEmpty());
}

TEST(QosManagerTest, RunsOnItsIntervalUntilStopped) {
  QosRig rig;
  const kube::Pod& pod = rig.AddPod(R"(
metadata: {name: ls, labels: {koordinator.sh/qosClass: LS}}
spec: {containers: [{name: c, resources: {limits: {cpu: 1}}}]}
)");
  api::NodeSloSpec slo = QuietSlo();
  slo.cpu_burst_strategy->policy = "auto";
  slo.cpu_burst_strategy->cpu_burst_percent = 50;
  rig.SetSlo(slo);
  QosManager manager(rig.loop, rig.Context());
  manager.Start();
  rig.loop.Advance(1s);
  EXPECT_EQ(rig.Get(CgroupFile::kCpuBurst, rig.machine.ContainerDir(pod, "c")), "50000");
  manager.Stop();
  rig.SetSlo(QuietSlo());
  rig.loop.Advance(10s);
  EXPECT_EQ(rig.Get(CgroupFile::kCpuBurst, rig.machine.ContainerDir(pod, "c")), "50000");
}

TEST(CpuBurstTest, MainlineKernelsTakeNoMoreThanTheQuota) {
  QosRig rig;
  const kube::Pod& pod = rig.AddPod(R"(
metadata: {name: ls, labels: {koordinator.sh/qosClass: LS}}
spec: {containers: [{name: c, resources: {limits: {cpu: 1}}}]}
)");
  api::NodeSloSpec slo = QuietSlo();
  slo.cpu_burst_strategy->policy = "auto";
  rig.SetSlo(slo);
  QosManager manager(rig.loop, rig.Context());
  manager.RunOnce();
  EXPECT_EQ(rig.Get(CgroupFile::kCpuBurst, rig.machine.ContainerDir(pod, "c")), "100000");
  EXPECT_EQ(rig.Get(CgroupFile::kCpuBurst, rig.machine.PodDir(pod)), "100000");
}

TEST(CpuBurstTest, AContainerThatDiesLeavesNothingBehind) {
  QosRig rig({.version = CgroupVersion::kV1, .anolis = true});
  const kube::Pod& pod = rig.AddPod(R"(
metadata: {name: ls, labels: {koordinator.sh/qosClass: LS}}
spec: {containers: [{name: a, resources: {limits: {cpu: 1}}}, {name: b, resources: {limits: {cpu: 1}}}]}
)");
  const std::string before = rig.Get(CgroupFile::kCpuQuota, rig.machine.PodDir(pod));
  api::NodeSloSpec slo = QuietSlo();
  slo.cpu_burst_strategy->policy = "auto";
  rig.SetSlo(slo);
  QosManager manager(rig.loop, rig.Context());
  rig.loop.Advance(1s);
  rig.metrics.Append({Metric::kNodeCpu}, 1);
  rig.metrics.Append({Metric::kContainerThrottled, "ls-a"}, 1);
  manager.RunOnce();
  EXPECT_EQ(rig.Get(CgroupFile::kCpuQuota, rig.machine.PodDir(pod)), "220000");
  // The container restarts under another id.
  rig.machine.cgroup_kernel().RemoveDirectory(rig.machine.ContainerDir(pod, "a"));
  rig.SetSlo(QuietSlo());
  rig.loop.Advance(1s);
  manager.RunOnce();
  EXPECT_EQ(rig.Get(CgroupFile::kCpuQuota, rig.machine.PodDir(pod)), before);
}

TEST(CpuBurstTest, ACrashBetweenPodAndContainerLeavesNothingBehind) {
  for (const bool was_raising : {true, false}) {
    QosRig rig({.version = CgroupVersion::kV1, .anolis = true});
    const kube::Pod& pod = rig.AddPod(R"(
metadata: {name: ls, labels: {koordinator.sh/qosClass: LS}}
spec: {containers: [{name: a, resources: {limits: {cpu: 1}}}, {name: b, resources: {limits: {cpu: 1}}}]}
)");
    const auto set = [&](const CgroupDir& dir, std::string_view quota) {
      const Update update{CgroupTarget{CgroupFile::kCpuQuota, dir}, std::string(quota), {}};
      ASSERT_TRUE(rig.executor.ApplyNow(update).ok());
    };
    const CgroupDir a = rig.machine.ContainerDir(pod, "a");
    const CgroupDir b = rig.machine.ContainerDir(pod, "b");
    const CgroupDir dir = rig.machine.PodDir(pod);
    set(dir, "300000");  // 60000 more than its containers have
    set(b, "140000");
    api::NodeSloSpec slo = QuietSlo();
    slo.cpu_burst_strategy->policy = "auto";
    rig.SetSlo(slo);
    QosManager manager(rig.loop, rig.Context());
    rig.loop.Advance(1s);
    rig.metrics.Append({Metric::kNodeCpu}, 1);
    rig.metrics.Append({Metric::kContainerThrottled, "ls-a"}, was_raising ? 1 : 0);
    manager.RunOnce();
    EXPECT_EQ(rig.Get(CgroupFile::kCpuQuota, a), was_raising ? "120000" : "100000");
    EXPECT_EQ(rig.Get(CgroupFile::kCpuQuota, b), "140000");
    EXPECT_EQ(rig.Get(CgroupFile::kCpuQuota, dir), was_raising ? "260000" : "240000");
  }
}

}  // namespace
}  // namespace koord::koordlet::qos_manager_test
