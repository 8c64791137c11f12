// What the API server hears from reporters, and when.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/log.h"
#include "base/virtual_loop.h"
#include "koordlet/host/memory_tree.h"
#include "koordlet/reporters/device_reporter.h"
#include "koordlet/reporters/node_metric_reporter.h"
#include "koordlet/reporters/topology_reporter.h"
#include "koordlet/testing/test_pod.h"
#include "kube/transport/in_process_transport.h"
#include "kube/transport/scripted_handler.h"

namespace koord::koordlet::reporters_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class ReportersTest : public testing::Test {
 protected:
  std::string Next() {
    exchange_ = server_.Take();
    return exchange_.request.method + " " + exchange_.request.target;
  }
  kube::Json Body() { return *kube::ParseJson(exchange_.request.body); }
  void Answer(int status = 200) {
    exchange_.Answer(status, status == 200 ? "{}" : R"({"kind":"Status","code":409})");
    loop_.RunReady();
  }

  VirtualLoop loop_;
  kube::ScriptedHandler server_;
  kube::ScriptedHandler::Exchange exchange_;
  kube::Client client_{loop_, std::make_shared<kube::InProcessTransport>(loop_, server_), {}};
  NodeState state_;
  NodeInfoCache info_;
  MemoryTree files_;
};

TEST_F(ReportersTest, NodeMetricIsReportedAtItsInterval) {
  NodeMetricReporter reporter(
      loop_, client_, "n", [](const NodeMetricPolicy&) { return api::NodeMetricStatus{}; }, 1);
  reporter.Start();
  loop_.Advance(10min);
  EXPECT_EQ(server_.waiting(), 0u) << "without an object there is nothing to report to";
  reporter.SetObject(std::make_shared<api::NodeMetric>());
  loop_.Advance(61s);
  ASSERT_EQ(server_.waiting(), 1u);
  EXPECT_THAT(Next(), StartsWith("PATCH /apis/slo.koordinator.sh/v1alpha1/nodemetrics/n/status"));
  EXPECT_NE(kube::Find(Body(), {"status"}), nullptr);
  Answer();
  loop_.Advance(30s);
  EXPECT_EQ(server_.waiting(), 0u) << "the next one is due in half a minute";
  auto faster = std::make_shared<api::NodeMetric>();
  faster->spec.metric_collect_policy.emplace().report_interval_seconds = 30;
  reporter.SetObject(faster);
  loop_.Advance(31s);
  EXPECT_EQ(server_.waiting(), 1u);
  reporter.SetObject(nullptr);
  Next();
  Answer(404);
  loop_.Advance(5min);
  EXPECT_EQ(server_.waiting(), 0u);
}

TEST_F(ReportersTest, TopologyIsCreatedThenChangedWhereItDiffers) {
  TopologyReporter reporter(loop_, client_, "n", state_, info_, files_, nullptr,
                            {.ask_kubelet = false});
  reporter.Start();
  state_.SetNode(TestNode("metadata: {name: n, uid: u}"));
  CpuInfo cpu;
  cpu.topology = {{{0, 0, 0, 0}, {1, 1, 0, 0}, {2, 2, 0, 0}, {3, 3, 0, 0}}};
  info_.SetCpu(cpu);
  info_.SetNuma({{0, int64_t{4} << 30}});
  loop_.Advance(4s);
  EXPECT_EQ(server_.waiting(), 0u) << "it is not known yet whether there is one";
  ASSERT_NE(state_.topology(), nullptr) << "but koordlet itself knows";
  EXPECT_EQ(state_.topology()->ls_pools[0].cpuset, "0-3");
  reporter.SetObject(nullptr);
  loop_.Advance(3s);
  EXPECT_EQ(Next(), "POST /apis/topology.node.k8s.io/v1alpha1/noderesourcetopologies");
  EXPECT_EQ(kube::FindString(Body(), {"kind"}), "NodeResourceTopology");
  EXPECT_EQ(kube::FindString(Body(), {"apiVersion"}), "topology.node.k8s.io/v1alpha1");
  auto stored =
      std::make_shared<api::NodeResourceTopology>(*kube::Decode<api::NodeResourceTopology>(Body()));
  stored->metadata.resource_version = "1";
  Answer();
  reporter.SetObject(stored);
  loop_.Advance(1min);
  EXPECT_EQ(server_.waiting(), 0u) << "nothing has changed";
  state_.SetNode(
      TestNode("metadata: {name: n, uid: u, annotations: {node.koordinator.sh/reservation: "
               "'{\"reservedCPUs\":\"0\"}'}}"));
  loop_.Advance(3s);
  EXPECT_EQ(Next(), "PATCH /apis/topology.node.k8s.io/v1alpha1/noderesourcetopologies/n");
  EXPECT_EQ(kube::FindString(Body(), {"metadata", "resourceVersion"}), "1");
  Answer(409);
  loop_.Advance(3s);
  EXPECT_EQ(server_.waiting(), 1u) << "a lost race is run again";
}

