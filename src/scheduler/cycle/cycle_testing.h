#pragma once
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/virtual_loop.h"
#include "kube/transport/in_process_transport.h"
#include "kube/transport/scripted_handler.h"
#include "scheduler/cycle/assumed_pods.h"
#include "scheduler/cycle/failure_handler.h"
#include "scheduler/cycle/point_timer.h"
#include "scheduler/cycle/post_filter_cycle.h"
#include "scheduler/cycle/runtime.h"
#include "scheduler/cycle/scheduling_cycle.h"
#include "scheduler/extender/extender_dialogue.h"
#include "scheduler/nomination/nominations.h"
#include "scheduler/testing/plugin_bed.h"

// For tests of the parts of the scheduling cycle: all of them joined, with one plugin for every
// extension point that does as it is told.
namespace koord::scheduler {

class ToldPlugin final : public QueueSortPlugin,
                         public RequeuePlugin,
                         public FilterPlugin,
                         public PostFilterPlugin,
                         public AfterPostFilterPlugin,
                         public ReservePlugin,
                         public PermitPlugin,
                         public BindPlugin,
                         public PostBindPlugin {
 public:
  explicit ToldPlugin(const PluginContext& context)
      : nodes_(context.nodes()),
        refusal_(context.reasons.Intern("node(s) were refused")),
        broken_(context.reasons.Intern("out of order")) {}

  std::string_view name() const override { return "Told"; }
  bool Less(const QueuedPodView& a, const QueuedPodView& b) const override {
    return a.sequence < b.sequence;
  }
  bool Wants(EventKind kind) const override { return kind == EventKind::kAssignedPodRemoved; }
  bool MightCure(const kube::Pod&, const ClusterEvent&) override { return true; }
  void Filter(const PodQuery& query, RowRange rows, uint8_t* keep) override {
    for (NodeRow row = rows.begin; row < rows.end; ++row) {
      if (nodes_.IsLive(row) && !Check(query, {row, nullptr}).ok()) keep[row - rows.begin] = 0;
    }
  }
  RowVerdict Check(const PodQuery&, const RowView& row) override {
    if (filter_is_broken) return RowVerdict::Error(broken_);
    return refused.contains(nodes_.name(row.row)) ? RowVerdict::Unschedulable(refusal_)
                                                  : RowVerdict();
  }
  PostFilterResult PostFilter(Attempt&, PodQuery&, const Diagnosis&) override {
    ++post_filters;
    return post_filter;
  }
  std::vector<EvictionPlan> Plans(const Attempt&, PodQuery&, const Diagnosis&) override {
    return plans;
  }
  PostFilterResult Choose(const Attempt&, const std::vector<EvictionPlan>& left) override {
    chosen_from = left.size();
    return post_filter;
  }
  void AfterPostFilter(const Attempt& attempt, const Diagnosis& diagnosis,
                       const PostFilterResult& result) override {
    after.push_back(fmt::format("{} {}/{} {} {}", attempt.pod->metadata.name,
                                diagnosis.explicit_rows(), diagnosis.nodes,
                                result.verdict.Message(), result.nominated_node.value_or("-")));
  }
  Verdict Reserve(Attempt& attempt) override {
    if (!gives.empty()) {
      attempt.held = std::make_unique<Holdings>();
      attempt.held->cpus = gives;
    }
    return reserve;
  }
  void Unreserve(Attempt&) override { ++unreserved; }
  PermitResult Permit(Attempt&) override { return permit; }
  void Bind(Attempt&, VerdictDone done) override { binding.push_back(std::move(done)); }
  void PostBind(const Attempt& attempt) override {
    bound.push_back(fmt::format("{} {}", attempt.pod->metadata.name, attempt.node));
  }

  std::set<std::string, std::less<>> refused;  // nodes
  bool filter_is_broken = false;
  PostFilterResult post_filter{Verdict::Unschedulable("")};
  std::vector<EvictionPlan> plans;
  Verdict reserve;
  CpuSet gives;  // by Reserve
  PermitResult permit;

  int post_filters = 0;            // how often it was asked
  std::vector<std::string> after;  // "pod rejected/nodes reasons node" of PostFilter
  size_t chosen_from = 0;
  int unreserved = 0;
  std::deque<VerdictDone> binding;  // to be answered
  std::vector<std::string> bound;   // "pod node"

 private:
  const NodeTable& nodes_;
  const ReasonId refusal_;
  const ReasonId broken_;
};

class CycleBed : public AttemptObserver {
 public:
  using PodPtr = std::shared_ptr<const kube::Pod>;

  CycleBed() {
    const PluginContext context{.ledger = ledger,
                                .books = books,
                                .objects = objects,
                                .reasons = reasons,
                                .loop = loop,
                                .random = random,
                                .handle = &runtime,
                                .profile = "s"};
    auto lineup = std::make_unique<PluginLineup>();
    auto told = std::make_unique<ToldPlugin>(context);
    plugin = told.get();
    lineup->name = "s";
    lineup->queue_sort = plugin;
    lineup->filter = {plugin};
    lineup->post_filter = {plugin};
    lineup->after_post_filter = {plugin};
    lineup->reserve = {plugin};
    lineup->permit = {plugin};
    lineup->bind = {plugin};
    lineup->post_bind = {plugin};
    lineup->plugins.push_back(std::move(told));
    auto pipeline = std::make_unique<Pipeline>(*lineup, ledger, nominations.rows(), order, random);
    std::vector<QueueProfile> profiles;
    profiles.push_back(
        {.name = "s", .pre_enqueue = {}, .requeue = {{"Told", plugin}}, .probe = pipeline.get()});
    auto binding = std::make_unique<BindingCycle>(
        *lineup, patcher, [](const Attempt&) { return Verdict::Success(); },
        [](CyclePoint, Attempt&, Code) {});
    runtime.Set(std::move(lineup), std::move(pipeline), std::move(binding));
    queue = std::make_unique<SchedulingQueue>(loop, *plugin, std::move(profiles));
    shared.queue = queue.get();
    MakeParts();
  }

