#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "koordlet/hooks/hook_fixture_testing.h"
#include "koordlet/hooks/tc_network_qos/network_control.h"
#include "koordlet/hooks/terway_qos/terway_files.h"
#include "koordlet/hooks/terway_qos/terway_qos.h"

namespace koord::koordlet::hooks::network_hooks_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class RecordingControl final : public NetworkControl {
 public:
  void Run(std::vector<NetCommand> commands, Done done) override {
    for (const NetCommand& command : commands) ran.push_back(Join(command.run, " "));
    done(answer);
  }
  std::vector<std::string> ran;
  Status answer;
};

constexpr std::string_view kTc = R"(
systemStrategy: {totalNetworkBandwidth: 800M}
resourceQOSStrategy:
  policies: {netQOSPolicy: tc}
  lsClass: {networkQOS: {enable: true, egressRequest: 40, egressLimit: 80}}
  beClass: {networkQOS: {enable: true, egressRequest: 80M, egressLimit: 160M}}
)";

class TcHook : public ::testing::Test {
 protected:
  TcHook() {
    node_.machine.proc().Set("net/route",
                             "Iface\tDestination\tGateway\neth0\t0000000A\t0\neth1\t00000000\t1\n");
  }
  void Add(std::string_view name, std::string_view qos, std::string_view ip,
           std::string_view limits = "", bool host_network = false) {
    kube::Pod pod = *TestPod(fmt::format(
        "{{metadata: {{name: {}, labels: {{koordinator.sh/qosClass: '{}'}}}}, spec: {{containers: "
        "[{{name: a}}]}}, status: {{podIP: '{}'}}}}",
        name, qos, ip));
    if (!limits.empty()) pod.metadata.annotations["koordinator.sh/networkQOS"] = limits;
    pod.spec.host_network = host_network;
    node_.AddPod(std::make_shared<const kube::Pod>(pod));
  }

  RecordingControl control_;
  HookNode node_{{.host = {.version = CgroupVersion::kV1},
                  .gates = "TCNetworkQoS=true",
                  .tools = {.network = &control_}}};
};

TEST_F(TcHook, ClassesAndSetsOfANode) {
  Add("ls", "LS", "10.0.0.1");
  Add("be", "BE", "10.0.0.2");
  Add("none", "", "10.0.0.3");
  Add("evil", "BE", "$(reboot)");
  node_.SetSlo(kTc);
  node_.Sync();
  EXPECT_THAT(
      control_.ran,
      ElementsAre(
          "tc qdisc del dev eth1 root", "tc qdisc add dev eth1 root handle 1: htb default 2",
          "tc class replace dev eth1 parent 1: classid 1:1 htb rate 100000000bps ceil 100000000bps",
          "tc class replace dev eth1 parent 1:1 classid 1:2 htb rate 50000000bps ceil 100000000bps "
          "prio 1",
          "tc class replace dev eth1 parent 1:1 classid 1:3 htb rate 40000000bps ceil 80000000bps "
          "prio 2",
          "tc class replace dev eth1 parent 1:1 classid 1:4 htb rate 10000000bps ceil 20000000bps "
          "prio 3",
          "tc filter add dev eth1 parent 1: protocol ip prio 1 handle 2: cgroup",
          "tc filter add dev eth1 parent 1: protocol ip prio 2 handle 3: cgroup",
          "tc filter add dev eth1 parent 1: protocol ip prio 3 handle 4: cgroup",
          "ipset create -exist system_class hash:ip", "ipset flush system_class",
          "iptables -w -t mangle -A POSTROUTING -m set --match-set system_class src -j CLASSIFY "
          "--set-class 1:2",
          "ipset create -exist ls_class hash:ip", "ipset flush ls_class",
          "ipset add -exist ls_class 10.0.0.1",
          "iptables -w -t mangle -A POSTROUTING -m set --match-set ls_class src -j CLASSIFY "
          "--set-class 1:3",
          "ipset create -exist be_class hash:ip", "ipset flush be_class",
          "ipset add -exist be_class 10.0.0.2",
          "iptables -w -t mangle -A POSTROUTING -m set --match-set be_class src -j CLASSIFY "
          "--set-class 1:4"));
  EXPECT_EQ(node_.OfPod(CgroupFile::kNetClassId, "ls"), fmt::format("{}", (1 << 16) | 3));
  EXPECT_EQ(node_.OfPod(CgroupFile::kNetClassId, "none"), "0");
}

TEST_F(TcHook, PodsWithLimitsHaveClassesOfTheirOwn) {
  node_.SetSlo(kTc);
  node_.Sync();
  control_.ran.clear();
  Add("own", "BE", "10.0.0.2", R"({"egressLimit":"80M"})");
  Add("greedy", "BE", "10.0.0.3", R"({"egressLimit":"80G"})");
  node_.Sync();
  EXPECT_THAT(control_.ran, Contains(HasSubstr("rate 10000000bps ceil 10000000bps")))
      << "bits become bytes once";
  EXPECT_THAT(control_.ran, Contains(HasSubstr("rate 20000000bps ceil 20000000bps")))
      << "no more than the class may use";
  EXPECT_THAT(control_.ran, Contains(HasSubstr("u32 match ip src 10.0.0.2/32 flowid 1:")));
  EXPECT_THAT(control_.ran, Not(Contains(StartsWith("ipset add"))));
  control_.ran.clear();
  node_.Sync();
  EXPECT_THAT(control_.ran, IsEmpty());
  node_.pods.clear();
  node_.Sync();
  EXPECT_EQ(control_.ran.size(), 4u) << "a filter and a class of each";
}