TEST_F(ReportersTest, TopologyStaysAtHomeWithoutItsGate) {
  TopologyReporter reporter(loop_, client_, "n", state_, info_, files_, nullptr,
                            {.report = false, .ask_kubelet = false});
  state_.SetNode(TestNode("metadata: {name: n}"));
  CpuInfo cpu;
  cpu.topology = {{{0, 0, 0, 0}}};
  info_.SetCpu(cpu);
  info_.SetNuma({{0, int64_t{4} << 30}});
  reporter.SetObject(nullptr);
  reporter.Start();
  loop_.Advance(10s);
  EXPECT_EQ(server_.waiting(), 0u);
  EXPECT_NE(state_.topology(), nullptr);
}

TEST_F(ReportersTest, ARefusedKubeletConfigurationIsSaidOnceAndAskedForSeldom) {
  std::vector<std::string> lines;
  log::SetSink([&](std::string_view line) { lines.emplace_back(line); });
  KubeletClient kubelet(
      loop_,
      [this](const kube::Node&) {
        return std::make_shared<kube::InProcessTransport>(loop_, server_);
      },
      3s, nullptr);
  ASSERT_TRUE(kubelet.SetNode(*TestNode("metadata: {name: n}")).ok());
  int asked = 0;
  bool is_allowed = false;
  kubelet.SetDetour([&](std::string_view, kube::Transport::Done done) {
    ++asked;
    done(kube::HttpResponse{is_allowed ? 200 : 403, {}, R"({"kubeletconfig":{}})"});
  });
  TopologyReporter reporter(loop_, client_, "n", state_, info_, files_, &kubelet, {});
  state_.SetNode(TestNode("metadata: {name: n}"));
  CpuInfo cpu;
  cpu.topology = {{{0, 0, 0, 0}}};
  info_.SetCpu(cpu);
  info_.SetNuma({{0, int64_t{4} << 30}});
  reporter.SetObject(nullptr);
  reporter.Start();
  loop_.Advance(1h);
  log::SetSink(nullptr);
  EXPECT_EQ(server_.waiting(), 0u) << "nothing is made up";
  EXPECT_GE(asked, 55);
  EXPECT_LE(asked, 70) << "once a minute, and a little more often at first";
  std::erase_if(lines, [](const std::string& line) {
    return line.find("configuration is unknown") == std::string::npos;
  });
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], HasSubstr("topology is not reported"));
  EXPECT_THAT(lines[0], HasSubstr("nodes/proxy"));
  is_allowed = true;
  loop_.Advance(2min);
  EXPECT_THAT(Next(), StartsWith("POST /apis/topology.node.k8s.io/"));
}

TEST_F(ReportersTest, DevicesAreReported) {
  MemoryTree xpu;
  xpu.Set("a.json", R"([{"vendor":"x","model":"m","uuid":"u0","minor":0}])");
  DeviceReporter reporter(loop_, client_, "n", state_, info_, files_, &xpu, {.gpus = true});
  state_.SetNode(TestNode("metadata: {name: n, uid: u}"));
  reporter.SetObject(nullptr);
  reporter.Start();
  loop_.RunReady();
  EXPECT_EQ(Next(), "POST /apis/scheduling.koordinator.sh/v1alpha1/devices");
  const auto device = *kube::Decode<api::Device>(Body());
  ASSERT_EQ(device.spec.devices.size(), 1u);
  EXPECT_EQ(device.spec.devices[0].id, "u0");
  Answer();
  reporter.SetObject(std::make_shared<api::Device>(device));
  loop_.Advance(1min);
  EXPECT_EQ(server_.waiting(), 0u);
}

}  // namespace
}  // namespace koord::koordlet::reporters_test
