#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "koordlet/hooks/hook_fixture_testing.h"

// The hooks that set CPU and memory, run by the reconciler on every kind of cgroups.
namespace koord::koordlet::hooks::cpu_hooks_test {
namespace {

using ::testing::IsEmpty;

constexpr std::string_view kGroupIdentityOn = R"(
resourceQOSStrategy:
  policies: {cpuPolicy: groupIdentity}
  lsrClass: {cpuQOS: {enable: true, groupIdentity: 2}}
  lsClass: {cpuQOS: {enable: true, groupIdentity: 2}}
  beClass: {cpuQOS: {enable: true, groupIdentity: -1}}
)";
constexpr std::string_view kGroupIdentityOff = R"(
resourceQOSStrategy:
  lsrClass: {cpuQOS: {enable: false, groupIdentity: 0}}
  lsClass: {cpuQOS: {enable: false, groupIdentity: 0}}
  beClass: {cpuQOS: {enable: false, groupIdentity: 0}}
)";

TopologyView TwoPools() {
  TopologyView topology;
  topology.ls_pools = {{.socket = 0, .node = 0, .cpuset = "0-7"},
                       {.socket = 0, .node = 1, .cpuset = "8-15"}};
  topology.be_pools = topology.ls_pools;
  return topology;
}

class CpuHooks : public ::testing::TestWithParam<std::tuple<CgroupVersion, CgroupDriver>> {
 protected:
  HookNode::Options OnLayout() const {
    HookNode::Options options;
    options.host.version = std::get<0>(GetParam());
    options.host.driver = std::get<1>(GetParam());
    options.host.shape = {.nodes = 2, .cores = 8, .threads = 2};
    options.host.anolis = true;
    return options;
  }
  static Limit QuotaOf(HookNode& node, const CgroupDir& dir) {
    return node.machine.host().cgroups().ReadCpuQuota(dir).value();
  }
  static std::string Bvt(HookNode& node, std::string_view pod) {
    return node.OfPod(CgroupFile::kCpuBvt, pod);
  }
};

INSTANTIATE_TEST_SUITE_P(
    Layouts, CpuHooks,
    ::testing::Combine(::testing::Values(CgroupVersion::kV1, CgroupVersion::kV2),
                       ::testing::Values(CgroupDriver::kSystemd, CgroupDriver::kCgroupfs)));

TEST_P(CpuHooks, Vector17Bvt) {
  HookNode node(OnLayout());
  node.AddPod(R"(
metadata:
  name: ls-own
  labels: {koordinator.sh/qosClass: LS}
  annotations: {koordinator.sh/cpuQOS: '{"enable":true,"groupIdentity":-1}'}
spec: {containers: [{name: a}]}
)");
  node.AddPod(R"(
metadata:
  name: ls-off
  labels: {koordinator.sh/qosClass: LS}
  annotations: {koordinator.sh/cpuQOS: '{"enable":false}'}
spec: {containers: [{name: a}]}
)");
  node.AddPod(R"(
metadata:
  name: be
  labels: {koordinator.sh/qosClass: BE}
  annotations: {koordinator.sh/cpuQOS: '{"enable":true,"groupIdentity":2}'}
spec: {containers: [{name: a}]}
)");
  node.AddPod(R"(
metadata: {name: ls, labels: {koordinator.sh/qosClass: LS}}
spec: {containers: [{name: a}]}
)");
  node.SetSlo(kGroupIdentityOn);
  node.Sync();
  EXPECT_EQ(Bvt(node, "ls-own"), "-1");
  EXPECT_EQ(Bvt(node, "ls-off"), "0");
  EXPECT_EQ(Bvt(node, "be"), "-1") << "the annotation counts for LS only";
  EXPECT_EQ(Bvt(node, "ls"), "2");
  EXPECT_EQ(node.OfContainer(CgroupFile::kCpuBvt, "ls", "a"), "2");
  const CgroupLayout& layout = node.machine.host().cgroups().layout();
  const auto dir = [&](kube::PodQos qos) {
    return node.machine.Get(CgroupFile::kCpuBvt, layout.QosDir(qos));
  };
  EXPECT_EQ(dir(kube::PodQos::kGuaranteed), "0");
  EXPECT_EQ(dir(kube::PodQos::kBurstable), "2");
  EXPECT_EQ(dir(kube::PodQos::kBestEffort), "-1");
}