  void AddNode(std::string_view name) {
    ledger.SetNode(NodeOf(fmt::format("{{metadata: {{name: {}}}}}", name)));
  }
  NodeRow RowOf(std::string_view node) const { return *ledger.nodes().Find(node); }
  PodPtr AddPod(std::string_view name, std::string_view metadata = "") {
    auto pod = PodOf(
        fmt::format("{{metadata: {{name: {}{}}}, spec: {{schedulerName: s}}}}", name, metadata));
    Put(pending, pod);
    queue->Add(pod);
    return pod;
  }
  // Takes the next pod out of the queue, as an attempt without a decision.
  std::shared_ptr<Attempt> Pop() {
    const auto queued = queue->Pop();
    runtime.set_current(queued->pod->metadata.uid);
    return std::make_shared<Attempt>(Attempt{
        .pod = queued->pod, .shape = ledger.shapes().Of(queued->pod), .profile = runtime.name()});
  }
  // Tries the next pod.
  void Try() {
    cycle->Run(&runtime, *queue->Pop());
    loop.RunReady();
  }
  void AnswerBinding(Verdict verdict = Verdict::Success()) {
    VerdictDone done = std::move(plugin->binding.front());
    plugin->binding.pop_front();
    done(std::move(verdict));
    loop.RunReady();
  }
  // Which pool of the queue a pod is in; "" if it is not there.
  std::string PoolOf(std::string_view uid) const {
    const auto position = queue->Describe(uid);
    return position ? std::string(ToString(position->pool)) : "";
  }
  std::vector<std::string> Notes() { return std::exchange(notes, {}); }

  void OnFinished(const Attempt& attempt, AttemptResult result) override {
    finished.push_back(fmt::format("{} {}", attempt.pod->metadata.name, ToString(result)));
  }
  void OnSkipped(const kube::Pod& pod) override {
    finished.push_back(fmt::format("{} skipped", pod.metadata.name));
  }

  // Answers the extender's calls by hand.
  kube::ScriptedHandler extender;
  void UseExtender(Extender settings) {
    settings.url_prefix = "http://extender/";
    settings.http_timeout = 5s;
    std::vector<std::unique_ptr<ExtenderClient>> clients;
    clients.push_back(std::make_unique<ExtenderClient>(
        settings, std::make_shared<kube::InProcessTransport>(loop, extender)));
    extenders = std::make_unique<ExtenderDialogue>(std::make_unique<Extenders>(std::move(clients)),
                                                   ledger, reasons, [] {});
    MakeParts();
  }

  VirtualLoop loop;
  kube::ScriptedHandler server;
  kube::Client client{loop, std::make_shared<kube::InProcessTransport>(loop, server), {.qps = 0}};
  ObjectWriters writers{client};
  PodPatcher patcher{loop, writers, 1};
  Ledger ledger;
  ClusterObjects objects;
  Books books{ledger, objects.node_topologies, objects.devices};
  Reasons reasons;
  Random random{1};
  NodeOrder order{ledger};
  PodSet pending;
  bool running = true;
  bool may_write = true;
  int settled = 0;
  std::vector<std::string> notes;     // events: "reason: message"
  std::vector<std::string> finished;  // attempts: "pod result"
  WaitingPods waiting{loop};
  Nominations nominations{
      ledger, [this](const kube::Pod& pod) { return pending.contains(pod.metadata.uid); },
      [this](const WakeFilter& filter) {
        queue->OnEvent({.kind = EventKind::kAssignedPodRemoved}, filter);
      }};
  Runtime::Shared shared{
      .nominations = nominations, .waiting = waiting, .writers = writers, .observer = this};
  Runtime runtime{shared, client, std::make_unique<Recorder>(notes)};
  ToldPlugin* plugin = nullptr;
  std::unique_ptr<SchedulingQueue> queue;
  std::unique_ptr<ExtenderDialogue> extenders =
      std::make_unique<ExtenderDialogue>(nullptr, ledger, reasons, [] {});
  std::unique_ptr<FailureHandler> failures;
  std::unique_ptr<PostFilterCycle> post_filter;
  std::unique_ptr<AssumedPods> assumed;
  std::unique_ptr<SchedulingCycle> cycle;

 private:
  struct Recorder final : kube::EventRecorder {
    explicit Recorder(std::vector<std::string>& notes) : notes(notes) {}
    void Record(const Note& note) override {
      notes.push_back(fmt::format("{}: {}", note.reason, note.message));
    }
    std::vector<std::string>& notes;
  };

  void MakeParts() {
    const PointTimer timer(loop.clock(), *this);
    const auto writes = [this] { return may_write; };
    failures = std::make_unique<FailureHandler>(
        FailureHandler::Parts{*queue, nominations, pending, *this}, writes);
    post_filter = std::make_unique<PostFilterCycle>(
        PostFilterCycle::Parts{reasons, nominations, *extenders, *failures, timer},
        [this](const kube::Pod& pod) { return running && pending.contains(pod.metadata.uid); });
    assumed = std::make_unique<AssumedPods>(
        AssumedPods::Parts{ledger, *queue, nominations, waiting, pending, *failures, timer},
        [this] { ++settled; });
    cycle = std::make_unique<SchedulingCycle>(
        SchedulingCycle::Parts{ledger, *queue, pending, *extenders, *assumed, *post_filter,
                               *failures, timer},
        SchedulingCycle::Conditions{[this] { return running; }, writes});
  }
};

}  // namespace koord::scheduler
