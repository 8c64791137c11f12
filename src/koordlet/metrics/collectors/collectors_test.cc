#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/strings.h"
#include "base/temp_dir.h"
#include "base/virtual_loop.h"
#include "koordlet/config/koordlet_gates.h"
#include "koordlet/informers/pod_book.h"
#include "koordlet/metrics/collectors/cold_memory.h"
#include "koordlet/metrics/collectors/metric_advisor.h"
#include "koordlet/metrics/gpu/gpu_devices.h"
#include "koordlet/testing/test_host.h"
#include "koordlet/testing/test_pod.h"

namespace koord::koordlet::collectors_test {
namespace {

using testing::DoubleNear;
using testing::HasSubstr;
using testing::Not;
using testing::Optional;

constexpr int64_t kMiB = 1 << 20;

// The value of the series of a family that has all of these labels.
std::optional<double> Shown(metrics::Registry& registry, const std::string& family,
                            const std::vector<std::string>& labels) {
  std::optional<double> value;
  const std::string text = registry.Text();
  for (const std::string_view line : Split(text, '\n')) {
    if (!line.starts_with(family + "{")) continue;
    const bool matches = std::ranges::all_of(
        labels, [&](const std::string& label) { return line.find(label) != line.npos; });
    if (matches) value = std::stod(std::string(line.substr(line.rfind(' ') + 1)));
  }
  return value;
}

class FakeGpus final : public GpuDevices {
 public:
  StatusOr<GpuInventory> Inventory() override {
    return GpuInventory{.driver_version = "1", .gpus = {{.uuid = "GPU-0"}, {.uuid = "GPU-1"}}};
  }
  StatusOr<std::vector<DeviceUsage>> Usage() override { return usage; }

  std::vector<DeviceUsage> usage;
};

// A machine with two NUMA nodes on which collectors run.
class CollectorsTest : public testing::TestWithParam<CgroupVersion> {
 protected:
  CollectorsTest() : CollectorsTest(TestHost::Options{.version = GetParam()}) {}
  explicit CollectorsTest(TestHost::Options options)
      : machine_([&] {
          options.shape = {.sockets = 2, .nodes = 2, .cores = 8, .threads = 2};
          return options;
        }()) {
    options_.collectors.node_name = "n";
  }

  void Switch(std::string_view gates) { ASSERT_TRUE(gates_.Set(gates).ok()); }

  void Start() {
    advisor_ = std::make_unique<MetricAdvisor>(
        MetricAdvisor::Context{loop_, machine_.host(), executor_, state_, store_, info_, gates_,
                               internal_, external_, &gpus_},
        options_);
    advisor_->Start();
  }

  std::shared_ptr<const kube::Pod> AddPod(std::string_view yaml) {
    auto pod = TestPod(yaml);
    machine_.AddPod(*pod);
    pods_.push_back(pod);
    state_.SetPods(book_.Update(pods_));
    return pod;
  }
  void RemovePods() {
    for (const auto& pod : pods_) machine_.RemovePod(*pod);
    pods_.clear();
    state_.SetPods(book_.Update(pods_));
  }
  void SetHostApplication(std::string_view json) {
    auto slo = std::make_shared<api::NodeSloSpec>();
    slo->host_applications.push_back(*kube::Decode<api::HostApplication>(*kube::ParseJson(json)));
    state_.SetSlo(slo);
  }

  void EvictUnsatisfied() {
    auto slo = std::make_shared<api::NodeSloSpec>();
    auto& strategy = slo->resource_used_threshold_with_be.emplace();
    strategy.cpu_evict_be_satisfaction_lower_percent = 30;
    strategy.cpu_evict_be_satisfaction_upper_percent = 40;
    state_.SetSlo(slo);
  }

  std::optional<double> Last(Metric metric, std::string_view subject = {},
                             std::string_view detail = {}) {
    return store_.Last({metric, subject, detail}, 0s);
  }
  static MemoryStat Anon(int64_t bytes, int64_t file = 0) {
    return {.cache = file, .rss = bytes, .active_file = file, .active_anon = bytes};
  }