TEST_P(CpuHooks, BvtGoesBackToZeroWhenClassesOrThePolicyAreSwitchedOff) {
  HookNode node(OnLayout());
  node.AddPod(R"(
metadata: {name: be, labels: {koordinator.sh/qosClass: BE}}
spec: {containers: [{name: a}]}
)");
  const std::string before = node.machine.Dump();
  for (const std::string_view off :
       {kGroupIdentityOff,
        std::string_view("resourceQOSStrategy: {policies: {cpuPolicy: coreSched}, "
                         "beClass: {cpuQOS: {enable: true, groupIdentity: -1}}}")}) {
    node.SetSlo(kGroupIdentityOn);
    node.Sync();
    ASSERT_EQ(Bvt(node, "be"), "-1");
    node.SetSlo(off);
    EXPECT_EQ(node.machine.Dump(), before);
  }
}

TEST_P(CpuHooks, PodsThatTheKubeletDoesNotTellOfFollowTheirDirectory) {
  HookNode node(OnLayout());
  const auto unknown = TestPod("{metadata: {name: x}, spec: {containers: [{name: a}]}}");
  node.machine.AddPod(*unknown);
  node.Sync();
  node.SetSlo(kGroupIdentityOn);
  EXPECT_EQ(node.machine.Get(CgroupFile::kCpuBvt, node.machine.PodDir(*unknown)), "-1");
  EXPECT_EQ(node.machine.Get(CgroupFile::kCpuBvt, node.machine.ContainerDir(*unknown, "a")), "-1");
}

TEST_P(CpuHooks, Vector19Cpusets) {
  HookNode node(OnLayout());
  node.AddPod(R"(
metadata: {name: ls, labels: {koordinator.sh/qosClass: LS}}
spec: {containers: [{name: a}]}
)");
  node.AddPod("{metadata: {name: best-effort}, spec: {containers: [{name: a}]}}");
  node.AddPod(R"(
metadata: {name: guaranteed}
spec: {containers: [{name: a, resources: {requests: {cpu: 1, memory: 1Gi}, limits: {cpu: 1, memory: 1Gi}}}]}
)");
  TopologyView topology = TwoPools();
  topology.ls_pools[1].cpuset = "8-14";
  topology.kubelet_policy = "static";
  node.Sync();
  const std::string untouched = node.OfContainer(CgroupFile::kCpuset, "guaranteed", "a");
  node.SetTopology(topology);
  const auto cpus = [&](std::string_view pod) {
    return node.OfContainer(CgroupFile::kCpuset, pod, "a");
  };
  EXPECT_EQ(cpus("ls"), "0-14");
  EXPECT_EQ(cpus("best-effort"), untouched);
  EXPECT_EQ(cpus("guaranteed"), untouched);
  topology.kubelet_policy = "none";
  node.SetTopology(topology);
  EXPECT_EQ(cpus("guaranteed"), "0-14");
}

constexpr std::string_view kPinned = R"(
metadata:
  name: {0}
  creationTimestamp: {1}
  labels: {{koordinator.sh/qosClass: {2}}}
  annotations: {{scheduling.koordinator.sh/resource-status: '{{"cpuset":"{3}"}}'}}
spec: {{containers: [{{name: a, resources: {{requests: {{cpu: 2, memory: 1Gi}}, limits: {{cpu: 2, memory: 1Gi}}}}}}]}}
)";

