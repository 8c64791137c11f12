// koordlet as a whole on machines in memory: what it does to them as its cluster and its pods
// change.
#include "koordlet/agent/koordlet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/cpu_set.h"
#include "koordlet/agent/koordlet_rig_testing.h"

namespace koord::koordlet::koordlet_test {
namespace {

using testing::HasSubstr;

class KoordletTest : public testing::TestWithParam<std::pair<CgroupVersion, CgroupDriver>> {
 protected:
  KoordletTest() {
    TestHost::Options options;
    options.version = GetParam().first;
    options.driver = GetParam().second;
    options.shape = kShape;
    machine_ = std::make_unique<TestHost>(options);
    service_ = TestPod(kService);
    batch_ = TestPod(kBatch);
    machine_->AddPod(*service_);
    machine_->AddPod(*batch_);
    StartKoordlet();
  }

  void StartKoordlet() {
    koordlet_.reset();
    koordlet_ = std::make_unique<Koordlet>(loop_, machine_->host(), client_, PlainOptions(),
                                           Koordlet::Parts{.internal = &internal_});
    koordlet_->Start();
  }
  void Tell(const std::string& slo) {
    TellOfNode(*koordlet_, TestNode(kNode), slo);
    koordlet_->OnPods({service_, batch_});
  }

  // Time in which the service uses so many processors; the batch pod uses one.
  void Live(Duration time, double cores) {
    for (Duration passed{}; passed < time; passed += 1s) {
      machine_->UseCpu(machine_->ContainerDir(*service_, "main"),
                       std::chrono::duration_cast<Duration>(1s * cores));
      machine_->UseCpu(machine_->ContainerDir(*batch_, "main"), 1s);
      loop_.Advance(1s);
    }
  }
  std::string BeCpuset() {
    return machine_->Get(CgroupFile::kCpuset,
                         machine_->host().cgroups().layout().QosDir(kube::PodQos::kBestEffort));
  }

