#include "scheduler/explain/near_misses.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/node_metric.h"
#include "base/virtual_loop.h"
#include "kube/time.h"
#include "kube/transport/in_process_transport.h"
#include "kube/transport/scripted_handler.h"
#include "scheduler/config/load_configuration.h"
#include "scheduler/explain/explain.h"
#include "scheduler/registry/plugin_registry.h"
#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::near_misses_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class NearMissesTest : public testing::Test {
 protected:
  struct NoNotes final : kube::EventRecorder {
    void Record(const Note&) override {}
  };

  // With Kubernetes' default plugins, and `more` of the profile. It never starts: pods are only
  // asked about.
  explicit NearMissesTest(const std::string& more = "") {
    Scheduler::Options options;
    options.profiles.push_back(
        {"s", std::make_unique<NoNotes>(),
         [&more](const PluginContext& context) -> StatusOr<PluginLineup> {
           ASSIGN_OR_RETURN(LoadedConfiguration loaded,
                            LoadConfiguration("apiVersion: kubescheduler.config.k8s.io/v1\n"
                                              "kind: KubeSchedulerConfiguration\n"
                                              "profiles: [{schedulerName: s" +
                                                  more + "}]\n",
                                              "test"));
           ASSIGN_OR_RETURN(ExpandedPlugins expanded,
                            ExpandPlugins(loaded.configuration, BuiltInPlugins()));
           return MakeLineup(loaded.configuration.profiles.front(), expanded.profiles.front(), 0,
                             context);
         }});
    auto made = Scheduler::Make(loop_, client_, std::move(options));
    EXPECT_TRUE(made.ok()) << made.status();
    scheduler_ = *std::move(made);
  }

  void AddNode(std::string_view name, std::string_view allocatable, std::string_view spec = "",
               std::string_view labels = "") {
    scheduler_->OnNode(
        nullptr,
        NodeOf(fmt::format("{{metadata: {{name: {}, labels: {{{}}}}}, spec: {{{}}}, status: "
                           "{{allocatable: {{pods: '110', {}}}}}}}",
                           name, labels, spec, allocatable)));
  }
  void AddPod(std::string_view name, std::string_view node, std::string_view requests,
              std::string_view container = "", std::string_view labels = "") {
    scheduler_->OnPod(
        nullptr, PodOf(fmt::format(
                     "{{metadata: {{name: {}, labels: {{{}}}}}, spec: {{nodeName: {}, "
                     "schedulerName: s, containers: [{{resources: {{requests: {{{}}}}} {}}}]}}}}",
                     name, labels, node, requests, container)));
  }

  Explanation Explained(std::string_view requests, std::string_view spec = "",
                        std::string_view container = "") {
    const auto pod =
        PodOf(fmt::format("{{metadata: {{name: p, labels: {{app: web}}}}, spec: {{schedulerName: "
                          "s, containers: [{{resources: {{requests: {{{}}}}} {}}}] {}}}}}",
                          requests, container, spec));
    scheduler_->OnPod(nullptr, pod);
    return Explain(*scheduler_, pod, nullptr);
  }
  static std::vector<std::string> Misses(const Explanation& explanation) {
    std::vector<std::string> texts;
    for (const auto& miss : explanation.nearest_misses) texts.push_back(miss.text);
    return texts;
  }
  static std::vector<std::string> Changes(const Explanation& explanation) {
    std::vector<std::string> texts;
    for (const auto& change : explanation.changes) texts.push_back(change.text);
    return texts;
  }

  VirtualLoop loop_;
  kube::ScriptedHandler handler_;
  kube::Client client_{
      loop_, std::make_shared<kube::InProcessTransport>(loop_, handler_), {.qps = 0}};
  std::unique_ptr<Scheduler> scheduler_;
};

TEST_F(NearMissesTest, EverythingInTheWayIsNamedOnEveryNode) {
  AddNode("far", "cpu: 1");
  AddNode("tainted", "cpu: 8", "taints: [{key: gpu, value: a100, effect: NoSchedule}]");
  AddNode("both", "cpu: 3", "unschedulable: true");
  AddNode("near", "cpu: 3");
  const Explanation why = Explained("cpu: 4");
  EXPECT_THAT(Misses(why), ElementsAre("near lacks 1 cpu", "far lacks 3 cpu",
                                       "tainted has the taint gpu=a100:NoSchedule",
                                       "both lacks 1 cpu, is cordoned"));
}

TEST_F(NearMissesTest, TheSmallestChangeIsOfTheRequestOrOfTheNode) {
  AddNode("n", "cpu: 4, memory: 8Gi");
  AddPod("running", "n", "cpu: 2500m, memory: 1Gi");
  EXPECT_THAT(
      Changes(Explained("cpu: 2, memory: 1Gi")),
      ElementsAre("lower the cpu request to 1500m: then n can take it", "free 500m cpu on n"));
}