  VirtualLoop loop_;
  TestHost machine_;
  metrics::Registry internal_;
  metrics::Registry external_;
  FeatureGates gates_ = KoordletFeatureGates();
  ResourceExecutor executor_{machine_.host(), loop_.clock(), nullptr, nullptr, {}};
  NodeState state_;
  PodBook book_{machine_.host().cgroups().layout(), {}};
  MetricStore store_{loop_.clock(), {}};
  NodeInfoCache info_;
  FakeGpus gpus_;
  MetricAdvisor::Options options_;
  std::vector<std::shared_ptr<const kube::Pod>> pods_;
  std::unique_ptr<MetricAdvisor> advisor_;
};

INSTANTIATE_TEST_SUITE_P(Versions, CollectorsTest,
                         testing::Values(CgroupVersion::kV1, CgroupVersion::kV2),
                         [](const auto& info) {
                           return info.param == CgroupVersion::kV1 ? "v1" : "v2";
                         });

constexpr std::string_view kLsPod = R"(
metadata: {name: ls, labels: {koordinator.sh/qosClass: LS}}
spec:
  containers:
  - {name: a, resources: {requests: {cpu: "1", memory: 1Gi}, limits: {cpu: "2", memory: 2Gi}}}
)";
constexpr std::string_view kBePod = R"(
metadata: {name: be, labels: {koordinator.sh/qosClass: BE}}
spec:
  containers:
  - {name: a, resources: {requests: {kubernetes.io/batch-cpu: "1500"}, limits: {kubernetes.io/batch-cpu: "2000"}}}
  - {name: b, resources: {requests: {kubernetes.io/batch-cpu: "500"}}}
  initContainers:
  - {name: side, restartPolicy: Always, resources: {requests: {kubernetes.io/batch-cpu: "100"}}}
  - {name: once, resources: {requests: {kubernetes.io/batch-cpu: "4000"}}}
)";

TEST_P(CollectorsTest, TheFirstReadOnlyPrimesCounters) {
  const auto pod = AddPod(kLsPod);
  machine_.SetMemory(machine_.ContainerDir(*pod, "a"), Anon(100 * kMiB));
  Start();
  EXPECT_EQ(Last(Metric::kNodeCpu), std::nullopt);
  EXPECT_EQ(Last(Metric::kNodeMemory), std::nullopt);
  EXPECT_EQ(Last(Metric::kPodCpu, "ls"), std::nullopt);
  EXPECT_EQ(Last(Metric::kPodMemory, "ls"), std::nullopt);
  EXPECT_EQ(Last(Metric::kContainerThrottled, "ls-a"), std::nullopt);
  EXPECT_FALSE(advisor_->has_synced());
  loop_.Advance(1s);
  EXPECT_EQ(Last(Metric::kPodMemory, "ls"), 100 * kMiB);
  EXPECT_EQ(Last(Metric::kPodCpu, "ls"), 0);
  EXPECT_TRUE(advisor_->has_synced());
}

TEST_P(CollectorsTest, UsageOfPodsContainersNodeAndSystem) {
  const auto pod = AddPod(kLsPod);
  Start();
  const CgroupDir dir = machine_.ContainerDir(*pod, "a");
  machine_.SetMemory(dir, Anon(512 * kMiB, 64 * kMiB));
  machine_.UseCpu(dir, 1500ms);
  machine_.UseCpu("system.slice", 500ms);
  machine_.Throttle(dir, 10, 3);
  loop_.Advance(1s);
  EXPECT_THAT(Last(Metric::kContainerCpu, "ls-a"), Optional(DoubleNear(1.5, 1e-6)));
  EXPECT_THAT(Last(Metric::kPodCpu, "ls"), Optional(DoubleNear(1.5, 1e-6)));
  EXPECT_EQ(Last(Metric::kPodMemory, "ls"), 512 * kMiB) << "without page cache";
  EXPECT_EQ(Last(Metric::kPodMemoryWithPageCache, "ls"), std::nullopt) << "not asked for";
  EXPECT_THAT(Last(Metric::kContainerThrottled, "ls-a"), Optional(DoubleNear(0.3, 1e-6)));
  EXPECT_THAT(Last(Metric::kNodeCpu), Optional(DoubleNear(2, 0.2)));  // in whole ticks
  EXPECT_EQ(Last(Metric::kNodeMemory), 512 * kMiB);
  EXPECT_NEAR(*Last(Metric::kSystemCpu), *Last(Metric::kNodeCpu) - 1.5, 1e-6);
  EXPECT_EQ(Last(Metric::kSystemMemory), 0);
  EXPECT_THAT(internal_.Text(), HasSubstr("koordlet_node_used_memory_bytes{node=\"n\"} 536870912"));

  loop_.Advance(1s);
  EXPECT_EQ(Last(Metric::kContainerThrottled, "ls-a"), 0) << "no period has passed";
}

