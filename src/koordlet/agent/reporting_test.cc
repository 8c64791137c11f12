#include "koordlet/agent/reporting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "koordlet/agent/koordlet_rig_testing.h"

namespace koord::koordlet::reporting_test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class ReportingTest : public testing::Test {
 protected:
  ReportingTest() : machine_({.shape = kShape}) {
    info_.SetCpu(*machine_.host().ReadCpuInfo());
    info_.SetNuma(*machine_.host().ReadNumaNodes());
    state_.SetNode(TestNode(kNode));
    machine_.kubelet().Set("config.yaml", "kind: KubeletConfiguration\nclusterDomain: c\n");
  }

  // Ten minutes of it, with nothing in the cluster but perhaps a NodeMetric.
  void Report(bool has_node_metric) {
    Reporting reporting(loop_, client_,
                        {.host = machine_.host(),
                         .state = state_,
                         .info = info_,
                         .metrics = metrics_,
                         .predictor = predictor_},
                        options_, 1);
    reporting.SetTopology(nullptr);
    reporting.SetDevice(nullptr);
    reporting.SetNodeMetric(has_node_metric ? std::make_shared<api::NodeMetric>() : nullptr);
    reporting.Start();
    loop_.Advance(10min);
    reporting.Stop();
    const size_t said = cluster_.requests.size();
    loop_.Advance(10min);
    EXPECT_EQ(cluster_.requests.size(), said) << "once stopped it is silent";
  }

  VirtualLoop loop_;
  RecordingCluster cluster_;
  kube::Client client_{loop_, std::make_shared<kube::InProcessTransport>(loop_, cluster_), {}};
  TestHost machine_;
  KoordletOptions options_ = PlainOptions();
  NodeState state_;
  NodeInfoCache info_;
  MetricStore metrics_{loop_.clock(), {}};
  metrics::Registry registry_;
  Predictor predictor_{loop_, state_, metrics_, registry_, registry_, {}};
};

TEST_F(ReportingTest, UsageIsReportedWhereThereIsAnObjectForIt) {
  Report(/*has_node_metric=*/false);
  EXPECT_THAT(cluster_.requests, Not(Contains(HasSubstr("nodemetrics"))));
  Report(/*has_node_metric=*/true);
  EXPECT_THAT(cluster_.requests, Contains(HasSubstr("nodemetrics/n/status")));
}

TEST_F(ReportingTest, UsageMayBeKeptToItself) {
  options_.report_node_metric = false;
  Report(/*has_node_metric=*/true);
  EXPECT_THAT(cluster_.requests, Not(Contains(HasSubstr("nodemetrics"))));
}

TEST_F(ReportingTest, DevicesAreReportedWhereAGateIsOn) {
  ASSERT_TRUE(options_.gates.Set("Accelerators=false,RDMADevices=false").ok());
  Report(/*has_node_metric=*/false);
  EXPECT_THAT(cluster_.requests, Not(Contains(HasSubstr("devices"))));
  ASSERT_TRUE(options_.gates.Set("RDMADevices=true").ok());
  Report(/*has_node_metric=*/false);
  EXPECT_THAT(cluster_.requests, Contains(HasSubstr("devices")));
}

TEST_F(ReportingTest, WithoutItsGateTheTopologyIsForKoordletAlone) {
  ASSERT_TRUE(options_.gates.Set("NodeTopologyReport=false").ok());
  Report(/*has_node_metric=*/false);
  EXPECT_THAT(cluster_.requests, Not(Contains(HasSubstr("noderesourcetopologies"))));
  EXPECT_NE(state_.topology(), nullptr);
}

}  // namespace
}  // namespace koord::koordlet::reporting_test