  VirtualLoop loop_;
  RecordingCluster cluster_;
  kube::Client client_{loop_, std::make_shared<kube::InProcessTransport>(loop_, cluster_), {}};
  metrics::Registry internal_;
  std::unique_ptr<TestHost> machine_;
  std::shared_ptr<const kube::Pod> service_, batch_;
  std::unique_ptr<Koordlet> koordlet_;
};

constexpr char kSuppress[] =
    "resourceUsedThresholdWithBE: {enable: true, cpuSuppressThresholdPercent: 65}";

TEST_P(KoordletTest, ActsOnlyOnceItKnowsEnough) {
  const std::string before = machine_->Dump();
  loop_.Advance(1min);
  EXPECT_FALSE(koordlet_->acting());
  EXPECT_FALSE(koordlet_->Healthy().ok());
  EXPECT_EQ(machine_->Dump(), before) << "nothing is known, so nothing is touched";
  Tell(kSuppress);
  Live(5s, 1);
  EXPECT_TRUE(koordlet_->acting());
  EXPECT_TRUE(koordlet_->Healthy().ok());
}

TEST_P(KoordletTest, WorksWithoutTheKubeletsConfiguration) {
  KubeletClient kubelet(
      loop_,
      [this](const kube::Node&) {
        return std::make_shared<kube::InProcessTransport>(loop_, cluster_);
      },
      3s, nullptr);
  int asked = 0;
  kubelet.SetDetour([&](std::string_view, kube::Transport::Done done) {
    ++asked;
    done(kube::HttpResponse{403, {}, ""});
  });
  koordlet_.reset();
  KoordletOptions options;
  options.node_name = "n";
  options.pods_from_api_server = true;
  koordlet_ = std::make_unique<Koordlet>(loop_, machine_->host(), client_, options,
                                         Koordlet::Parts{.kubelet = &kubelet});
  koordlet_->Start();
  Tell(kSuppress);
  koordlet_->OnNodeMetric(std::make_shared<api::NodeMetric>());
  Live(90s, 4);
  EXPECT_GT(asked, 0);
  EXPECT_TRUE(koordlet_->Healthy().ok());
  EXPECT_THAT(cluster_.requests, testing::Contains(HasSubstr("nodemetrics/n/status")));
  EXPECT_THAT(cluster_.requests,
              testing::Not(testing::Contains(HasSubstr("noderesourcetopologies"))));
  // As kubeadm writes it.
  machine_->kubelet().Set("config.yaml", "kind: KubeletConfiguration\nclusterDomain: c\n");
  Live(2min, 4);
  EXPECT_EQ(CpuSet::Parse(BeCpuset())->size(), 2u) << "batch is suppressed";
  EXPECT_THAT(cluster_.requests, testing::Contains(HasSubstr("noderesourcetopologies")));
  koordlet_.reset();  // before the kubelet
}

TEST_P(KoordletTest, SuppressesBatchWhenTheServiceNeedsTheNode) {
  Tell(kSuppress);
  Live(20s, 0.5);
  const std::string calm = BeCpuset();
  Live(5s, 4);
  const std::string busy = BeCpuset();
  EXPECT_NE(calm, busy);
  // 8 * 65 % - 4 = 1.2 cores, but never fewer than two processors.
  EXPECT_EQ(CpuSet::Parse(busy)->size(), 2u) << busy;
  Live(30s, 0.5);
  // 8 * 65 % - 0.5 = 4.7 cores.
  EXPECT_EQ(CpuSet::Parse(BeCpuset())->size(), 5u) << "it gets them back step by step";
}

TEST_P(KoordletTest, GivesTheNodeBackWhenThePolicyIsSwitchedOff) {
  Tell(kSuppress);
  Live(10s, 4);
  EXPECT_EQ(CpuSet::Parse(BeCpuset())->size(), 2u);
  koordlet_->OnNodeSlo(NodeSloOf("resourceUsedThresholdWithBE: {enable: false}"));
  Live(3s, 4);
  EXPECT_EQ(BeCpuset(), "0-7");
}

TEST_P(KoordletTest, ConvergesAfterARestart) {
  Tell(kSuppress);
  Live(10s, 4);
  const std::string before = BeCpuset();
  StartKoordlet();
  EXPECT_EQ(BeCpuset(), before) << "stopping leaves best-effort pods where they are";
  Tell(kSuppress);
  Live(5s, 4);
  EXPECT_EQ(CpuSet::Parse(BeCpuset())->size(), 2u);
}

TEST_P(KoordletTest, ReportsUsageAndTopology) {
  Tell("{}");
  koordlet_->OnNodeMetric(std::make_shared<api::NodeMetric>());
  Live(90s, 2);
  EXPECT_THAT(cluster_.requests,
              testing::Contains(HasSubstr("POST /apis/topology.node.k8s.io/v1alpha1/")));
  const auto report = std::find_if(
      cluster_.requests.begin(), cluster_.requests.end(), [](const std::string& request) {
        return request.find("nodemetrics/n/status") != std::string::npos;
      });
  ASSERT_NE(report, cluster_.requests.end());
  const auto body =
      *kube::ParseJson(cluster_.bodies[static_cast<size_t>(report - cluster_.requests.begin())]);
  const auto status = *kube::Decode<api::NodeMetricStatus>(*kube::Find(body, {"status"}));
  ASSERT_EQ(status.pods_metric.size(), 2u);
  EXPECT_EQ(status.pods_metric[1].name, "service");
  EXPECT_NEAR(kube::AmountOf(status.pods_metric[1].pod_usage.resources, "cpu").ToDouble(), 2, 0.1);
  EXPECT_NEAR(kube::AmountOf(status.node_metric->node_usage.resources, "cpu").ToDouble(), 3, 0.2);
}

TEST_P(KoordletTest, BatchPodsGetWhatTheyAskedFor) {
  Tell("{}");
  Live(15s, 1);
  // 4000 milli-cores of batch CPU.
  const CgroupDir dir = machine_->ContainerDir(*batch_, "main");
  const auto quota = machine_->host().cgroups().ReadCpuQuota(dir);
  ASSERT_TRUE(quota.ok()) << Message(quota.status());
  EXPECT_EQ(quota->value(), 400000);
  const auto memory = machine_->host().cgroups().ReadMemoryLimit(dir);
  EXPECT_EQ(memory->value(), int64_t{4} << 30);
}

TEST_P(KoordletTest, NeitherVanishingPodsNorGarbageStopIt) {
  Tell(kSuppress);
  Live(5s, 1);
  machine_->RemovePod(*batch_);
  Live(3s, 1);
  machine_->cgroup().Set("nonsense/\xff\xfe", "\x01\x02");
  machine_->proc().Set("meminfo", "garbage");
  Live(3s, 1);
  auto evil = std::make_shared<kube::Pod>(*batch_);
  evil->metadata.uid = "../../../etc";
  evil->metadata.annotations["koordinator.sh/cpuBurst"] = "{";
  koordlet_->OnPods({service_, evil});
  Live(3s, 4);
  EXPECT_TRUE(koordlet_->acting());
  EXPECT_EQ(koordlet_->state().pods()->size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Layouts, KoordletTest,
                         testing::Values(std::pair(CgroupVersion::kV1, CgroupDriver::kCgroupfs),
                                         std::pair(CgroupVersion::kV1, CgroupDriver::kSystemd),
                                         std::pair(CgroupVersion::kV2, CgroupDriver::kCgroupfs),
                                         std::pair(CgroupVersion::kV2, CgroupDriver::kSystemd)),
                         [](const auto& info) {
                           return std::string(info.param.first == CgroupVersion::kV1 ? "V1"
                                                                                     : "V2") +
                                  (info.param.second == CgroupDriver::kSystemd ? "Systemd"
                                                                               : "Cgroupfs");
                         });

}  // namespace
}  // namespace koord::koordlet::koordlet_test