TEST_P(CollectorsTest, PageCacheOnRequest) {
  options_.collectors.page_cache = true;
  const auto pod = AddPod(kLsPod);
  machine_.SetMemory(machine_.ContainerDir(*pod, "a"), Anon(100 * kMiB, 50 * kMiB));
  Start();
  loop_.Advance(1s);
  EXPECT_EQ(Last(Metric::kPodMemoryWithPageCache, "ls"), 150 * kMiB);
  EXPECT_EQ(Last(Metric::kNodeMemoryWithPageCache), 150 * kMiB);
}

TEST_P(CollectorsTest, RatesAreByTheTimeThatHasPassed) {
  const auto pod = AddPod(kLsPod);
  options_.collectors.usage_interval = 4s;
  Start();
  machine_.UseCpu(machine_.ContainerDir(*pod, "a"), 2s);
  loop_.Advance(4s);
  EXPECT_THAT(Last(Metric::kPodCpu, "ls"), Optional(DoubleNear(0.5, 1e-6)));
}

TEST_P(CollectorsTest, AnUnreadableFileSilencesItsObjectOnly) {
  const auto pod = AddPod(kLsPod);
  const auto other = AddPod(kBePod);
  Start();
  loop_.Advance(1s);
  const CgroupDir dir = machine_.PodDir(*pod);
  machine_.Set(CgroupFile::kMemoryStat, dir, "garbage");
  machine_.Set(CgroupFile::kMemoryNumaStat, dir, "garbage");
  loop_.Advance(1s);
  EXPECT_EQ(Last(Metric::kPodCpu, "ls"), std::nullopt);
  EXPECT_EQ(Last(Metric::kPodMemory, "ls"), std::nullopt);
  EXPECT_NE(Last(Metric::kContainerCpu, "ls-a"), std::nullopt);
  EXPECT_NE(Last(Metric::kPodCpu, "be"), std::nullopt);
  machine_.SetMemory(machine_.ContainerDir(*pod, "a"), Anon(kMiB));
  loop_.Advance(1s);
  EXPECT_EQ(Last(Metric::kPodMemory, "ls"), kMiB);
}

TEST_P(CollectorsTest, MemoryOfPodsWhereNumaStatSaysLess) {
  const auto pod = AddPod(kLsPod);
  machine_.SetMemory(machine_.ContainerDir(*pod, "a"), Anon(3 * kMiB));
  for (const std::string_view text : {"total=7 N0=7", "garbage"}) {
    machine_.Set(CgroupFile::kMemoryNumaStat, machine_.PodDir(*pod), text);
    Start();
    loop_.Advance(1s);
    EXPECT_EQ(Last(Metric::kPodMemory, "ls"), 3 * kMiB) << text;
  }
}

// The kernel writes each file anew for whoever reads it, which is most of what koordlet costs.
TEST_P(CollectorsTest, APassReadsNoFileTwiceAndNoneInVain) {
  AddPod(kLsPod);
  AddPod(kBePod);
  std::map<std::string, int> reads;
  const auto count = [&](CgroupFile file, const CgroupDir& dir) {
    const std::string path = machine_.host().cgroups().PathOf(file, dir).value();
    reads[path] = 0;
    machine_.cgroup().SetReader(path, [&reads, path, text = *machine_.cgroup().Read(path)] {
      ++reads[path];
      return text;
    });
    return path;
  };
  struct Paths {
    std::string usage, stat, memory, numa;
  };
  const auto count_all = [&](const CgroupDir& dir) {
    return Paths{count(CgroupFile::kCpuUsage, dir), count(CgroupFile::kCpuStat, dir),
                 count(CgroupFile::kMemoryStat, dir), count(CgroupFile::kMemoryNumaStat, dir)};
  };
  const Paths pod = count_all(machine_.PodDir(*pods_[0]));
  const Paths container = count_all(machine_.ContainerDir(*pods_[0], "a"));
  const Paths of_be = count_all(machine_.ContainerDir(*pods_[1], "a"));
  Start();
  for (auto& [path, times] : reads) times = 0;
  loop_.Advance(1s);
  const bool v1 = GetParam() == CgroupVersion::kV1;
  EXPECT_EQ(reads[pod.usage], 1);
  EXPECT_EQ(reads[pod.numa], 1);
  EXPECT_EQ(reads[pod.memory], v1 ? 0 : 1) << "version 1 says it in numa_stat, too";
  EXPECT_EQ(reads[container.usage], 1);
  EXPECT_EQ(reads[container.stat], 1) << "for CPU burst";
  EXPECT_EQ(reads[container.memory] + reads[container.numa], 0) << "nobody asks for it";
  EXPECT_EQ(reads[of_be.usage], 1);
  if (v1) {
    EXPECT_EQ(reads[pod.stat] + reads[of_be.stat], 0) << "nobody asks for it";
  }
}

