#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "base/virtual_loop.h"
#include "kube/transport/in_process_transport.h"
#include "kube/transport/scripted_handler.h"
#include "scheduler/core/scheduler.h"
#include "scheduler/plugins/coscheduling/coscheduling.h"
#include "scheduler/plugins/node_resources_fit/node_resources_fit.h"
#include "scheduler/plugins/scheduling_gates/scheduling_gates.h"
#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler {

// A scheduler with gangs, a cluster that the test writes down, and bindings that succeed or fail as
// it says.
class GangBed {
 public:
  using PodPtr = std::shared_ptr<const kube::Pod>;

  struct Bindings {
    std::vector<std::string> pods;  // names, in order
    std::map<std::string, kube::Annotations> annotations;
    StringSet fail;  // once each
    // What the server does with a binding: true, it has happened. Null: it has.
    std::function<bool(const Attempt&)> on_bind;
  };

  // First come, first served.
  class Frame final : public QueueSortPlugin, public BindPlugin {
   public:
    explicit Frame(Bindings& bindings) : bindings_(bindings) {}

    std::string_view name() const override { return "Frame"; }
    bool Less(const QueuedPodView& a, const QueuedPodView& b) const override {
      return a.priority != b.priority ? a.priority > b.priority : a.sequence < b.sequence;
    }
    void Bind(Attempt& attempt, VerdictDone done) override {
      const std::string& name = attempt.pod->metadata.name;
      const bool fails = bindings_.fail.erase(name) != 0;
      if (fails || (bindings_.on_bind && !bindings_.on_bind(attempt))) {
        return done(Verdict::Error("the server is down"));
      }
      bindings_.pods.push_back(name);
      bindings_.annotations[name] = attempt.annotations;
      done(Verdict::Success());
    }

   private:
    Bindings& bindings_;
  };

  struct Recorder final : kube::EventRecorder {
    explicit Recorder(std::vector<std::pair<std::string, std::string>>& notes) : notes(notes) {}
    void Record(const Note& note) override {
      if (note.reason == "FailedScheduling") notes.emplace_back(note.regarding.name, note.message);
    }
    std::vector<std::pair<std::string, std::string>>& notes;
  };

  // Another process takes over, which knows what the API server shows.
  void Restart() {
    scheduler_.reset();
    Scheduler::Options options;
    options.profiles.push_back(
        {"s", std::make_unique<Recorder>(failures_),
         [this](const PluginContext& context) { return MakeLineup(context); }});
    scheduler_ = *Scheduler::Make(loop_, client_, std::move(options));
    for (const auto& [name, node] : nodes_) scheduler_->OnNode(nullptr, node);
    for (const auto& [name, pod] : pods_) scheduler_->OnPod(nullptr, pod);
    scheduler_->Start();
  }