TEST_P(CpuHooks, PodsWithCpusOfTheirOwnLoseTheirQuota) {
  HookNode node(OnLayout());
  node.AddPod(fmt::format(fmt::runtime(kPinned), "lsr", "2026-01-01T00:00:00Z", "LSR", "2-3"));
  node.SetTopology(TwoPools());
  node.Sync();
  EXPECT_EQ(node.OfContainer(CgroupFile::kCpuset, "lsr", "a"), "2-3");
  EXPECT_EQ(node.machine.Get(CgroupFile::kCpuset, node.machine.SandboxDir(node.pod("lsr"))), "2-3");
  EXPECT_TRUE(QuotaOf(node, node.machine.PodDir(node.pod("lsr"))).unlimited());
  EXPECT_TRUE(QuotaOf(node, node.machine.ContainerDir(node.pod("lsr"), "a")).unlimited());

  // Its author takes the annotation away.
  kube::Pod changed = node.pod("lsr");
  changed.metadata.annotations.clear();
  node.pods = {std::make_shared<const kube::Pod>(changed)};
  node.Sync();
  EXPECT_EQ(QuotaOf(node, node.machine.PodDir(changed)), Limit::Of(200000));
  EXPECT_EQ(QuotaOf(node, node.machine.ContainerDir(changed, "a")), Limit::Of(200000));
}

TEST_P(CpuHooks, NobodyTakesCpusThatAreNotTheirs) {
  HookNode node(OnLayout());
  const auto add = [&](const char* name, const char* created, const char* qos, const char* cpus) {
    node.AddPod(fmt::format(fmt::runtime(kPinned), name, created, qos, cpus));
  };
  add("first", "2026-01-01T00:00:00Z", "LSE", "2-3");
  add("thief", "2026-01-02T00:00:00Z", "LSR", "3-4");
  add("reserved", "2026-01-01T00:00:00Z", "LSR", "0");
  add("system", "2026-01-01T00:00:00Z", "LSR", "15");
  add("ls", "2026-01-01T00:00:00Z", "LS", "5");
  add("kubelets", "2026-01-01T00:00:00Z", "LSR", "9");
  TopologyView topology = TwoPools();
  topology.reserved_cpus = {0, 1};
  topology.kubelet_cpus = {9};
  topology.system_qos_cpus = {15};
  node.SetTopology(topology);
  node.Sync();
  EXPECT_EQ(node.OfContainer(CgroupFile::kCpuset, "first", "a"), "2-3");
  for (const char* pod : {"thief", "reserved", "system", "ls", "kubelets"}) {
    EXPECT_EQ(node.OfContainer(CgroupFile::kCpuset, pod, "a"), "0-15") << pod;
    EXPECT_EQ(QuotaOf(node, node.machine.PodDir(node.pod(pod))), Limit::Of(200000)) << pod;
  }
  // The owner goes, and the next one has its turn.
  node.machine.RemovePod(node.pod("first"));
  node.pods.erase(node.pods.begin());
  node.Sync();
  EXPECT_EQ(node.OfContainer(CgroupFile::kCpuset, "thief", "a"), "3-4");
}

TEST_P(CpuHooks, OneFlagRestoresTrust) {
  HookNode::Options options = OnLayout();
  options.hooks.trust.trust_pod_authors = true;
  HookNode node(options);
  node.AddPod(fmt::format(fmt::runtime(kPinned), "ls", "2026-01-01T00:00:00Z", "LS", "5"));
  node.SetTopology(TwoPools());
  node.Sync();
  EXPECT_EQ(node.OfContainer(CgroupFile::kCpuset, "ls", "a"), "5");
}

TEST_P(CpuHooks, MalformedResourceStatusLeavesThePodAlone) {
  HookNode node(OnLayout());
  for (const char* text : {"{", "[]", R"({"cpuset":7})", "{}"}) {
    kube::Pod pod = *TestPod(R"({metadata: {name: p, labels: {koordinator.sh/qosClass: LS}},
                                 spec: {containers: [{name: a}]}})");
    pod.metadata.name = pod.metadata.uid = fmt::format("p{}", node.pods.size());
    pod.metadata.annotations["scheduling.koordinator.sh/resource-status"] = text;
    node.AddPod(std::make_shared<const kube::Pod>(pod));
  }
  const std::string before = node.OfContainer(CgroupFile::kCpuset, "p0", "a");
  TopologyView topology = TwoPools();
  topology.ls_pools.pop_back();
  node.SetTopology(topology);
  node.Sync();
  for (const char* bad : {"p0", "p1", "p2"}) {
    EXPECT_EQ(node.OfContainer(CgroupFile::kCpuset, bad, "a"), before) << bad;
  }
  EXPECT_EQ(node.OfContainer(CgroupFile::kCpuset, "p3", "a"), "0-7") << "nothing is said";
}