TEST_P(CollectorsTest, GonePodsAreForgottenAndNewOnesPrimed) {
  AddPod(kLsPod);
  Start();
  loop_.Advance(2s);
  RemovePods();
  loop_.Advance(1s);
  EXPECT_EQ(Last(Metric::kPodCpu, "ls"), std::nullopt);
  const auto pod = AddPod(kLsPod);
  machine_.UseCpu(machine_.ContainerDir(*pod, "a"), 100s);
  loop_.Advance(1s);
  EXPECT_EQ(Last(Metric::kPodCpu, "ls"), std::nullopt) << "counters of before mean nothing";
  loop_.Advance(1s);
  EXPECT_EQ(Last(Metric::kPodCpu, "ls"), 0);
}

// A host application that restarts has its directory made again, and so may a pod.
TEST_P(CollectorsTest, CountersOfADirectoryThatWasMadeAgainStartAnew) {
  const auto pod = AddPod(kLsPod);
  const CgroupDir dir = machine_.ContainerDir(*pod, "a");
  machine_.UseCpu(dir, 1s);
  machine_.Throttle(dir, 10, 5);
  Start();
  loop_.Advance(1s);
  machine_.RemovePod(*pod);
  loop_.Advance(1s);
  EXPECT_EQ(Last(Metric::kPodCpu, "ls"), std::nullopt);
  EXPECT_EQ(Last(Metric::kContainerCpu, "ls-a"), std::nullopt);
  machine_.AddPod(*pod);
  machine_.UseCpu(dir, 100s);  // more than before
  machine_.Throttle(dir, 100, 50);
  loop_.Advance(1s);
  EXPECT_EQ(Last(Metric::kPodCpu, "ls"), std::nullopt);
  EXPECT_EQ(Last(Metric::kContainerThrottled, "ls-a"), std::nullopt);
  machine_.UseCpu(dir, 500ms);
  loop_.Advance(1s);
  EXPECT_THAT(Last(Metric::kPodCpu, "ls"), Optional(DoubleNear(0.5, 1e-6)));
}

TEST_P(CollectorsTest, InactivePodsAreNotRead) {
  AddPod(R"(
metadata: {name: done}
spec: {containers: [{name: a}]}
status: {phase: Succeeded}
)");
  Start();
  loop_.Advance(2s);
  EXPECT_EQ(Last(Metric::kPodCpu, "done"), std::nullopt);
}

TEST_P(CollectorsTest, OldCountersSayNothing) {
  const auto pod = AddPod(kLsPod);
  Start();
  loop_.Advance(1s);
  const CgroupDir dir = machine_.PodDir(*pod);
  const std::string text = machine_.Get(CgroupFile::kMemoryStat, dir);
  machine_.Set(CgroupFile::kCpuUsage, dir, "x");
  loop_.Advance(21s);
  machine_.UseCpu(machine_.ContainerDir(*pod, "a"), 0s);  // writes the counter again
  loop_.Advance(1s);
  EXPECT_EQ(Last(Metric::kPodCpu, "ls"), std::nullopt);
  loop_.Advance(1s);
  EXPECT_EQ(Last(Metric::kPodCpu, "ls"), 0);
}

TEST_P(CollectorsTest, NumaNodes) {
  const auto pod = AddPod(kLsPod);
  const bool v1 = GetParam() == CgroupVersion::kV1;
  machine_.Set(CgroupFile::kMemoryNumaStat, machine_.PodDir(*pod),
               v1 ? "total=300 N0=100 N1=200\n" : "anon N0=409600 N1=0\nfile N0=0 N1=819200\n");
  for (const int node : {0, 1}) {
    machine_.sys().Set(fmt::format("bus/node/devices/node{}/meminfo", node),
                       fmt::format("Node {0} MemTotal: 1000000 kB\nNode {0} MemFree: 500000 kB\n"
                                   "Node {0} Active(file): 10 kB\nNode {0} Inactive(file): 20 kB\n"
                                   "Node {0} SReclaimable: 30 kB\n",
                                   node));
  }
  Start();
  machine_.UseCpu("", 3s, 0);   // a CPU of node 0
  machine_.UseCpu("", 1s, 15);  // and one of node 1
  loop_.Advance(1s);
  EXPECT_THAT(Last(Metric::kNodeNumaCpu, "", "0"), Optional(DoubleNear(3, 1e-6)));
  EXPECT_THAT(Last(Metric::kNodeNumaCpu, "", "1"), Optional(DoubleNear(1, 1e-6)));
  EXPECT_THAT(Last(Metric::kSystemNumaCpu, "", "0"), Optional(DoubleNear(3, 1e-6)));
  ASSERT_NE(info_.numa(), nullptr);
  ASSERT_EQ(info_.numa()->size(), 2);
  EXPECT_EQ(Last(Metric::kNodeNumaMemory, "", "1"),
            static_cast<double>((*info_.numa())[1].memory_used));
  EXPECT_EQ(*Last(Metric::kSystemNumaMemory, "", "1"),
            std::max(*Last(Metric::kNodeNumaMemory, "", "1") - 200 * 4096, 0.0));
}