  void AddNode(std::string_view name, int cpus) {
    auto node = NodeOf(fmt::format(
        "{{metadata: {{name: {}}}, status: {{allocatable: {{cpu: '{}', pods: '110'}}}}}}", name,
        cpus));
    scheduler_->OnNode(nullptr, node);
    nodes_[std::string(name)] = std::move(node);
  }
  struct Wish {
    int cpus = 1;
    std::string gang = "";  // annotations, without their prefix: "name: g; min-available: '3'"
    std::string labels = "";
    std::string spec = "";
    std::string scheduler = "s";
  };
  static PodPtr MakePod(const std::string& name, const Wish& wish) {
    std::string annotations;
    for (const std::string_view pair : Split(wish.gang, ';')) {
      if (Trim(pair).empty()) continue;
      annotations += fmt::format("gang.scheduling.koordinator.sh/{}, ", Trim(pair));
    }
    return PodOf(fmt::format(
        "{{metadata: {{name: {}, namespace: a, labels: {{{}}}, annotations: {{{}}}}}, spec: "
        "{{schedulerName: {}, {} containers: [{{name: c, resources: {{requests: {{cpu: "
        "'{}'}}}}}}]}}}}",
        name, wish.labels, annotations, wish.scheduler, wish.spec, wish.cpus));
  }
  void Create(const std::string& name, const Wish& wish) { Show(MakePod(name, wish)); }
  void Show(PodPtr pod) {
    auto& known = pods_[pod->metadata.name];
    scheduler_->OnPod(known, pod);
    known = std::move(pod);
  }
  void Delete(const std::string& name) {
    scheduler_->OnPod(pods_.at(name), nullptr);
    pods_.erase(name);
  }
  // As the watch shows what was bound.
  void ShowBound(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      const auto at = pods_.find(name);
      if (at == pods_.end()) continue;
      const PodInfo* info = scheduler_->ledger().Find(at->second->metadata.uid);
      ASSERT_NE(info, nullptr) << name;
      auto bound = *at->second;
      bound.spec.node_name = scheduler_->ledger().NodeOf(*info);
      for (const auto& [key, value] : bindings_.annotations[name]) {
        bound.metadata.annotations[key] = value;
      }
      Show(std::make_shared<const kube::Pod>(std::move(bound)));
    }
  }
  void Run() { loop_.RunReady(100'000); }
  // Runs until nothing happens any more. Who was bound, by name.
  std::vector<std::string> Bound() {
    std::vector<std::string> bound;
    for (Run(); !bindings_.pods.empty(); Run()) {
      const std::vector<std::string> more = std::exchange(bindings_.pods, {});
      ShowBound(more);
      bound.insert(bound.end(), more.begin(), more.end());
    }
    std::ranges::sort(bound);
    return bound;
  }
  std::string MessageOf(const std::string& name) {
    const auto position = scheduler_->queue().Describe(pods_.at(name)->metadata.uid);
    return position ? position->message : "not in the queue";
  }
  QueuePool PoolOf(const std::string& name) {
    return scheduler_->queue().Describe(pods_.at(name)->metadata.uid)->pool;
  }
  std::vector<std::pair<std::string, std::string>> Failures() {
    return std::exchange(failures_, {});
  }
  // Nobody holds a node that he is not bound to.
  void ExpectNothingHeld() {
    EXPECT_EQ(scheduler_->ledger().assumed(), 0u);
    EXPECT_EQ(scheduler_->waiting(), 0u);
  }

  VirtualLoop loop_;
  kube::ScriptedHandler handler_;
  kube::Client client_{
      loop_, std::make_shared<kube::InProcessTransport>(loop_, handler_), {.qps = 0}};
  Bindings bindings_;
  std::vector<std::pair<std::string, std::string>> failures_;  // of pods, by name
  std::map<std::string, std::shared_ptr<const kube::Node>> nodes_;
  std::map<std::string, PodPtr> pods_;
  std::unique_ptr<Scheduler> scheduler_;

 private:
  PluginLineup MakeLineup(const PluginContext& context) {
    PluginLineup lineup{.name = "s"};
    NodeResourcesFitArgs fit_args;
    fit_args.SetDefaults();
    auto frame = std::make_unique<Frame>(bindings_);
    auto gates = std::make_unique<SchedulingGates>(context);
    auto fit = std::make_unique<NodeResourcesFit>(context, fit_args);
    auto gangs = std::make_unique<Coscheduling>(context, CoschedulingArgs());
    lineup.queue_sort = frame.get();
    lineup.bind = {frame.get()};
    lineup.pre_enqueue = {gates.get(), gangs.get()};
    lineup.filter = {fit.get()};
    lineup.next_pod = {gangs.get()};
    lineup.admit = {gangs.get()};
    lineup.post_filter = {gangs.get()};
    lineup.after_post_filter = {gangs.get()};
    lineup.reserve = {gangs.get()};
    lineup.permit = {gangs.get()};
    lineup.pre_bind = {gangs.get()};
    lineup.post_bind = {gangs.get()};
    lineup.plugins.push_back(std::move(frame));
    lineup.plugins.push_back(std::move(gates));
    lineup.plugins.push_back(std::move(fit));
    lineup.plugins.push_back(std::move(gangs));
    for (size_t i = 0; i < lineup.plugins.size(); ++i) lineup.plugins[i]->set_slot(i);
    return lineup;
  }
};

}  // namespace koord::scheduler