TEST_F(NearMissesTest, NobodyCanFreeMoreThanTheNodeHas) {
  AddNode("n", "cpu: 4");
  EXPECT_THAT(Changes(Explained("cpu: 5")),
              ElementsAre("lower the cpu request to 4: then n can take it"));
}

TEST_F(NearMissesTest, WhatNoNodeOffersCannotBeHadByAskingForLess) {
  AddNode("n", "cpu: 4");
  const Explanation why = Explained("example.com/gpu: 2");
  EXPECT_THAT(Misses(why), ElementsAre("n lacks 2 example.com/gpu"));
  EXPECT_THAT(Changes(why), IsEmpty());
}

TEST_F(NearMissesTest, AllChangesThatANodeNeedsAndNoMore) {
  AddNode("n", "cpu: 1", "taints: [{key: a, effect: NoSchedule}, {key: b, effect: NoExecute}]",
          "disk: ssd");
  EXPECT_THAT(
      Changes(Explained("cpu: 2", ", nodeSelector: {disk: hdd, zone: z}")),
      ElementsAre("lower the cpu request to 1 and tolerate the taint a:NoSchedule and tolerate the "
                  "taint b:NoExecute and remove disk=hdd from the nodeSelector and remove zone=z "
                  "from the nodeSelector: then n can take it"));
}

TEST_F(NearMissesTest, OfSeveralConstraintsOnlyTheOneInTheWay) {
  AddNode("n", "cpu: 4", "", "zone: z, rack: r");
  AddNode("m", "cpu: 4", "unschedulable: true", "zone: y, rack: r");
  AddPod("other", "n", "cpu: 1", "", "app: web");
  EXPECT_THAT(
      Changes(Explained(
          "cpu: 1",
          ", topologySpreadConstraints: [{maxSkew: 1, topologyKey: rack, whenUnsatisfiable: "
          "DoNotSchedule, labelSelector: {matchLabels: {app: web}}}, {maxSkew: 1, topologyKey: "
          "zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}]")),
      ElementsAre("set whenUnsatisfiable: ScheduleAnyway for the spread constraint on zone: then n "
                  "can take it"));
}

TEST_F(NearMissesTest, PortsAndOtherPods) {
  AddNode("n", "cpu: 4", "", "zone: z");
  AddPod("other", "n", "cpu: 1", ", ports: [{hostPort: 80}]", "app: web");
  EXPECT_THAT(
      Changes(Explained(
          "cpu: 1",
          ", affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
          "[{topologyKey: zone, labelSelector: {matchLabels: {app: web}}}]}}",
          ", ports: [{hostPort: 80}, {hostPort: 81}]")),
      ElementsAre("give up host port 80/TCP and remove the required podAntiAffinity: then n can "
                  "take it"));
}

TEST_F(NearMissesTest, ACordonIsOneThingAlsoWhereItIsATaintToo) {
  AddNode("n", "cpu: 4",
          "unschedulable: true, taints: [{key: node.kubernetes.io/unschedulable, effect: "
          "NoSchedule}]");
  const Explanation why = Explained("cpu: 1");
  EXPECT_THAT(Misses(why), ElementsAre("n is cordoned"));
  EXPECT_THAT(Changes(why), ElementsAre("uncordon node n: then n can take it"));
}

TEST_F(NearMissesTest, NobodyIsSentToANodeInTrouble) {
  AddNode("n", "cpu: 4", "taints: [{key: node.kubernetes.io/not-ready, effect: NoSchedule}]");
  const Explanation why = Explained("cpu: 1");
  EXPECT_THAT(Misses(why), ElementsAre("n has the taint node.kubernetes.io/not-ready:NoSchedule"));
  EXPECT_THAT(Changes(why), IsEmpty());
}

TEST_F(NearMissesTest, NodesThatNothingHelpsDoNotHideTheOthers) {
  for (int i = 0; i < 50; ++i) {
    AddNode(fmt::format("sick-{}", i), "cpu: 4",
            "taints: [{key: node.kubernetes.io/not-ready, effect: NoSchedule}]");
  }
  AddNode("far", "cpu: 1", "taints: [{key: gpu, effect: NoSchedule}]");
  EXPECT_THAT(Changes(Explained("cpu: 4")),
              ElementsAre("lower the cpu request to 1 and tolerate the taint gpu:NoSchedule: then "
                          "far can take it"));
}

// Nodes of ten CPUs that may be used up to 65 percent; a pod is expected to use 85 percent of what
// it asks for, and all of a limit that is higher.
class BusyNodesTest : public NearMissesTest {
 protected:
  BusyNodesTest()
      : NearMissesTest(
            ", plugins: {filter: {enabled: [{name: LoadAwareScheduling}]}}, pluginConfig: [{name: "
            "LoadAwareScheduling, args: {usageThresholds: {cpu: 65}}}]") {}