TEST_P(CollectorsTest, BestEffortInMilliCores) {
  EvictUnsatisfied();
  const auto pod = AddPod(kBePod);
  AddPod(kLsPod);
  Start();
  EXPECT_EQ(Last(Metric::kBeCpuUsage), 0) << "the first sample";
  EXPECT_EQ(Last(Metric::kBeCpuRequest), 2100) << "containers and sidecars";
  EXPECT_EQ(Last(Metric::kBeCpuLimit), 16000) << "all processors";
  machine_.UseCpu(machine_.ContainerDir(*pod, "a"), 1234567us);
  const CgroupDir be = machine_.host().cgroups().layout().QosDir(kube::PodQos::kBestEffort);
  if (GetParam() == CgroupVersion::kV1) {
    machine_.Set(CgroupFile::kCpuQuota, be, "350000");
  } else {
    machine_.Set(CgroupFile::kCpuQuota, be, "350000 100000");
  }
  loop_.Advance(1s);
  EXPECT_EQ(Last(Metric::kBeCpuUsage), 1234);
  EXPECT_EQ(Last(Metric::kBeCpuLimit), 3500);
}

TEST_P(CollectorsTest, BestEffortLimitIsFoundOutOnlyForThoseWhoEvictByIt) {
  AddPod(kBePod);
  Start();
  loop_.Advance(1s);
  EXPECT_EQ(Last(Metric::kBeCpuRequest), 2100);
  EXPECT_EQ(Last(Metric::kBeCpuLimit), std::nullopt);
  EvictUnsatisfied();
  loop_.Advance(1s);
  EXPECT_EQ(Last(Metric::kBeCpuLimit), 16000);
}

TEST_P(CollectorsTest, BestEffortLimitIsTheSmallestCpuset) {
  EvictUnsatisfied();
  const auto pod = AddPod(kBePod);
  Start();
  const CgroupDir dir = machine_.ContainerDir(*pod, "b");
  if (GetParam() == CgroupVersion::kV1) {
    machine_.Set(CgroupFile::kCpuset, dir, "0-2");
  } else {
    machine_.cgroup().Set(dir.path() + "/cpuset.cpus.effective", "0-2\n");
  }
  loop_.Advance(1s);
  EXPECT_EQ(Last(Metric::kBeCpuLimit), 3000);
}

TEST_P(CollectorsTest, HostApplicationsAreNotTheSystem) {
  options_.collectors.page_cache = true;
  SetHostApplication(R"({"name":"nginx","priority":"koord-prod","qos":"LS"})");
  AddPod(kLsPod);
  const std::string dir = "host-latency-sensitive/nginx";
  machine_.cgroup_kernel().AddDirectory(dir);
  Start();
  machine_.UseCpu(dir, 750ms);
  machine_.SetMemory(dir, Anon(30 * kMiB, 10 * kMiB));
  machine_.Set(CgroupFile::kMemoryUsage, dir, std::to_string(41 * kMiB));
  loop_.Advance(1s);
  EXPECT_THAT(Last(Metric::kHostAppCpu, "nginx"), Optional(DoubleNear(0.75, 1e-6)));
  EXPECT_EQ(Last(Metric::kHostAppMemory, "nginx"), 30 * kMiB);
  EXPECT_EQ(Last(Metric::kHostAppMemoryWithPageCache, "nginx"), 41 * kMiB);
  EXPECT_NEAR(*Last(Metric::kSystemCpu), std::max(*Last(Metric::kNodeCpu) - 0.75, 0.0), 1e-6);
  EXPECT_EQ(Shown(internal_, "koordlet_host_application_resource_usage",
                  {"node=\"n\"", "host_application_name=\"nginx\"", "resource=\"cpu\"",
                   "priority_class=\"koord-prod\"", "qos=\"LS\""}),
            0.75);
}

