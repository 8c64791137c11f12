#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "base/temp_dir.h"
#include "koordlet/hooks/hook_fixture_testing.h"
#include "koordlet/hooks/nri/nri_hooks.h"
#include "koordlet/hooks/oom_score/oom_score.h"
#include "koordlet/hooks/rdma_device/rdma_device.h"

// Hooks about devices, processes and caches.
namespace koord::koordlet::hooks::device_hooks_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

NriPod PodWithDevices(std::string_view allocated) {
  return {.ns = "default",
          .name = "p",
          .uid = "u1",
          .annotations = {{"scheduling.koordinator.sh/device-allocated", std::string(allocated)}},
          .cgroup_parent = "/kubepods/podu1"};
}

constexpr char kDevices[] = R"(
metadata: {name: n}
spec:
  devices:
  - {type: gpu, id: GPU-a, minor: 0, health: true}
  - {type: gpu, id: GPU-b, minor: 1, health: true}
  - {type: rdma, id: "0000:1f:00.0", minor: 0, health: true,
     vfGroups: [{vfs: [{minor: 1, busID: "0000:1f:00.2"}]}]}
)";

TEST(GpuEnvHook, Vector24Envs) {
  HookNode node({.gates = "GPUEnvInject=true"});
  node.SetDevices(kDevices);
  NriHooks nri(node.hooks->runner());
  NriPod pod = PodWithDevices(R"({"gpu":[{"minor":0},{"minor":1}]})");
  const auto plain = nri.CreateContainer(pod, {.id = "c", .name = "a"});
  EXPECT_THAT(plain->env, ElementsAre(Pair("NVIDIA_VISIBLE_DEVICES", "0,1")));

  pod.labels["koordinator.sh/gpu-isolation-provider"] = "HAMi-core";
  EXPECT_THAT(nri.CreateContainer(pod, {.id = "c", .name = "a"})->mounts, IsEmpty())
      << "without the share of memory there is nothing to bound";
  pod = PodWithDevices(R"({"gpu":[{"minor":0,"resources":{"koordinator.sh/gpu-memory-ratio":"50",
      "koordinator.sh/gpu-memory":"16Gi","koordinator.sh/gpu-core":"50"}}]})");
  pod.labels["koordinator.sh/gpu-isolation-provider"] = "HAMi-core";
  const auto shared = nri.CreateContainer(pod, {.id = "c", .name = "a"});
  EXPECT_THAT(shared->env, ElementsAre(Pair("CUDA_DEVICE_MEMORY_LIMIT", "17179869184"),
                                       Pair("CUDA_DEVICE_SM_LIMIT", "50"),
                                       Pair("LD_PRELOAD", "/usr/local/vgpu/libvgpu.so"),
                                       Pair("NVIDIA_VISIBLE_DEVICES", "0")));
  ASSERT_EQ(shared->mounts.size(), 2u);
  EXPECT_EQ(shared->mounts[0].destination, "/usr/local/vgpu/libvgpu.so");
  EXPECT_EQ(shared->mounts[1].destination, "/tmp/vgpulock");
}

TEST(GpuEnvHook, MonitorHasADirectoryForEachContainer) {
  HookNode node({.gates = "GPUEnvInject=true,HamiCoreVGPUMonitor=true"});
  node.SetDevices(kDevices);
  NriHooks nri(node.hooks->runner());
  NriPod pod = PodWithDevices(
      R"({"gpu":[{"minor":0,"resources":{"koordinator.sh/gpu-memory-ratio":"50","koordinator.sh/gpu-memory":"1Gi"}}]})");
  pod.labels["koordinator.sh/gpu-isolation-provider"] = "HAMi-core";
  const auto adjusted = nri.CreateContainer(pod, {.id = "c", .name = "a"});
  EXPECT_THAT(node.directories, ElementsAre("/usr/local/vgpu/containers/u1_a"));
  EXPECT_EQ(adjusted->mounts.back().destination, "/usr/local/vgpu");
  pod.uid = "../../etc";
  node.directories.clear();
  EXPECT_TRUE(nri.CreateContainer(pod, {.id = "c", .name = "a"}).ok());
  EXPECT_THAT(node.directories, IsEmpty()) << "nothing of a pod becomes a path unchecked";
}