constexpr std::string_view kBatchPod = R"(
metadata: {name: be, labels: {koordinator.sh/qosClass: BE}}
spec:
  containers:
  - {name: a, resources: {limits: {kubernetes.io/batch-cpu: 1000, kubernetes.io/batch-memory: 1Gi}}}
)";

TEST_P(CpuHooks, CpusThatNoMachineHasHarmNobodyEvenIfAuthorsAreTrusted) {
  for (const char* cpus : {"2147483647", "0-2147483647", "8192", "0-1,99999999999999999999"}) {
    HookNode::Options options = OnLayout();
    options.hooks.trust.trust_pod_authors = true;
    HookNode node(options);
    node.AddPod(fmt::format(R"(
metadata:
  name: p
  labels: {{koordinator.sh/qosClass: LSR}}
  annotations: {{scheduling.koordinator.sh/resource-status: '{{"cpuset":"{}"}}'}}
spec: {{containers: [{{name: a, resources: {{limits: {{cpu: 2, memory: 1Gi}}}}}}]}}
)",
                            cpus));
    node.AddPod(kBatchPod);
    node.Sync();
    EXPECT_FALSE(QuotaOf(node, node.machine.PodDir(node.pod("be"))).unlimited()) << cpus;
    for (const std::string& write : node.writes) {
      EXPECT_EQ(write.find("cpuset"), std::string::npos) << write;
    }
  }
}

TEST_P(CpuHooks, Vector20BatchQuota) {
  HookNode node(OnLayout());
  node.AddPod(kBatchPod);
  node.Sync();
  const CgroupDir pod = node.machine.PodDir(node.pod("be"));
  const CgroupDir container = node.machine.ContainerDir(node.pod("be"), "a");
  const Cgroups& cgroups = node.machine.host().cgroups();
  for (const CgroupDir& dir : {pod, container}) {
    EXPECT_EQ(cgroups.ReadCpuShares(dir).value(), 2);
    EXPECT_EQ(QuotaOf(node, dir), Limit::Of(100000));
    EXPECT_EQ(cgroups.ReadMemoryLimit(dir).value(), Limit::Of(int64_t{1} << 30));
  }
  node.SetNode("metadata: {annotations: {node.koordinator.sh/cpu-normalization-ratio: '1.2'}}");
  EXPECT_EQ(QuotaOf(node, pod), Limit::Of(83334));
  EXPECT_EQ(QuotaOf(node, container), Limit::Of(83334));
  node.SetSlo("resourceUsedThresholdWithBE: {enable: true, cpuSuppressPolicy: cfsQuota}");
  EXPECT_TRUE(QuotaOf(node, pod).unlimited());
  EXPECT_TRUE(QuotaOf(node, container).unlimited());
  node.SetSlo("resourceUsedThresholdWithBE: {enable: false, cpuSuppressPolicy: cfsQuota}");
  EXPECT_EQ(QuotaOf(node, container), Limit::Of(83334));
}

TEST_P(CpuHooks, OnePodMemberWithoutLimitMakesThePodUnlimited) {
  HookNode node(OnLayout());
  node.AddPod(R"(
metadata: {name: be, labels: {koordinator.sh/qosClass: BE}}
spec:
  containers:
  - {name: a, resources: {requests: {kubernetes.io/batch-cpu: 500}, limits: {kubernetes.io/batch-cpu: 1000}}}
  - {name: b, resources: {requests: {kubernetes.io/batch-cpu: 500}}}
  - {name: sidecar}
)");
  node.Sync();
  const CgroupDir pod = node.machine.PodDir(node.pod("be"));
  EXPECT_TRUE(QuotaOf(node, pod).unlimited());
  EXPECT_EQ(QuotaOf(node, node.machine.ContainerDir(node.pod("be"), "a")), Limit::Of(100000));
  const int64_t shares = node.machine.host().cgroups().ReadCpuShares(pod).value();
  EXPECT_NEAR(static_cast<double>(shares), 1024, 27) << "weights of version 2 are coarse";
}