TEST_P(CollectorsTest, PressureWithItsGate) {
  Switch("PSICollector=true");
  const auto pod = AddPod(kLsPod);
  const CgroupDir dir = machine_.ContainerDir(*pod, "a");
  machine_.cgroup_kernel().AddDirectory(dir);
  const CgroupDir kubepods = machine_.host().cgroups().layout().QosDir(kube::PodQos::kGuaranteed);
  const auto all = {CgroupFile::kCpuPressure, CgroupFile::kMemoryPressure, CgroupFile::kIoPressure};
  for (const CgroupFile file : all) {
    for (const CgroupDir& where : {kubepods, machine_.PodDir(*pod), dir}) {
      const bool has_full = file != CgroupFile::kCpuPressure;
      Pressure pressure{.some = {1.5, 2.5, 3.5}};
      if (has_full) pressure.full = Pressure::Averages{0.5, 0.6, 0.7};
      machine_.SetPressure(file, where, pressure);
    }
  }
  Start();
  EXPECT_EQ(Last(Metric::kContainerPressure, "ls-a", "cpu/some"), 1.5);
  EXPECT_EQ(Last(Metric::kContainerPressure, "ls-a", "cpu/full"), 0);
  EXPECT_EQ(Last(Metric::kPodPressure, "ls", "io/full"), 0.5);
  EXPECT_EQ(Shown(external_, "koordlet_container_psi",
                  {"container_id=\"containerd://ls-a\"", "container_name=\"a\"",
                   "psi_resource_type=\"mem\"", "psi_precision=\"avg300\"", "psi_degree=\"full\"",
                   "cpu_full_supported=\"false\""}),
            0.7);
  EXPECT_EQ(Shown(external_, "koordlet_pod_psi",
                  {"psi_resource_type=\"cpu\"", "psi_precision=\"avg60\"", "psi_degree=\"some\"",
                   "pod_uid=\"ls\""}),
            2.5);
  EXPECT_EQ(
      Shown(external_, "koordlet_pod_psi", {"psi_resource_type=\"cpu\"", "psi_degree=\"full\""}),
      std::nullopt);
  // Another pod comes: what is shown of this one stays and follows.
  const auto other = AddPod("{metadata: {name: other}, spec: {containers: [{name: z}]}}");
  machine_.SetPressure(CgroupFile::kIoPressure, dir, {.some = {9.5, 2.5, 3.5}});
  loop_.Advance(10s);
  EXPECT_EQ(Shown(external_, "koordlet_container_psi",
                  {"container_id=\"containerd://ls-a\"", "psi_resource_type=\"io\"",
                   "psi_precision=\"avg10\"", "psi_degree=\"some\""}),
            9.5);
  RemovePods();
  loop_.Advance(10s);
  EXPECT_THAT(external_.Text(), Not(HasSubstr("koordlet_container_psi{")));
  EXPECT_THAT(external_.Text(), Not(HasSubstr("koordlet_pod_psi{")));
}

TEST_P(CollectorsTest, CyclesAndInstructionsOfAWindow) {
  Switch("CPICollector=true");
  const auto pod = AddPod(kLsPod);
  const CgroupDir dir = machine_.ContainerDir(*pod, "a");
  machine_.kernel().cpi[dir.path()] = {1000, 500};
  Start();
  machine_.kernel().cpi[dir.path()] = {9000, 4500};
  loop_.Advance(10s);
  EXPECT_EQ(Last(Metric::kContainerCycles, "ls-a"), 8000);
  EXPECT_EQ(Last(Metric::kContainerInstructions, "ls-a"), 4000);
  EXPECT_EQ(Shown(external_, "koordlet_container_cpi",
                  {"node=\"n\"", "pod_namespace=\"default\"", "pod_name=\"ls\"",
                   "container_id=\"containerd://ls-a\"", "container_name=\"a\"", "pod_uid=\"ls\"",
                   "cpi_field=\"cycles\""}),
            8000);
}

TEST_P(CollectorsTest, WithoutPerfThereIsNoCpiAndNothingWaitsForIt) {
  Switch("CPICollector=true");
  machine_.kernel().has_perf = false;
  AddPod(kLsPod);
  Start();
  loop_.Advance(70s);
  EXPECT_TRUE(advisor_->has_synced());
  EXPECT_EQ(store_.Last({Metric::kContainerCycles, "ls-a"}, 1h), std::nullopt);
}