// Whatever a pod says it was given, it gets only what the node's Device object has.
TEST(DeviceHooks, PodsGetNoDevicesThatTheNodeDoesNotHave) {
  HookNode::Options options{.gates = "GPUEnvInject=true,RDMADeviceInject=true"};
  options.hooks.plugin_failure_policy = FailurePolicy::kFail;
  const char* const kForged[] = {
      R"({"gpu":[{"minor":7}]})",
      R"({"gpu":[{"minor":0,"id":"GPU-of-somebody"}]})",
      R"({"gpu":[{"minor":-1}]})",
      R"({"rdma":[{"minor":0,"id":"0000:1f:00.1"}]})",
      R"({"rdma":[{"minor":3,"id":"0000:1f:00.0"}]})",
      R"({"rdma":[{"minor":0,"id":"0000:1f:00.0","extension":{"vfs":[{"busID":"0000:1f:00.7"}]}}]})",
  };
  HookNode node(options);
  NriHooks nri(node.hooks->runner());
  EXPECT_FALSE(
      nri.CreateContainer(PodWithDevices(R"({"gpu":[{"minor":0}]})"), {.id = "c", .name = "a"})
          .ok())
      << "a node without a Device has no devices to give";
  node.SetDevices(kDevices);
  for (const char* forged : kForged) {
    const auto answer = nri.CreateContainer(PodWithDevices(forged), {.id = "c", .name = "a"});
    EXPECT_FALSE(answer.ok()) << forged;
  }
  const NriPod honest = PodWithDevices(R"({"gpu":[{"minor":1,"id":"GPU-b"}]})");
  EXPECT_THAT(nri.CreateContainer(honest, {.id = "c", .name = "a"})->env,
              ElementsAre(Pair("NVIDIA_VISIBLE_DEVICES", "1")));

  options.hooks.trust.trust_pod_authors = true;
  HookNode trusting(options);
  NriHooks trusting_nri(trusting.hooks->runner());
  EXPECT_THAT(
      trusting_nri.CreateContainer(PodWithDevices(kForged[0]), {.id = "c", .name = "a"})->env,
      ElementsAre(Pair("NVIDIA_VISIBLE_DEVICES", "7")))
      << "as upstream";
}

TEST(RdmaDeviceHook, OnlyPciAddressesBecomePaths) {
  EXPECT_TRUE(IsPciAddress("0000:1f:00.2"));
  for (const char* bad : {"", "0000:1f:00.8", "0000:1F:00.2", "../..", "0000:1f:00.2/",
                          "0000-1f:00.2", "00000:1f:00.2"}) {
    EXPECT_FALSE(IsPciAddress(bad)) << bad;
  }
}

TEST(RdmaDeviceHook, DevicesOfVirtualFunctions) {
  HookNode::Options options{.gates = "RDMADeviceInject=true"};
  options.hooks.plugin_failure_policy = FailurePolicy::kFail;
  HookNode node(options);
  node.SetDevices(kDevices);
  node.machine.sys().Set("class/misc/rdma_cm/dev", "10:57\n");
  node.machine.sys().Set("bus/pci/devices/0000:1f:00.2/infiniband_verbs/uverbs3/dev", "231:195\n");
  NriHooks nri(node.hooks->runner());
  const auto adjusted = nri.CreateContainer(
      PodWithDevices(
          R"({"rdma":[{"minor":0,"id":"0000:1f:00.0","extension":{"vfs":[{"busID":"0000:1f:00.2"}]}}]})"),
      {.id = "c", .name = "a"});
  ASSERT_TRUE(adjusted.ok());
  EXPECT_THAT(
      adjusted->devices,
      ElementsAre(HookDevice{.path = "/dev/infiniband/rdma_cm", .major = 10, .minor = 57},
                  HookDevice{.path = "/dev/infiniband/uverbs3", .major = 231, .minor = 195}));
  EXPECT_FALSE(nri.CreateContainer(PodWithDevices(R"({"rdma":[{"minor":0,"id":"../../../etc"}]})"),
                                   {.id = "c", .name = "a"})
                   .ok());
}

constexpr std::string_view kOomPod = R"(
metadata:
  name: p
  annotations: {{koordinator.sh/oom-score-adj: '{}'}}
spec: {{containers: [{{name: a, resources: {{requests: {{memory: 16Gi}}}}}}]}}
)";

TEST(OomScoreHook, NobodyHidesFromTheKernelAndTheKubeletsValueComesBack) {
  HookNode node({.gates = "OOMScoreAdj=true"});
  node.SetNode("status: {capacity: {memory: 32Gi}}");
  const auto pod = TestPod(fmt::format(fmt::runtime(kOomPod), "-1000"));
  node.AddPod(pod);
  const int32_t pid = 77;
  node.machine.SetProcesses(node.machine.ContainerDir(*pod, "a"), std::span(&pid, 1));
  node.machine.proc().Set("77/oom_score_adj", "500\n");
  const auto score = [&] {
    return std::string(Trim(node.machine.proc().Read("77/oom_score_adj").value()));
  };
  node.Sync();
  EXPECT_EQ(score(), "500") << "half of the memory: the kubelet's own value";
  node.pods = {TestPod(fmt::format(fmt::runtime(kOomPod), "900"))};
  node.Sync();
  EXPECT_EQ(score(), "900") << "a pod may offer itself";
  node.pods = {
      TestPod("{metadata: {name: p}, spec: {containers: [{name: a, resources: {requests: "
              "{memory: 16Gi}}}]}}")};
  node.Sync();
  EXPECT_EQ(score(), "500");
}

