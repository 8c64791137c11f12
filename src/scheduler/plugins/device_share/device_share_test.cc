#include "scheduler/plugins/device_share/device_share.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/keys.h"
#include "model/device/device_testing.h"
#include "scheduler/config/plugin_args.h"
#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::device_share_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DeviceShareTest : public ::testing::Test {
 protected:
  DeviceShare& plugin() {
    if (plugin_ == nullptr) Make(DefaultArgs<DeviceShareArgs>());
    return *plugin_;
  }
  void Make(DeviceShareArgs args) {
    plugin_ = std::make_unique<DeviceShare>(bed_.context, std::move(args));
    plugin_->set_slot(0);
  }
  void AddNode(std::string_view name, std::string_view labels = "") {
    bed_.AddNode(fmt::format("{{metadata: {{name: {}, labels: {{{}}}}}}}", name, labels));
  }
  void SetDevice(std::string_view node, api::Device device) {
    device.metadata.name = std::string(node);
    bed_.objects.devices.Set(std::make_shared<const api::Device>(std::move(device)));
  }
  static std::string Pod(std::string_view requests, std::string_view annotations = "",
                         std::string_view labels = "") {
    return fmt::format(
        "{{metadata: {{name: p, annotations: {{{}}}, labels: {{{}}}}}, spec: "
        "{{containers: [{{resources: {{requests: {{{}}}}}}}]}}}}",
        annotations, labels, requests);
  }
  std::string Check(std::string_view pod, std::string_view node) {
    const auto query = bed_.Query(plugin(), pod);
    if (!bed_.pre_filter.verdict.ok()) {
      return fmt::format("{}: {}", ToString(bed_.pre_filter.verdict.code),
                         bed_.pre_filter.verdict.Message());
    }
    return bed_.Check(plugin(), *query, node);
  }
  // The annotation of a pod that is placed there, or why it is not. The pod stays.
  std::string Place(std::string_view name, std::string_view pod_yaml, std::string_view node) {
    kube::Pod named = *PodOf(pod_yaml);
    named.metadata.name = named.metadata.uid = std::string(name);
    const auto pod = std::make_shared<const kube::Pod>(std::move(named));
    Attempt attempt;
    attempt.pod = pod;
    attempt.shape = bed_.ledger.shapes().Of(pod);
    attempt.row = *bed_.ledger.nodes().Find(node);
    attempt.node = std::string(node);
    const Verdict verdict = plugin().Reserve(attempt);
    if (!verdict.ok()) return verdict.Message();
    std::string said = "nothing";
    plugin().PreBind(attempt, [&](const Verdict& answer) { said = answer.Message(); });
    const auto found = attempt.annotations.find(api::kAnnotationDeviceAllocated);
    if (!said.empty()) return said;
    const std::string text = found == attempt.annotations.end() ? "" : found->second;
    EXPECT_TRUE(bed_.ledger.Assume(pod, attempt.shape, attempt.row, std::move(attempt.held)).ok());
    const std::string assumed = bed_.ledger.Fingerprint();
    // The same as if it were read from the API server.
    kube::Pod bound = *pod;
    bound.spec.node_name = std::string(node);
    bound.metadata.annotations = attempt.annotations;
    bed_.ledger.SetPod(std::make_shared<const kube::Pod>(std::move(bound)));
    EXPECT_EQ(bed_.ledger.Fingerprint(), assumed);
    return text;
  }

  PluginBed bed_;
  std::unique_ptr<DeviceShare> plugin_;
};

TEST_F(DeviceShareTest, PodsWithoutDevicesAreNotConcerned) {
  AddNode("n");
  bed_.Query(plugin(), Pod("cpu: 1"));
  EXPECT_EQ(bed_.pre_filter.verdict.code, Code::kSkip);
}

TEST_F(DeviceShareTest, InvalidRequestsAreSaid) {
  AddNode("n");
  EXPECT_EQ(Check(Pod("koordinator.sh/gpu: 101"), "n"),
            "UnschedulableAndUnresolvable: invalid resource unit koordinator.sh/gpu: 101");
}