TEST_P(CpuHooks, HostileBatchAmountsStayInRange) {
  HookNode node(OnLayout());
  node.AddPod(R"(
metadata: {name: be, labels: {koordinator.sh/qosClass: BE}}
spec:
  containers:
  - name: a
    resources:
      requests: {kubernetes.io/batch-cpu: 9223372036854775807}
      limits: {kubernetes.io/batch-cpu: -5, kubernetes.io/batch-memory: 9E}
)");
  node.Sync();
  const CgroupDir container = node.machine.ContainerDir(node.pod("be"), "a");
  EXPECT_EQ(node.machine.host().cgroups().ReadCpuShares(container).value(), 262144);
  EXPECT_TRUE(QuotaOf(node, container).unlimited());
}

// Decision 6. What a runtime tells of a listed pod counts only as far as the pod may have it.
TEST_P(CpuHooks, TheNodesPolicyMayBindServices) {
  HookNode node(OnLayout());
  node.AddPod(R"(
metadata:
  name: ls
  labels: {koordinator.sh/qosClass: LS}
  annotations: {scheduling.koordinator.sh/resource-status: '{"cpuset":"2-3"}'}
spec: {containers: [{name: a, resources: {requests: {cpu: 2}, limits: {cpu: 2}}}]}
)");
  for (const bool binds : {false, true}) {
    node.book.SetBounds({.cpus = {0, 1, 2, 3}, .binds_all_pods = binds, .cpu_burst = {}});
    TopologyView topology;
    topology.ls_pools = {{.socket = 0, .node = 0, .cpuset = "0-1"}};
    topology.binds_all_pods = binds;
    node.SetTopology(topology);
    node.Sync();
    EXPECT_EQ(node.OfContainer(CgroupFile::kCpuset, "ls", "a"), binds ? "2-3" : "0-1");
    EXPECT_EQ(QuotaOf(node, node.machine.PodDir(node.pod("ls"))), Limit::Of(200000))
        << "a service keeps its limit";
  }
}

// Anybody who may patch a pod's annotations could write what he likes there.
TEST_P(CpuHooks, AnAnnotationOfBatchAmountsChangesNoLimit) {
  constexpr char kMuch[] = R"('{"containers":{"a":{"requests":{"kubernetes.io/batch-cpu":"64000"},)"
                           R"("limits":{"kubernetes.io/batch-cpu":"64000",)"
                           R"("kubernetes.io/batch-memory":"1Ti"}}}}')";
  constexpr char kPod[] = R"(
metadata:
  name: {0}
  labels: {{koordinator.sh/qosClass: BE}}
  annotations: {{node.koordinator.sh/extended-resource-spec: {1}}}
spec: {{containers: [{{name: a, resources: {2}}}]}}
)";
  const std::string own =
      "{limits: {kubernetes.io/batch-cpu: 1000, kubernetes.io/batch-memory: 1Gi}}";
  HookNode node(OnLayout());
  node.AddPod(fmt::format(fmt::runtime(kPod), "limited", kMuch, own));
  node.AddPod(fmt::format(fmt::runtime(kPod), "plain", kMuch, "{}"));
  const CgroupDir untouched = node.machine.ContainerDir(node.pod("plain"), "a");
  const Cgroups& cgroups = node.machine.host().cgroups();
  const int64_t shares = cgroups.ReadCpuShares(untouched).value();
  node.Sync();
  for (const CgroupDir& dir : {node.machine.PodDir(node.pod("limited")),
                               node.machine.ContainerDir(node.pod("limited"), "a")}) {
    EXPECT_EQ(QuotaOf(node, dir), Limit::Of(100000));
    EXPECT_EQ(cgroups.ReadMemoryLimit(dir).value(), Limit::Of(int64_t{1} << 30));
  }
  EXPECT_EQ(cgroups.ReadCpuShares(untouched).value(), shares);
  for (const std::string& write : node.writes) {
    EXPECT_EQ(write.find("podplain"), std::string::npos) << write;
  }
}