constexpr std::string_view kCoreSchedOn = R"(
resourceQOSStrategy:
  policies: {cpuPolicy: coreSched}
  lsClass: {cpuQOS: {enable: true, coreExpeller: true, schedIdle: 0}}
  beClass: {cpuQOS: {enable: true, coreExpeller: false, schedIdle: 1}}
)";

class CoreSchedHook : public ::testing::Test {
 protected:
  void Add(std::string_view yaml, std::vector<int32_t> pids) {
    const auto pod = TestPod(yaml);
    node_.AddPod(pod);
    node_.machine.SetProcesses(node_.machine.ContainerDir(*pod, "a"), pids);
    for (const int32_t pid : pids) node_.machine.kernel().cookies[pid] = 0;
  }
  uint64_t Cookie(int32_t pid) { return node_.machine.kernel().cookies[pid]; }

  HookNode node_{{.gates = "CoreSched=true"}};
};

TEST_F(CoreSchedHook, GroupsShareCookiesWithinTheirNamespace) {
  const auto pod = [](std::string_view name, std::string_view ns, std::string_view labels) {
    return fmt::format(
        "{{metadata: {{name: {}, namespace: {}, labels: {{koordinator.sh/qosClass: LS{}}}}}, spec: "
        "{{containers: [{{name: a}}]}}}}",
        name, ns, labels);
  };
  Add(pod("a", "x", ", koordinator.sh/core-sched-group-id: g"), {11, 12});
  Add(pod("b", "x", ", koordinator.sh/core-sched-group-id: g"), {21});
  Add(pod("stranger", "y", ", koordinator.sh/core-sched-group-id: g"), {31});
  Add(pod("alone", "x", ", koordinator.sh/core-sched-policy: exclusive"), {41});
  Add(pod("out", "x", ", koordinator.sh/core-sched-policy: none"), {51});
  node_.SetSlo(kCoreSchedOn);
  node_.Sync();
  EXPECT_NE(Cookie(11), 0u);
  EXPECT_EQ(Cookie(11), Cookie(12));
  EXPECT_EQ(Cookie(11), Cookie(21));
  EXPECT_NE(Cookie(31), 0u);
  EXPECT_NE(Cookie(31), Cookie(11));
  EXPECT_NE(Cookie(41), Cookie(11));
  EXPECT_EQ(Cookie(51), 0u);
  const CgroupLayout& layout = node_.machine.host().cgroups().layout();
  EXPECT_EQ(node_.machine.Get(CgroupFile::kCpuIdle, layout.QosDir(kube::PodQos::kBestEffort)), "1");

  // New processes join; switched off, everything is as before.
  const std::vector<int32_t> more = {11, 12, 13};
  node_.machine.SetProcesses(node_.machine.ContainerDir(node_.pod("a"), "a"), more);
  node_.machine.kernel().cookies[13] = 0;
  node_.Sync();
  EXPECT_EQ(Cookie(13), Cookie(11));
  node_.SetSlo("resourceQOSStrategy: {policies: {cpuPolicy: groupIdentity}}");
  for (const int32_t pid : {11, 12, 13, 21, 31, 41}) EXPECT_EQ(Cookie(pid), 0u) << pid;
  EXPECT_EQ(node_.machine.Get(CgroupFile::kCpuIdle, layout.QosDir(kube::PodQos::kBestEffort)), "0");
}

TEST_F(CoreSchedHook, CookiesOfAnEarlierRunAreFoundAgain) {
  Add("{metadata: {name: a, labels: {koordinator.sh/qosClass: LS}}, spec: {containers: [{name: "
      "a}]}}",
      {11, 12});
  node_.machine.kernel().cookies = {{11, 77}, {12, 77}};
  node_.SetSlo("resourceQOSStrategy: {policies: {cpuPolicy: groupIdentity}}");
  node_.Sync();
  EXPECT_EQ(Cookie(11), 0u) << "the policy was switched off meanwhile";
}