  void AddNodeThatUses(std::string_view name, std::string_view cpu) {
    AddNode(name, "cpu: 10, memory: 8Gi");
    scheduler_->objects().node_metrics.Set(FromYaml<api::NodeMetric>(fmt::format(
        "{{metadata: {{name: {}}}, status: {{updateTime: '{}', nodeMetric: {{nodeUsage: "
        "{{resources: {{cpu: {}}}}}}}}}}}",
        name, kube::FormatTime(loop_.clock().Now()), cpu)));
  }
};

// 4000 + 0.85 * 2999 are 65.49 percent, and one more is 65.5, which counts as 66.
TEST_F(BusyNodesTest, AsMuchIsAskedForAsTheNodeHasToGive) {
  AddNodeThatUses("n", "4");
  const Explanation why = Explained("cpu: 20");
  EXPECT_THAT(Misses(why), ElementsAre("n lacks 10 cpu, cpu usage exceed threshold"));
  EXPECT_THAT(Changes(why), ElementsAre("lower the cpu request to 2999m: then n can take it"));
}

TEST_F(BusyNodesTest, LimitsAreLoweredWithRequests) {
  AddNodeThatUses("n", "4");
  const auto pod = PodOf(
      "{metadata: {name: p}, spec: {schedulerName: s, containers: [{resources: {requests: {cpu: "
      "4}, "
      "limits: {cpu: 8}}}]}}");
  scheduler_->OnPod(nullptr, pod);
  EXPECT_THAT(Changes(Explain(*scheduler_, pod, nullptr)),
              ElementsAre("lower the cpu request and limit to 2999m: then n can take it"));
}

TEST_F(BusyNodesTest, ANodeThatIsTooBusyAnywayIsNoHelp) {
  AddNodeThatUses("n", "7");
  EXPECT_THAT(Changes(Explained("cpu: 1")), IsEmpty());
}

// Another pod's rule cannot be changed by this one.
TEST_F(NearMissesTest, WhatIsNotKnownToHelpIsNotSaid) {
  AddNode("n", "cpu: 4", "", "zone: z");
  scheduler_->OnPod(
      nullptr,
      PodOf("{metadata: {name: shy}, spec: {nodeName: n, schedulerName: s, affinity: "
            "{podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "
            "zone, labelSelector: {matchLabels: {app: web}}}]}}}}"));
  const Explanation why = Explained("cpu: 1");
  EXPECT_THAT(Misses(why), ElementsAre("n didn't satisfy existing pods anti-affinity rules"));
  EXPECT_THAT(Changes(why), IsEmpty());
}

TEST_F(NearMissesTest, PodsThatFitNeedNoChange) {
  AddNode("n", "cpu: 4");
  AddNode("full", "cpu: 1");
  const Explanation why = Explained("cpu: 2");
  EXPECT_EQ(why.feasible, 1);
  EXPECT_THAT(Misses(why), ElementsAre("full lacks 1 cpu"));
  EXPECT_THAT(Changes(why), IsEmpty());
}

TEST(PodEditTest, RequestsAreLoweredWhereverTheyAreMade) {
  struct Case {
    const char* what;
    const char* spec;
    int64_t to;
    bool possible;
  };
  const Case cases[] = {
      {"several containers",
       "containers: [{resources: {requests: {cpu: '1'}}}, {resources: {requests: {cpu: '2'}}}]",
       500, true},
      {"an init container that asks for more",
       "containers: [{resources: {requests: {cpu: '1'}}}], initContainers: [{resources: {requests: "
       "{cpu: '3'}}}]",
       2000, true},
      {"a sidecar",
       "containers: [{resources: {requests: {cpu: '1'}}}], initContainers: [{restartPolicy: "
       "Always, resources: {requests: {cpu: '1'}}}]",
       1500, true},
      {"only overhead is left",
       "overhead: {cpu: '1'}, containers: [{resources: {requests: {cpu: "
       "'1'}}}]",
       1000, false},
      {"nothing is left", "containers: [{resources: {requests: {cpu: '1'}}}]", 0, false},
  };
  for (const Case& test : cases) {
    const auto pod = PodOf(fmt::format("{{metadata: {{name: p}}, spec: {{{}}}}}", test.spec));
    const auto edit = LowerRequest(*pod, "cpu", test.to);
    EXPECT_EQ(edit.has_value(), test.possible) << test.what;
    if (!edit) continue;
    auto edited = std::make_shared<kube::Pod>(*pod);
    edit->apply(*edited);
    ResourceNames names;
    ShapeTable shapes(names);
    const int64_t now = AmountOf(shapes.Of(edited)->requests, kCpuId);
    EXPECT_LE(now, test.to) << test.what;
    EXPECT_GT(now, 0) << test.what;
  }
}

}  // namespace
}  // namespace koord::scheduler::near_misses_test