TEST_F(DeviceShareTest, NodesWithoutDeviceObjectAreTheKubeletsBusiness) {
  AddNode("n");
  EXPECT_EQ(Check(Pod("nvidia.com/gpu: 2"), "n"), "");
  EXPECT_EQ(Place("a", Pod("nvidia.com/gpu: 2"), "n"), "");
}

TEST_F(DeviceShareTest, CardsAreGivenOnceAndWrittenDown) {
  AddNode("n");
  api::Device device;
  device.spec.devices = {model::Card(0, "16Gi"), model::Card(1, "16Gi")};
  SetDevice("n", device);
  EXPECT_EQ(Place("a", Pod("koordinator.sh/gpu: 100"), "n"),
            R"({"gpu":[{"minor":0,"resources":{"koordinator.sh/gpu-core":"100",)"
            R"("koordinator.sh/gpu-memory":"16Gi","koordinator.sh/gpu-memory-ratio":"100"},)"
            R"("id":"GPU-0"}]})");
  EXPECT_THAT(Place("b", Pod("koordinator.sh/gpu: 50"), "n"), HasSubstr(R"("minor":1)"));
  EXPECT_EQ(Check(Pod("koordinator.sh/gpu: 60"), "n"), "Unschedulable: Insufficient gpu devices");
  EXPECT_EQ(Check(Pod("koordinator.sh/gpu: 50"), "n"), "");
  bed_.ledger.RemovePod("a");
  EXPECT_EQ(Check(Pod("koordinator.sh/gpu: 60"), "n"), "");
}

TEST_F(DeviceShareTest, VirtualFunctionsAreWrittenDown) {
  AddNode("n");
  SetDevice("n", model::MachineG8());
  const std::string pod =
      Pod("koordinator.sh/rdma: 1",
          R"(scheduling.koordinator.sh/device-allocate-hint: '{"rdma":{"vfSelector":{}}}')");
  EXPECT_EQ(Place("a", pod, "n"),
            R"({"rdma":[{"minor":1,"resources":{"koordinator.sh/rdma":"1"},"id":"0000:1f:00.0",)"
            R"("extension":{"vfs":[{"busID":"0000:1f:00.2"}]}}]})");
  EXPECT_THAT(Place("b", pod, "n"), HasSubstr(R"("busID":"0000:90:00.2")"))
      << "the emptiest device comes first";
}

TEST_F(DeviceShareTest, SharesNeedTheirIsolationAndCardsThatCanBeShared) {
  Make([] {
    DeviceShareArgs args = DefaultArgs<DeviceShareArgs>();
    args.gpu_share_unsupported_models = {{"acme", "X1"}};
    return args;
  }());
  AddNode("plain");
  AddNode("isolated", "koordinator.sh/gpu-isolation-provider: HAMi-core");
  AddNode("acme", "node.koordinator.sh/gpu-vendor: acme, node.koordinator.sh/gpu-model: X1");
  for (const std::string_view node : {"plain", "isolated", "acme"}) {
    SetDevice(node, model::MachineG8());
  }
  const std::string isolated =
      Pod("koordinator.sh/gpu: 50", "", "koordinator.sh/gpu-isolation-provider: HAMi-core");
  EXPECT_EQ(Check(isolated, "plain"),
            "UnschedulableAndUnresolvable: GPUIsolationProviderHAMICore not found on the node");
  EXPECT_EQ(Check(isolated, "isolated"), "");
  EXPECT_EQ(Check(Pod("koordinator.sh/gpu: 50"), "acme"),
            "UnschedulableAndUnresolvable: model \"X1\" of vendor \"acme\" does not support GPU "
            "Share");
  EXPECT_EQ(Check(Pod("koordinator.sh/gpu: 100"), "acme"), "");
}

