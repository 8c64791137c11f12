// Nothing that pods name may stay behind when the pods are gone: whoever may create pods could
// otherwise fill the scheduler's memory.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>

#include "base/virtual_loop.h"
#include "kube/transport/in_process_transport.h"
#include "scheduler/program/configured_scheduler_testing.h"
#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::hostile_pods_test {
namespace {

// Says yes to everything.
class AgreeableServer final : public kube::HttpHandler {
 public:
  void Handle(kube::HttpRequest, std::shared_ptr<kube::ResponseWriter> response) override {
    response->Finish({201, {}, "{}"});
  }
};

constexpr std::string_view kConfiguration = R"(
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: s
    plugins: {score: {enabled: [{name: ScarceResourceAvoidance}]}}
    pluginConfig: [{name: ScarceResourceAvoidance, args: {resources: [nvidia.com/gpu]}}]
)";

// What one pod after the other may name, each in a way that no other does.
std::string SpecOf(int kind, int i) {
  switch (kind) {
    case 0:  // resources that nobody has
      return fmt::format(
          "containers: [{{image: i{0}, resources: {{requests: {{example.com/a{0}: '1', "
          "example.com/b{0}: '2'}}, limits: {{example.com/c{0}: '1'}}}}}}]",
          i);
    case 1:  // labels that no node has
      return fmt::format("nodeSelector: {{k{0}: v{0}}}, containers: [{{image: i{0}}}]", i);
    case 2:  // values that no node has, and nodes that do not exist
      return fmt::format(
          "affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: "
          "{{nodeSelectorTerms: [{{matchExpressions: [{{key: zone, operator: NotIn, values: "
          "[v{0}]}}, {{key: e{0}, operator: DoesNotExist}}]}}, {{matchFields: [{{key: "
          "metadata.name, operator: In, values: [n{0}]}}]}}]}}, "
          "preferredDuringSchedulingIgnoredDuringExecution: [{{weight: 1, preference: "
          "{{matchExpressions: [{{key: p{0}, operator: Exists}}]}}}}]}}}}",
          i);
    case 3:  // tolerations and addresses
      return fmt::format(
          "tolerations: [{{key: t{0}, operator: Exists}}], containers: [{{image: i{0}, ports: "
          "[{{hostPort: {1}, hostIP: 10.{2}.{3}.1}}]}}]",
          i, 1 + i % 60'000, i / 256 % 256, i % 256);
    case 4:  // topologies to spread over
      return fmt::format(
          "topologySpreadConstraints: [{{maxSkew: 1, topologyKey: s{0}, whenUnsatisfiable: "
          "ScheduleAnyway, labelSelector: {{matchLabels: {{l{0}: x}}}}}}, {{maxSkew: 1, "
          "topologyKey: zone, whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: Honor, "
          "labelSelector: {{matchLabels: {{l{0}: x}}}}}}]",
          i);
    case 5:  // pods to keep away from, in topologies and namespaces of one's own
      return fmt::format(
          "affinity: {{podAntiAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: "
          "[{{topologyKey: a{0}, labelSelector: {{matchLabels: {{l{0}: x}}}}, namespaces: "
          "[o{0}]}}], preferredDuringSchedulingIgnoredDuringExecution: [{{weight: 1, "
          "podAffinityTerm: {{topologyKey: zone, labelSelector: {{matchLabels: {{m{0}: "
          "x}}}}}}}}]}}}}",
          i);
    default:  // pods to be near to that nobody has
      return fmt::format(
          "affinity: {{podAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: "
          "[{{topologyKey: f{0}, labelSelector: {{matchLabels: {{l{0}: x}}}}, "
          "namespaceSelector: {{matchLabels: {{team: t{0}}}}}}}]}}}}",
          i);
  }
}
constexpr int kKinds = 7;

class HostilePodsTest : public testing::Test {
 protected:
  HostilePodsTest() {
    Scheduler::Options options;
    auto made = MakeConfiguredScheduler(loop_, client_, {.configuration = kConfiguration},
                                        std::move(options));
    EXPECT_TRUE(made.ok()) << made.status();
    scheduler_ = *std::move(made);
    for (int i = 0; i < 3; ++i) AddNode(i);
    hostname_ = scheduler_->ledger().nodes().Label("kubernetes.io/hostname");
    scheduler_->Start();
  }

  // Autoscalers give each node a name, a taint and perhaps a device of its own.
  Scheduler::NodePtr NodeFor(int i) {
    return NodeOf(fmt::format(
        "{{metadata: {{name: n{0}, labels: {{kubernetes.io/hostname: n{0}, zone: z{1}, own{0}: "
        "x}}}}, spec: {{taints: [{{key: busy, value: since-{0}, effect: PreferNoSchedule}}]}}, "
        "status: {{allocatable: {{cpu: '64', memory: 256Gi, pods: '110', device.com/d{0}: '1'}}, "
        "images: [{{names: ['own{0}:latest'], sizeBytes: 30000000}}]}}}}",
        i, i % 3));
  }
  void AddNode(int i) {
    nodes_.push_back(NodeFor(i));
    scheduler_->OnNode(nullptr, nodes_.back());
  }
  void ReplaceOldestNode(int i) {
    scheduler_->OnNode(nodes_.front(), nullptr);
    nodes_.pop_front();
    AddNode(i);
  }

  void AddPod(int i) {
    const auto pod = PodOf(
        fmt::format("{{metadata: {{name: p{0}, namespace: ns{0}, labels: {{l{0}: x, app: a{0}}}}}, "
                    "spec: {{schedulerName: s, priority: {1}, {2}}}}}",
                    i, i % 5, SpecOf(i % kKinds, i)));
    pods_.push_back(pod);
    scheduler_->OnPod(nullptr, pod);
    loop_.RunReady();
    const PodInfo* held = scheduler_->ledger().Find(pod->metadata.uid);
    if (held == nullptr) return;
    auto bound = std::make_shared<kube::Pod>(*pod);
    bound->spec.node_name = scheduler_->ledger().NodeOf(*held);
    scheduler_->OnPod(pod, bound);
    pods_.back() = bound;
    ++bound_;
  }
  void RemoveOldestPod() {
    scheduler_->OnPod(pods_.front(), nullptr);
    pods_.pop_front();
    loop_.RunReady();
  }

  // Pods come and go, a few dozen at a time.
  void Attack(int from, int to, Duration pause = 100ms) {
    for (int i = from; i < to; ++i) {
      AddPod(i);
      if (pods_.size() > 40) RemoveOldestPod();
      if (i % 20 == 0) ReplaceOldestNode(i + 1000);
      loop_.Advance(pause);
    }
    while (!pods_.empty()) RemoveOldestPod();
    loop_.Advance(std::chrono::hours(1));
  }

  std::map<std::string, size_t> Sizes() {
    const Ledger& ledger = scheduler_->ledger();
    const auto queue = scheduler_->queue().counts();
    std::map<std::string, size_t> sizes{
        {"resource names", ledger.resources().used()},
        {"resource columns", ledger.nodes().resource_columns()},
        {"label columns", ledger.nodes().label_columns()},
        {"values of a label", hostname_->values()},
        {"sets of taints", ledger.nodes().taint_set_count()},
        {"rows", ledger.nodes().rows()},
        {"shapes", ledger.shapes().size()},
        {"charged pods", ledger.pods()},
        {"reasons", scheduler_->reasons().used()},
        {"queries", scheduler_->PipelineFor(*PodOf("{spec: {schedulerName: s}}"))->kept()},
        {"queued pods", queue.active + queue.backoff + queue.unschedulable + queue.gated +
                            queue.in_flight + scheduler_->pending()},
        {"events of the queue", scheduler_->queue().logged_events()},
    };
    for (const PluginLineup* lineup : scheduler_->lineups()) {
      for (const auto& plugin : lineup->plugins) {
        sizes.emplace(plugin->name(), plugin->remembered());
      }
    }
    return sizes;
  }

  VirtualLoop loop_;
  AgreeableServer server_;
  kube::Client client_{
      loop_, std::make_shared<kube::InProcessTransport>(loop_, server_), {.qps = 0}};
  std::unique_ptr<Scheduler> scheduler_;
  LabelPtr hostname_;
  std::deque<Scheduler::NodePtr> nodes_;
  std::deque<Scheduler::PodPtr> pods_;
  size_t bound_ = 0;
};

TEST_F(HostilePodsTest, WhatPodsNameIsForgottenWithThem) {
  constexpr int kPods = 20'000;
  constexpr Duration kPause = Duration(std::chrono::hours(24)) / kPods;  // a day in all
  const WallTime begin = loop_.clock().Now();
  Attack(1, kPods, kPause);
  EXPECT_GE(loop_.clock().Now() - begin, std::chrono::hours(24));
  EXPECT_GT(bound_, kPods / 4U) << "the attack has missed most of the scheduler";
  EXPECT_LT(bound_, kPods * 3U / 4) << "the attack has missed most of the scheduler";
  // Each kind of pod has named some 2,900 things, or as many times two or three.
  const auto sizes = Sizes();
  for (const auto& [what, size] : sizes) EXPECT_LE(size, 1100U) << what;
  EXPECT_EQ(sizes.at("queued pods"), 0U);
  EXPECT_EQ(sizes.at("charged pods"), 0U);
  EXPECT_LE(sizes.at("resource columns"), 6U) << "cpu, memory, storage and a device per node";
  EXPECT_LE(sizes.at("values of a label"), 8U);
  EXPECT_LE(sizes.at("shapes"), 80U) << "those that the kept queries are about";
}

TEST_F(HostilePodsTest, OnePodMayNameThousandsOfThings) {
  std::string requests;
  std::string labels;
  for (int i = 0; i < 4000; ++i) {
    requests += fmt::format("example.com/r{}: '1', ", i);
    labels += fmt::format("k{}: v, ", i);
  }
  const size_t columns = scheduler_->ledger().nodes().resource_columns();
  const size_t reasons = scheduler_->reasons().used();
  const auto pod =
      PodOf(fmt::format("{{metadata: {{name: p}}, spec: {{schedulerName: s, nodeSelector: {{{}}}, "
                        "containers: [{{resources: {{requests: {{{}}}}}}}]}}}}",
                        labels, requests));
  scheduler_->OnPod(nullptr, pod);
  loop_.RunReady();
  EXPECT_EQ(scheduler_->queue().counts().unschedulable, 1U);
  EXPECT_EQ(scheduler_->ledger().nodes().resource_columns(), columns);
  EXPECT_LE(scheduler_->reasons().used(), reasons + 1);
  scheduler_->OnPod(pod, nullptr);
  Attack(1, 1000);  // others take its place among the kept queries
  EXPECT_LE(scheduler_->ledger().resources().used(), 300U);
  EXPECT_LE(scheduler_->ledger().nodes().label_columns(), 600U);
}

// A pod that is created with the name of a node is on it, whether the node exists or not.
TEST_F(HostilePodsTest, PodsOnNodesThatDoNotExistTakeNoRows) {
  const auto before = Sizes();
  constexpr int kPods = 2000;
  for (int i = 0; i < kPods; ++i) {
    pods_.push_back(PodOf(fmt::format(
        "{{metadata: {{name: p{0}, labels: {{l{0}: x}}}}, spec: {{schedulerName: s, nodeName: "
        "made-up-{0}, {1}}}}}",
        i, SpecOf(i % kKinds, i))));
    scheduler_->OnPod(nullptr, pods_.back());
  }
  loop_.RunReady();
  EXPECT_EQ(scheduler_->ledger().pods(), size_t{kPods});
  const auto during = Sizes();
  for (const std::string_view what : {"rows", "label columns", "resource columns", "queries"}) {
    EXPECT_EQ(during.at(std::string(what)), before.at(std::string(what))) << what;
  }
  for (const PluginLineup* lineup : scheduler_->lineups()) {
    for (const auto& plugin : lineup->plugins) {
      EXPECT_EQ(during.at(std::string(plugin->name())), before.at(std::string(plugin->name())))
          << plugin->name();
    }
  }
  while (!pods_.empty()) RemoveOldestPod();
  EXPECT_EQ(Sizes(), before);
}

// Made-up names cost no columns, and still the pod is placed once a node has what it asks for.
TEST_F(HostilePodsTest, APodIsPlacedWhenANodeOffersWhatNoneDid) {
  const auto pod = PodOf(
      "{metadata: {name: p}, spec: {schedulerName: s, containers: [{resources: {requests: "
      "{example.com/new: '2'}}}]}}");
  scheduler_->OnPod(nullptr, pod);
  loop_.RunReady();
  EXPECT_EQ(scheduler_->queue().Describe("p")->message,
            "0/3 nodes are available: 3 Insufficient example.com/new. preemption: 0/3 nodes are "
            "available: 3 Preemption is not helpful for scheduling.");
  auto richer = std::make_shared<kube::Node>(*nodes_.back());
  richer->status.allocatable =
      FromYaml<kube::Node>(
          "{status: {allocatable: {cpu: '64', memory: 256Gi, pods: '110', example.com/new: '2'}}}")
          ->status.allocatable;
  scheduler_->OnNode(nodes_.back(), richer);
  loop_.Advance(std::chrono::minutes(1));
  const PodInfo* held = scheduler_->ledger().Find("p");
  ASSERT_NE(held, nullptr);
  EXPECT_EQ(scheduler_->ledger().NodeOf(*held), richer->metadata.name);
  EXPECT_EQ(scheduler_->queue().rescued(), 0U);
}

}  // namespace
}  // namespace koord::scheduler::hostile_pods_test