constexpr std::string_view kLimited = R"(
metadata: {name: ls, labels: {koordinator.sh/qosClass: LS}}
spec: {containers: [{name: a, resources: {requests: {cpu: 1}, limits: {cpu: 2}}}]}
)";

TEST_P(CpuHooks, NormalizationScalesQuotasAndPutsThemBack) {
  HookNode::Options options = OnLayout();
  options.gates = "CPUNormalization=true";
  HookNode node(options);
  node.AddPod(kLimited);
  node.Sync();
  const CgroupDir pod = node.machine.PodDir(node.pod("ls"));
  const CgroupDir container = node.machine.ContainerDir(node.pod("ls"), "a");
  const std::string before = node.machine.Dump();
  node.SetNode("metadata: {annotations: {node.koordinator.sh/cpu-normalization-ratio: '1.5'}}");
  EXPECT_EQ(QuotaOf(node, pod), Limit::Of(133334));
  EXPECT_EQ(QuotaOf(node, container), Limit::Of(133334));
  node.SetNode("metadata: {annotations: {node.koordinator.sh/cpu-normalization-ratio: 'fast'}}");
  EXPECT_EQ(QuotaOf(node, pod), Limit::Of(133334)) << "what makes no sense changes nothing";
  node.SetNode("metadata: {name: n}");
  EXPECT_EQ(node.machine.Dump(), before);
}

TEST_P(CpuHooks, NormalizationOfAnEarlierRunIsUndone) {
  HookNode::Options options = OnLayout();
  options.gates = "CPUNormalization=true";
  HookNode node(options);
  node.AddPod(kLimited);
  const std::string before = node.machine.Dump();
  const bool v2 = std::get<0>(GetParam()) == CgroupVersion::kV2;
  const std::string low = v2 ? "100000 100000" : "100000";
  node.machine.Set(CgroupFile::kCpuQuota, node.machine.ContainerDir(node.pod("ls"), "a"), low);
  node.machine.Set(CgroupFile::kCpuQuota, node.machine.PodDir(node.pod("ls")), low);
  node.SetNode("metadata: {name: n}");
  node.Sync();
  EXPECT_EQ(node.machine.Dump(), before);
}

TEST_P(CpuHooks, QuietPassesWriteNothingAndLostValuesComeBack) {
  HookNode node(OnLayout());
  node.AddPod(kBatchPod);
  node.SetSlo(kGroupIdentityOn);
  node.Sync();
  node.writes.clear();
  node.Sync();
  EXPECT_THAT(node.writes, IsEmpty());
  const CgroupDir pod = node.machine.PodDir(node.pod("be"));
  const bool v2 = std::get<0>(GetParam()) == CgroupVersion::kV2;
  node.machine.Set(CgroupFile::kCpuQuota, pod, v2 ? "max 100000" : "-1");
  node.loop.Advance(std::chrono::seconds(61));
  node.Sync();
  EXPECT_EQ(QuotaOf(node, pod), Limit::Of(100000));
}

TEST_P(CpuHooks, CgroupsThatComeLaterAreNotForgotten) {
  HookNode node(OnLayout());
  node.pods.push_back(TestPod(kBatchPod));
  node.Sync();
  node.machine.AddPod(*node.pods[0]);
  node.Sync();
  EXPECT_EQ(QuotaOf(node, node.machine.PodDir(node.pod("be"))), Limit::Of(100000));
}

TEST(CpuHooksWithoutKernel, GroupIdentityNeedsTheKernelsFile) {
  HookNode node;
  node.AddPod(kBatchPod);
  node.Sync();
  node.writes.clear();
  node.SetSlo(kGroupIdentityOn);
  EXPECT_THAT(node.writes, IsEmpty());
}

}  // namespace
}  // namespace koord::koordlet::hooks::cpu_hooks_test