TEST_F(DeviceShareTest, EmptierNodesScoreBetter) {
  AddNode("a");
  AddNode("b");
  SetDevice("a", model::MachineG8());
  SetDevice("b", model::MachineG8());
  Place("x", Pod("koordinator.sh/gpu: 400"), "a");
  const auto query = bed_.Query(plugin(), Pod("koordinator.sh/gpu: 100"));
  // ratio: 300 and 700 of 800 are left, memory: half and all of it.
  EXPECT_THAT(bed_.RawScores(plugin(), *query), ElementsAre((37 + 50) / 2, (87 + 100) / 2));
  EXPECT_THAT(bed_.Scores(plugin(), *query), ElementsAre(43 * 100 / 93, 100));
}

TEST_F(DeviceShareTest, QuickAndThoroughAnswersAgree) {
  AddNode("n");
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    SetDevice("n", random.Chance(0.5) ? model::MachineG8() : model::MachineH8());
    const std::string name = fmt::format("p{}", round);
    const std::string pod =
        Pod(fmt::format("koordinator.sh/gpu: {}",
                        random.Chance(0.5) ? 100 * (1 + random.Below(4)) : 10 + random.Below(90)));
    // Check and Filter are compared in here.
    if (Check(pod, "n").empty()) {
      EXPECT_THAT(Place(name, pod, "n"), HasSubstr("minor"));
    }
    if (round % 3 == 2) bed_.ledger.RemovePod(fmt::format("p{}", random.Below(round)));
  }
}

TEST_F(DeviceShareTest, PreemptionGivesBackCards) {
  AddNode("n");
  SetDevice("n", model::MachineG8());
  Place("victim", Pod("koordinator.sh/gpu: 800"), "n");
  const auto query = bed_.Query(plugin(), Pod("koordinator.sh/gpu: 100"));
  EXPECT_EQ(bed_.Check(plugin(), *query, "n"), "Unschedulable: Insufficient GPU Devices");
  RowDelta delta;
  delta.removed = {bed_.ledger.Find("victim")};
  EXPECT_EQ(bed_.Check(plugin(), *query, "n", &delta), "");
}