TEST_F(TcHook, AnotherPolicyTakesEverythingAway) {
  Add("ls", "LS", "10.0.0.1");
  node_.SetSlo(kTc);
  node_.Sync();
  control_.ran.clear();
  node_.SetSlo(
      "{systemStrategy: {totalNetworkBandwidth: 800M}, resourceQOSStrategy: {policies: "
      "{netQOSPolicy: terway-qos}}}");
  EXPECT_THAT(control_.ran, Contains("tc qdisc del dev eth1 root"));
  EXPECT_THAT(control_.ran, Contains("ipset destroy be_class"));
  EXPECT_EQ(node_.OfPod(CgroupFile::kNetClassId, "ls"), "0");
  control_.ran.clear();
  node_.Sync();
  EXPECT_THAT(control_.ran, IsEmpty());
}

TEST_F(TcHook, WhatFailedIsSetUpAgain) {
  control_.answer = Internal("no such module");
  node_.SetSlo(kTc);
  node_.Sync();
  control_.answer = absl::OkStatus();
  control_.ran.clear();
  node_.Sync();
  EXPECT_THAT(control_.ran, Contains("tc qdisc add dev eth1 root handle 1: htb default 2"));
}

class MemoryFiles final : public TerwayFiles {
 public:
  Status Write(std::string_view name, std::string_view text) override {
    files[std::string(name)] = text;
    return absl::OkStatus();
  }
  Status Remove(std::string_view name) override {
    files.erase(std::string(name));
    return absl::OkStatus();
  }
  std::map<std::string, std::string> files;
};

constexpr std::string_view kTerway = R"(
systemStrategy: {totalNetworkBandwidth: 800M}
resourceQOSStrategy:
  policies: {netQOSPolicy: terway-qos}
  lsClass: {networkQOS: {enable: true, egressRequest: 80M, egressLimit: 160M, ingressRequest: 10}}
)";

TEST(TerwayHook, WritesBothFilesAndRemovesThem) {
  MemoryFiles files;
  HookNode node({.host = {.version = CgroupVersion::kV1, .driver = CgroupDriver::kCgroupfs},
                 .gates = "TerwayQoS=true",
                 .tools = {.terway = &files}});
  node.AddPod(R"(
metadata:
  name: p
  labels: {koordinator.sh/qosClass: BE}
  annotations: {koordinator.sh/networkQOS: '{"ingressLimit":"80M","egressLimit":"16M"}'}
spec: {containers: [{name: a}]}
)");
  node.AddPod(R"(
metadata: {name: half, annotations: {koordinator.sh/networkQOS: '{"ingressLimit":"80M"}'}}
spec: {containers: [{name: a}]}
)");
  node.SetSlo(kTerway);
  node.Sync();
  EXPECT_EQ(files.files["global_bps_config"],
            "hw_tx_bps_max 100000000\nhw_rx_bps_max 100000000\n"
            "offline_l1_tx_bps_min 10000000\noffline_l1_tx_bps_max 20000000\n"
            "offline_l1_rx_bps_min 80000000\noffline_l1_rx_bps_max 0\n"
            "offline_l2_tx_bps_min 0\noffline_l2_tx_bps_max 0\n"
            "offline_l2_rx_bps_min 0\noffline_l2_rx_bps_max 0\n");
  EXPECT_EQ(files.files["pod.json"],
            R"({"p":{"podName":"p","podNamespace":"default","podUID":"p","prio":2,)"
            R"("cgroupDir":"/sys/fs/cgroup/net_cls/kubepods/besteffort/podp",)"
            R"("qosConfig":{"ingressBandwidth":10000000,"egressBandwidth":2000000}}})");
  node.SetSlo("resourceQOSStrategy: {policies: {netQOSPolicy: tc}}");
  node.Sync();
  EXPECT_THAT(files.files, IsEmpty());
}

TEST(TerwayHook, WhatTheNodeDoesNotHaveIsAnError) {
  api::NodeSloSpec slo;
  slo.system_strategy.emplace().total_network_bandwidth = kube::Quantity(-1);
  EXPECT_FALSE(TerwayNodeConfig(slo).ok());
  slo.system_strategy->total_network_bandwidth = kube::Quantity(800);
  auto& network = slo.resource_qos_strategy.emplace().ls_class.emplace().network_qos.emplace();
  network.enable = true;
  for (const char* text : {"lots", "8k", "-1"}) {
    network.egress_limit = kube::IntOrString(text);
    EXPECT_FALSE(TerwayNodeConfig(slo).ok()) << text;
  }
  for (const int percent : {101, -1}) {
    network.egress_limit = kube::IntOrString(percent);
    EXPECT_FALSE(TerwayNodeConfig(slo).ok()) << percent;
  }
}

}  // namespace
}  // namespace koord::koordlet::hooks::network_hooks_test