TEST_P(CollectorsTest, GpusByProcess) {
  Switch("Accelerators=true");
  const auto pod = AddPod(kLsPod);
  const std::vector<int32_t> pids{100, 101};
  machine_.SetProcesses(machine_.ContainerDir(*pod, "a"), pids);
  gpus_.usage = {{.uuid = "GPU-0",
                  .core_percent = 80,
                  .memory = 10 * kMiB,
                  .processes = {{100, 30, 4 * kMiB}, {101, 20, kMiB}, {999, 30, kMiB}}},
                 {.uuid = "GPU-1", .core_percent = 5, .memory = kMiB}};
  Start();
  EXPECT_EQ(Last(Metric::kNodeGpuCore, "GPU-0"), 80);
  EXPECT_EQ(Last(Metric::kNodeGpuMemory, "GPU-1"), kMiB);
  EXPECT_EQ(Last(Metric::kPodGpuCore, "ls", "GPU-0"), 50);
  EXPECT_EQ(Last(Metric::kContainerGpuMemory, "ls-a", "GPU-0"), 5 * kMiB);
  EXPECT_EQ(Last(Metric::kPodGpuCore, "ls", "GPU-1"), std::nullopt) << "it does not use it";
  ASSERT_NE(info_.gpus(), nullptr);
  EXPECT_EQ(info_.gpus()->gpus.size(), 2);
}