// The kernel's switches, as "group identity, core scheduling".
class SchedSwitches : public ::testing::Test {
 protected:
  static constexpr char kIdentity[] = "sys/kernel/sched_group_identity_enabled";
  static constexpr char kCore[] = "sys/kernel/sched_core";
  static constexpr std::string_view kIdentityOn =
      "resourceQOSStrategy: {beClass: {cpuQOS: {enable: true, groupIdentity: -1}}}";
  static constexpr std::string_view kAllOff =
      "resourceQOSStrategy: {beClass: {cpuQOS: {enable: false}}}";

  void SetUp() override { Restart("0", "0"); }
  // Another koordlet on the same machine, whose switches stand like this.
  void Restart(std::string_view identity, std::string_view core) {
    node_.reset();
    node_ = std::make_unique<HookNode>(
        HookNode::Options{.gates = "CoreSched=true", .undo = directory_.File("undo.json")});
    const auto pod = TestPod("{metadata: {name: p}, spec: {containers: [{name: a}]}}");
    node_->AddPod(pod);
    const int32_t process = 11;
    node_->machine.SetProcesses(node_->machine.ContainerDir(*pod, "a"), {&process, 1});
    node_->machine.proc().Set(kIdentity, identity);
    node_->machine.proc().Set(kCore, core);
    node_->Sync();
  }
  std::string With(std::string_view slo) {
    node_->SetSlo(slo);
    node_->Sync();
    const auto read = [&](std::string_view path) { return *node_->machine.proc().Read(path); };
    return read(kIdentity) + "," + read(kCore);
  }

  TempDir directory_;
  std::unique_ptr<HookNode> node_;
};

TEST_F(SchedSwitches, AreAsTheyWereOnceNobodyNeedsThem) {
  const std::pair<std::string_view, std::string_view> found[] = {
      {"0", "0"}, {"0", "1"}, {"1", "0"}};
  for (const auto& [identity, core] : found) {
    Restart(identity, core);
    const std::string before = fmt::format("{},{}", identity, core);
    EXPECT_EQ(With(kAllOff), before);
    EXPECT_EQ(With(kIdentityOn), "1,0");
    EXPECT_EQ(With(kAllOff), before);
    EXPECT_EQ(With(kCoreSchedOn), "0,1");
    EXPECT_EQ(With(kAllOff), before);
    EXPECT_EQ(With(kIdentityOn), "1,0");
    EXPECT_EQ(With(kCoreSchedOn), "0,1") << "from one to the other";
    EXPECT_EQ(With(kIdentityOn), "1,0");
    EXPECT_EQ(With(kAllOff), before);
  }
}

TEST_F(SchedSwitches, ArePutBackByTheNextKoordlet) {
  ASSERT_EQ(With(kIdentityOn), "1,0");
  Restart("1", "0");
  EXPECT_EQ(With(kAllOff), "0,0");
  ASSERT_EQ(With(kCoreSchedOn), "0,1");
  Restart("0", "1");
  EXPECT_EQ(With(kCoreSchedOn), "0,1");
  Restart("0", "1");
  EXPECT_EQ(With(kAllOff), "0,0");
  Restart("1", "0");
  EXPECT_EQ(With(kAllOff), "1,0") << "somebody else has set it since";
}

TEST_F(SchedSwitches, AFeatureOfTheSchedulerIsOneToo) {
  node_->machine.proc().Remove(kCore);
  const auto set = [&](std::string_view text) {
    node_->machine.sys().Set("kernel/debug/sched_features", text);
  };
  const auto read = [&] { return *node_->machine.sys().Read("kernel/debug/sched_features"); };
  set("HRTICK NO_CORE_SCHED");
  node_->SetSlo(kCoreSchedOn);
  node_->Sync();
  EXPECT_EQ(read(), "CORE_SCHED");
  set("HRTICK CORE_SCHED");
  node_->SetSlo(kAllOff);
  node_->Sync();
  EXPECT_EQ(read(), "NO_CORE_SCHED");
}

constexpr std::string_view kResctrlPod = R"(
metadata:
  name: {0}
  namespace: {1}
  annotations: {{node.koordinator.sh/resctrl: '{2}'}}
spec: {{containers: [{{name: a}}]}}
)";
constexpr std::string_view kHalf =
    R"({"llc":{"schemata":{"range":[0,50]}},"mb":{"schemata":{"percent":85}}})";

HookNode::Options WithResctrl() {
  HookNode::Options options{.gates = "Resctrl=true"};
  options.host.resctrl = ResctrlFlavour::kIntel;
  options.hooks.enable_pod_task_ids = true;
  return options;
}