TEST_F(DeviceShareTest, TemplatesComeFromTheirConfigMap) {
  AddNode("n", "node.koordinator.sh/gpu-vendor: huawei, node.koordinator.sh/gpu-model: A");
  api::Device device;
  device.spec.devices = {model::Card(0, "24Gi")};
  device.spec.devices[0].resources = model::Resources({{"huawei.com/npu-core", "8"},
                                                       {"huawei.com/npu-cpu", "7"},
                                                       {"koordinator.sh/gpu-memory", "24Gi"},
                                                       {"koordinator.sh/gpu-memory-ratio", "100"}});
  SetDevice("n", device);
  const std::string pod =
      Pod("koordinator.sh/gpu.shared: 1, huawei.com/npu-core: 4, huawei.com/npu-cpu: 4, "
          "koordinator.sh/gpu-memory: 12Gi");
  EXPECT_EQ(Check(pod, "n"),
            "UnschedulableAndUnresolvable: no matched GPU shared resource template");
  bed_.objects.config_maps.Set(FromYaml<kube::ConfigMap>(R"(
metadata: {name: gpu-shared-resource-templates, namespace: koordinator-system}
data:
  data.yaml: |
    huawei-A:
      vir04: {huawei.com/npu-core: 4, huawei.com/npu-cpu: 4, koordinator.sh/gpu-memory: 12Gi}
)"));
  EXPECT_EQ(Check(pod, "n"), "");
  EXPECT_THAT(Place("a", pod, "n"), HasSubstr(R"("gpuSharedResourceTemplate":"vir04")"));
}

TEST_F(DeviceShareTest, AnswersPeople) {
  AddNode("n");
  SetDevice("n", model::MachineG8());
  Place("a", Pod("koordinator.sh/gpu: 50"), "n");
  const auto endpoints = plugin().Endpoints();
  const auto one = endpoints[1].answer({{"node", "n"}});
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(kube::FindString(*one, {"deviceUsed", "koordinator.sh/gpu-core"}), "50");
  EXPECT_EQ(
      kube::FindString(*one, {"allocateSet", "gpu", "default/a", "0", "koordinator.sh/gpu-core"}),
      "50");
  const auto none = endpoints[1].answer({{"node", "x"}});
  EXPECT_EQ(Message(none.status()), "cannot find node x");
}

TEST_F(DeviceShareTest, WakesForDevices) {
  EXPECT_THAT(WantedEvents(plugin()), ::testing::Contains("DeviceUpdate"));
}

// ---- Trials with NUMA nodes and reservations

class DeviceTrialTest : public DeviceShareTest {
 protected:
  DeviceTrialTest() {
    AddNode("n");
    SetDevice("n", model::MachineG8());
    row_ = *bed_.ledger.nodes().Find("n");
  }
  std::unique_ptr<HintTrial> Try(std::string_view pod, RoomSource source = {}) {
    shapes_.push_back(bed_.ledger.shapes().Of(PodOf(pod)));
    return plugin().Try({*shapes_.back(), {row_, nullptr}, source});
  }
  // "<mask><! if preferred>:<score>" of each hint.
  static std::vector<std::string> Texts(const std::vector<model::NumaHint>& hints) {
    std::vector<std::string> texts;
    for (const model::NumaHint& hint : hints) {
      texts.push_back(
          fmt::format("{}{}:{}", hint.mask->ToString(), hint.preferred ? "!" : "", hint.score));
    }
    return texts;
  }
  static std::vector<int32_t> MinorsOf(const Holdings& held) {
    std::vector<int32_t> minors;
    for (const Holdings::Device& device : held.devices) minors.push_back(device.minor);
    return minors;
  }
  // Holds these cards wholly for others.
  const PodInfo* Reserve(std::vector<int> minors, int percent = 100) {
    std::string cards;
    for (const int minor : minors) {
      cards += fmt::format(R"({}{{"minor":{},"resources":{{"koordinator.sh/gpu-core":"{}",)"
                           R"("koordinator.sh/gpu-memory-ratio":"{}"}}}})",
                           cards.empty() ? "" : ",", minor, percent, percent);
    }
    bed_.AddPod(fmt::format(
        "{{metadata: {{name: r1, uid: r1, annotations: {{scheduling.koordinator.sh/reserve-pod: "
        "'true', scheduling.koordinator.sh/reservation-name: r, "
        "scheduling.koordinator.sh/device-allocated: '{{\"gpu\":[{}]}}'}}}}, "
        "spec: {{nodeName: n}}}}",
        cards));
    return bed_.ledger.Find("r1");
  }

  NodeRow row_;
  std::vector<ShapePtr> shapes_;
};

TEST_F(DeviceTrialTest, PodsWithoutDevicesTakeNoPart) { EXPECT_EQ(Try(Pod("cpu: 1")), nullptr); }

TEST_F(DeviceTrialTest, PrefersTheFewestNumaNodesAndThoseOfTheBestCards) {
  const auto hints = Try(Pod("koordinator.sh/gpu: 200"))
                         ->Hints(model::NumaPolicy::kRestricted, model::NumaMask{0, 1});
  ASSERT_TRUE(hints.verdict.ok());
  ASSERT_EQ(hints.hints.size(), 1U);
  EXPECT_EQ(hints.hints[0].resource, "gpu");
  EXPECT_THAT(Texts(hints.hints[0].hints), ElementsAre("01!:500", "10!:0", "11:500"));
}

TEST_F(DeviceTrialTest, NumaNodesWithTooFewDevicesAreNone) {
  const auto trial = Try(Pod("koordinator.sh/gpu: 600"));
  const auto hints = trial->Hints(model::NumaPolicy::kBestEffort, model::NumaMask{0, 1});
  EXPECT_THAT(Texts(hints.hints.at(0).hints), ElementsAre("11!:500"));
  EXPECT_EQ(trial->Allocate(model::NumaMask{0}, nullptr).Message(), "Insufficient GPU Devices");
  Place("all", Pod("koordinator.sh/gpu: 800"), "n");
  const auto none = Try(Pod("koordinator.sh/gpu: 600"))
                        ->Hints(model::NumaPolicy::kBestEffort, model::NumaMask{0, 1});
  EXPECT_EQ(none.verdict.Message(), "Insufficient GPU Devices");
}

TEST_F(DeviceTrialTest, TakesFromTheNumaNodesThatWereAgreedOn) {
  Holdings held;
  ASSERT_TRUE(Try(Pod("koordinator.sh/gpu: 300"))->Allocate(model::NumaMask{1}, &held).ok());
  EXPECT_THAT(MinorsOf(held), ElementsAre(4, 5, 6));
}

TEST_F(DeviceTrialTest, Decision3WhatIsReservedIsForNobodyElse) {
  Reserve({0, 1, 2, 3, 4, 5});
  Holdings held;
  ASSERT_TRUE(Try(Pod("koordinator.sh/gpu: 200"))->Allocate({}, &held).ok());
  EXPECT_THAT(MinorsOf(held), ElementsAre(6, 7));
  EXPECT_EQ(Try(Pod("koordinator.sh/gpu: 300"))->Allocate({}, nullptr).Message(),
            "Insufficient GPU Devices");
}

TEST_F(DeviceTrialTest, OwnersGetWhatIsReserved) {
  const PodInfo* const reserve_pod = Reserve({4, 5, 6});
  Holdings held;
  const RoomSource restricted{.reserve_pod = reserve_pod, .is_restricted = true};
  ASSERT_TRUE(Try(Pod("koordinator.sh/gpu: 300"), restricted)->Allocate({}, &held).ok());
  EXPECT_THAT(MinorsOf(held), ElementsAre(4, 5, 6));
  EXPECT_FALSE(Try(Pod("koordinator.sh/gpu: 400"), restricted)->Allocate({}, nullptr).ok());
  const RoomSource open{.reserve_pod = reserve_pod};
  EXPECT_TRUE(Try(Pod("koordinator.sh/gpu: 800"), open)->Allocate({}, nullptr).ok());
}

TEST_F(DeviceTrialTest, OwnersShareWhatIsLeft) {
  const PodInfo* const reserve_pod = Reserve({2}, 60);
  bed_.AddPod(
      R"({metadata: {name: owner, annotations: {
            scheduling.koordinator.sh/reservation-allocated: '{"name":"r","uid":"r1"}',
            scheduling.koordinator.sh/device-allocated: '{"gpu":[{"minor":2,"resources":{"koordinator.sh/gpu-core":"40","koordinator.sh/gpu-memory-ratio":"40"}}]}'}},
          spec: {nodeName: n}})");
  const RoomSource restricted{.reserve_pod = reserve_pod, .is_restricted = true};
  Holdings held;
  ASSERT_TRUE(Try(Pod("koordinator.sh/gpu: 20"), restricted)->Allocate({}, &held).ok());
  EXPECT_THAT(MinorsOf(held), ElementsAre(2));
  EXPECT_FALSE(Try(Pod("koordinator.sh/gpu: 30"), restricted)->Allocate({}, nullptr).ok());
}

TEST_F(DeviceTrialTest, SaysWhichCardsAndWhyNot) {
  const ShapePtr shape = bed_.ledger.shapes().Of(PodOf(Pod("koordinator.sh/gpu: 100")));
  EXPECT_THAT(plugin().Explain({*shape, {row_, nullptr}}),
              ElementsAre("gpu 0: gpu-core 100, gpu-memory 83201216Ki, gpu-memory-ratio 100, NUMA "
                          "node 0, PCIe 0"));
  Place("all", Pod("koordinator.sh/gpu: 800"), "n");
  const auto lines = plugin().Explain({*shape, {row_, nullptr}});
  ASSERT_EQ(lines.size(), 9U);
  EXPECT_EQ(lines[0], "Insufficient GPU Devices");
  EXPECT_EQ(lines[1],
            "gpu 0: 0 of gpu-core left, 100 asked for, 0 of gpu-memory-ratio left, 100 asked for, "
            "NUMA node 0, PCIe 0");
}

}  // namespace
}  // namespace koord::scheduler::device_share_test