TEST_P(CollectorsTest, ResourcesOfKoordinatorAsMetrics) {
  state_.SetNode(TestNode(R"(
metadata: {name: n}
status: {allocatable: {cpu: "8", kubernetes.io/batch-cpu: "3000", kubernetes.io/mid-memory: 1Gi}}
)"));
  AddPod(kBePod);
  Start();
  const auto allocatable = [&](const std::string& resource, const std::string& unit) {
    return Shown(external_, "koordlet_node_resource_allocatable",
                 {fmt::format("resource=\"{}\"", resource), fmt::format("unit=\"{}\"", unit)});
  };
  EXPECT_EQ(allocatable("kubernetes.io/batch-cpu", "integer"), 3000);
  EXPECT_EQ(allocatable("kubernetes.io/mid-memory", "byte"), 1 << 30);
  EXPECT_EQ(allocatable("cpu", "core"), std::nullopt);
  EXPECT_EQ(Shown(external_, "koordlet_container_resource_limits",
                  {"pod_namespace=\"default\"", "pod_name=\"be\"", "pod_uid=\"be\"",
                   "container_id=\"containerd://be-a\"", "container_name=\"a\"",
                   "resource=\"kubernetes.io/batch-cpu\"", "unit=\"integer\""}),
            2000);
  RemovePods();
  loop_.Advance(1s);
  EXPECT_THAT(external_.Text(), Not(HasSubstr("koordlet_container_resource_limits{")));
}

TEST_P(CollectorsTest, ProcessorsAreKnown) {
  Start();
  ASSERT_NE(info_.cpu(), nullptr);
  EXPECT_EQ(info_.cpu()->topology.processors().size(), 16);
  EXPECT_THAT(
      internal_.Text(),
      HasSubstr("koordlet_collect_node_cpu_info_status{node=\"n\",status=\"succeeded\"} 1"));
  const auto same = info_.cpu();
  loop_.Advance(60s);
  EXPECT_EQ(info_.cpu(), same) << "nothing has changed";
}

TEST_P(CollectorsTest, SystemUsageNeedsFreshInputs) {
  AddPod(kLsPod);
  Start();
  loop_.Advance(5s);
  EXPECT_NE(Last(Metric::kSystemCpu), std::nullopt);
  machine_.proc().Set("stat", "garbage");
  loop_.Advance(9s);
  EXPECT_NE(Last(Metric::kSystemCpu), std::nullopt);
  loop_.Advance(3s);
  EXPECT_EQ(Last(Metric::kSystemCpu), std::nullopt);
}

TEST_P(CollectorsTest, AnIntervalBelowASecondSwitchesMeasuringOff) {
  AddPod(kLsPod);
  options_.collectors.usage_interval = 0s;
  Start();
  loop_.Advance(10s);
  EXPECT_EQ(store_.series(), 0);
  EXPECT_TRUE(advisor_->has_synced());
}

TEST_P(CollectorsTest, WhatWasMeasuredSurvivesARestart) {
  TempDir directory;
  options_.store_directory = directory.path();
  AddPod(kLsPod);
  Start();
  loop_.Advance(30s);
  advisor_->Stop();
  MetricStore next(loop_.clock(), {});
  ASSERT_TRUE(next.Load(directory.path()).ok());
  EXPECT_EQ(next.Average({Metric::kNodeCpu}, 1min)->count, 30);
}

class AnolisTest : public CollectorsTest {
 protected:
  AnolisTest() : CollectorsTest({.version = CgroupVersion::kV1, .anolis = true}) {}
};
INSTANTIATE_TEST_SUITE_P(V1, AnolisTest, testing::Values(CgroupVersion::kV1));

std::string IdlePageStats(int64_t cold) {
  std::string text;
  for (int i = 0; i < 14; ++i) text += "# header\n";
  for (const std::string_view row :
       {"csei", "dsei", "cfei", "dfei", "csui", "dsui", "cfui", "dfui", "csea", "dsea", "cfea",
        "dfea", "csua", "dsua", "cfua", "dfua", "slab"}) {
    // The first five buckets are young.
    text += fmt::format("  {} 7 7 7 7 7 {} {} {}\n", row, cold, cold, cold);
  }
  return text;
}

TEST_P(AnolisTest, ColdMemory) {
  Switch("ColdPageCollector=true");
  const auto pod = AddPod(kLsPod);
  machine_.sys().Set("kernel/mm/kidled/scan_period_in_seconds", "120\n");
  machine_.sys().Set("kernel/mm/kidled/use_hierarchy", "0\n");
  const CgroupDir dir = machine_.ContainerDir(*pod, "a");
  machine_.SetMemory(dir, Anon(10 * kMiB, 20 * kMiB));
  const CgroupDir kubepods = machine_.host().cgroups().layout().QosDir(kube::PodQos::kGuaranteed);
  for (const CgroupDir& where : {CgroupDir(), kubepods, machine_.PodDir(*pod), dir}) {
    machine_.Set(CgroupFile::kMemoryIdlePageStats, where, Trim(IdlePageStats(kMiB)));
  }
  Start();
  // Four rows of file pages with three old buckets each.
  EXPECT_EQ(Last(Metric::kContainerColdMemory, "ls-a"), 12 * kMiB);
  EXPECT_EQ(Last(Metric::kContainerMemoryWithHotPages, "ls-a"), 18 * kMiB);
  EXPECT_EQ(Last(Metric::kPodMemoryWithHotPages, "ls"), 18 * kMiB);
  EXPECT_EQ(Last(Metric::kNodeColdMemory), 12 * kMiB);
  EXPECT_EQ(Last(Metric::kNodeMemoryWithHotPages), 18 * kMiB);
  EXPECT_EQ(*machine_.sys().Read("kernel/mm/kidled/scan_period_in_seconds"), "5");
  EXPECT_EQ(*machine_.sys().Read("kernel/mm/kidled/use_hierarchy"), "1");
}

TEST(ParseColdBytesTest, IncompleteTablesAreRefused) {
  EXPECT_TRUE(ParseColdBytes(IdlePageStats(1)).ok());
  EXPECT_FALSE(ParseColdBytes("").ok());
  EXPECT_FALSE(ParseColdBytes("cfei 1 2 3\n").ok());
  EXPECT_FALSE(ParseColdBytes(IdlePageStats(1) + "one\nmore\n").ok());
  EXPECT_FALSE(ParseColdBytes(IdlePageStats(-1)).ok());
}

class ResctrlTest : public CollectorsTest {
 protected:
  ResctrlTest() : CollectorsTest({.version = GetParam(), .resctrl = ResctrlFlavour::kIntel}) {
    for (const std::string_view group : {"LSR", "LS", "BE"}) {
      const std::string dir = fmt::format("{}/mon_data/mon_L3_01", group);
      machine_.resctrl().Set(dir + "/llc_occupancy", "1048576\n");
      machine_.resctrl().Set(dir + "/mbm_local_bytes", "2000\n");
      machine_.resctrl().Set(dir + "/mbm_total_bytes", "Unavailable\n");
    }
    Switch("ResctrlCollector=true");
  }
};
INSTANTIATE_TEST_SUITE_P(V2, ResctrlTest, testing::Values(CgroupVersion::kV2));

TEST_P(ResctrlTest, CacheAndBandwidthOfClasses) {
  options_.collectors.resctrl = true;
  Start();
  EXPECT_EQ(Last(Metric::kResctrlLlc, "LS", "1"), 1048576);
  EXPECT_EQ(Last(Metric::kResctrlBandwidth, "BE", "1/local"), 2000);
  EXPECT_EQ(Last(Metric::kResctrlBandwidth, "BE", "1/total"), std::nullopt);
  EXPECT_EQ(Shown(external_, "koordlet_resctrl_memory_bandwidth",
                  {"cache_id=\"1\"", "qos=\"LSR\"", "mb_type=\"mbm_local_bytes\""}),
            2000);
}

TEST_P(ResctrlTest, NeedsTheFlagAsWell) {
  Start();
  EXPECT_EQ(Last(Metric::kResctrlLlc, "LS", "1"), std::nullopt);
}

}  // namespace
}  // namespace koord::koordlet::collectors_test