TEST(PodResctrlHook, GroupComesAndGoesWithThePod) {
  HookNode node(WithResctrl());
  node.AddPod(fmt::format(fmt::runtime(kResctrlPod), "p", "x", kHalf));
  const int32_t pid = 9;
  node.machine.SetProcesses(node.machine.ContainerDir(node.pod("p"), "a"), std::span(&pid, 1));
  node.Sync();
  node.Sync();
  const std::string schemata = node.machine.resctrl().Read("koordlet-p/schemata").value();
  EXPECT_THAT(schemata, ::testing::HasSubstr("L3:0=3ff"));
  EXPECT_THAT(schemata, ::testing::HasSubstr("MB:0=90"));
  EXPECT_THAT(node.machine.resctrl_kernel().Tasks("koordlet-p"), ElementsAre(9));
  EXPECT_THAT(node.events, ElementsAre("x/p Pod Level Resctrl: Create Resctrl Group"));
  node.pods.clear();
  node.Sync();
  EXPECT_TRUE(node.machine.resctrl().Exists("koordlet-p")) << "too young to be given up";
  node.loop.Advance(std::chrono::seconds(10));
  node.Sync();
  EXPECT_FALSE(node.machine.resctrl().Exists("koordlet-p"));
}

TEST(PodResctrlHook, FewPodsHaveGroupsAndNonsenseHasNone) {
  HookNode node(WithResctrl());
  for (const char* name : {"a", "b", "c"}) {
    node.AddPod(fmt::format(fmt::runtime(kResctrlPod), name, "x", kHalf));
  }
  node.AddPod(
      fmt::format(fmt::runtime(kResctrlPod), "bad", "y",
                  R"({"llc":{"schemata":{"range":[50,10]}},"mb":{"schemata":{"percent":-1}}})"));
  node.AddPod(fmt::format(fmt::runtime(kResctrlPod), "worse", "y", "{"));
  node.Sync();
  EXPECT_TRUE(node.machine.resctrl().Exists("koordlet-a"));
  EXPECT_TRUE(node.machine.resctrl().Exists("koordlet-b"));
  for (const char* name : {"c", "bad", "worse"}) {
    EXPECT_FALSE(node.machine.resctrl().Exists(fmt::format("koordlet-{}", name))) << name;
  }
}

TEST(PodResctrlHook, GroupsFromBeforeARestartCount) {
  HookNode::Options options = WithResctrl();
  options.hooks.trust.max_resctrl_pods = 3;
  HookNode node(options);
  for (const char* group : {"koordlet-d", "koordlet-e", "koordlet-gone"}) {
    ASSERT_TRUE(node.machine.resctrl().MakeDirectory(group).ok());
  }
  const auto add = [&](std::string_view name, std::string_view ns) {
    node.AddPod(fmt::format(fmt::runtime(kResctrlPod), name, ns, kHalf));
  };
  const auto has = [&](std::string_view name) {
    return node.machine.resctrl().Exists(fmt::format("koordlet-{}", name));
  };
  // The new ones come before the others in every list.
  for (const char* name : {"a", "d", "e"}) add(name, "x");
  add("b", "y");
  node.Sync();
  EXPECT_TRUE(has("d") && has("e") && has("gone"));
  EXPECT_FALSE(has("a")) << "its namespace has two";
  EXPECT_FALSE(has("b")) << "the node has three";
  node.loop.Advance(std::chrono::seconds(10));
  node.Sync();
  EXPECT_FALSE(has("gone"));
  node.loop.Advance(std::chrono::seconds(60));
  node.Sync();
  EXPECT_TRUE(has("b"));
  EXPECT_FALSE(has("a"));
}

TEST(NriHooks, AnswersForEachEvent) {
  HookNode node;
  TopologyView topology;
  topology.ls_pools = {{.socket = 0, .node = 0, .cpuset = "0-3"}};
  node.SetTopology(topology);
  NriHooks nri(node.hooks->runner());
  NriPod pod{.ns = "x", .name = "p", .uid = "u", .cgroup_parent = "/kubepods/besteffort/podu"};
  const auto best_effort = nri.UpdateContainer(pod, {.id = "c", .name = "a"}, {.cpus = "0-7"});
  ASSERT_TRUE(best_effort.ok() && best_effort->has_value());
  EXPECT_EQ((*best_effort)->container_id, "c");
  EXPECT_EQ((*best_effort)->resources.cpus, "") << "clears what the kubelet passed";
  pod.labels["koordinator.sh/qosClass"] = "LS";
  EXPECT_EQ(nri.CreateContainer(pod, {.id = "c", .name = "a"})->resources.cpus, "0-3");
}

}  // namespace
}  // namespace koord::koordlet::hooks::device_hooks_test
