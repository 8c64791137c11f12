// What plugins hear and start through their context, with the scheduler around them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/virtual_loop.h"
#include "kube/transport/in_process_transport.h"
#include "kube/transport/scripted_handler.h"
#include "scheduler/core/scheduler.h"
#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::plugin_hooks_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// What happens, in order.
using Notes = std::vector<std::string>;

class Controller final : public LeaderPart {
 public:
  Controller(Notes& notes, Task& stopped) : notes_(notes), stopped_(stopped) {}

  std::string_view name() const override { return "controller"; }
  void Start() override { notes_.emplace_back("controller starts"); }
  void Stop(Task done) override {
    notes_.emplace_back("controller stops");
    stopped_ = std::move(done);
  }

 private:
  Notes& notes_;
  Task& stopped_;
};

// Hears of bindings that have happened.
class Witness final : public PostBindPlugin {
 public:
  Witness(std::string name, Notes& bound) : name_(std::move(name)), bound_(bound) {}

  std::string_view name() const override { return name_; }
  void PostBind(const Attempt& attempt) override {
    bound_.push_back(fmt::format("{}: {} on {}", name_, attempt.pod->metadata.name, attempt.node));
  }

 private:
  const std::string name_;
  Notes& bound_;
};

// First come, first served, unless somebody is named; every node will do.
class Listening final : public QueueSortPlugin,
                        public PreEnqueuePlugin,
                        public BindPlugin,
                        public NextPodPlugin,
                        public PodListener {
 public:
  Listening(const PluginContext& context, Notes& notes, Task& stopped, std::string& next)
      : notes_(notes), next_(next) {
    context.pending->AddListener(*this);
    context.leader_parts->Add(std::make_unique<Controller>(notes, stopped));
  }

  std::string_view name() const override { return "Listening"; }
  bool Less(const QueuedPodView& a, const QueuedPodView& b) const override {
    return a.sequence < b.sequence;
  }
  Verdict PreEnqueue(const kube::Pod& pod) override {
    Note("gate", pod);
    return Verdict::Success();
  }
  std::string NextPod() override { return std::exchange(next_, ""); }
  void OnRefused(std::string_view uid, std::string_view) override {
    notes_.push_back(fmt::format("refused {}", uid));
  }
  void Bind(Attempt& attempt, VerdictDone done) override {
    Note("bind", *attempt.pod);
    done(attempt.pod->metadata.labels.contains("refused") ? Verdict::Error("refused")
                                                          : Verdict::Success());
  }
  void OnPodPending(const PodPtr& before, const PodPtr& after) override {
    Note(before == nullptr ? "new" : "changed", *after);
  }
  void OnPodBound(const PodPtr&, const PodPtr& after) override { Note("bound", *after); }
  void OnPodGone(const PodPtr& last) override { Note("gone", *last); }

 private:
  void Note(std::string_view what, const kube::Pod& pod) {
    notes_.push_back(fmt::format("{} {}", what, pod.metadata.name));
  }

  Notes& notes_;
  std::string& next_;
};

class PluginHooksTest : public testing::Test {
 protected:
  struct NoEvents final : kube::EventRecorder {
    void Record(const Note&) override {}
  };

  PluginHooksTest() {
    Scheduler::Options options;
    for (const char* profile : {"s", "t"}) {
      options.profiles.push_back(
          {profile, std::make_unique<NoEvents>(), [this, profile](const PluginContext& context) {
             PluginLineup lineup{.name = profile};
             auto all = std::make_unique<Listening>(context, notes_, stopped_, next_);
             lineup.queue_sort = all.get();
             lineup.pre_enqueue = {all.get()};
             lineup.bind = {all.get()};
             if (profile == std::string_view("s")) lineup.next_pod = {all.get()};
             lineup.plugins.push_back(std::move(all));
             for (const char* name : {"first", "second"}) {
               auto witness = std::make_unique<Witness>(name, bound_);
               lineup.post_bind.push_back(witness.get());
               lineup.plugins.push_back(std::move(witness));
             }
             return lineup;
           }});
    }
    scheduler_ = *Scheduler::Make(loop_, client_, std::move(options));
    scheduler_->OnNode(nullptr, NodeOf("{metadata: {name: n}}"));
  }

  std::shared_ptr<const kube::Pod> Pod(std::string_view name, std::string_view spec = "") {
    return PodOf(
        fmt::format("{{metadata: {{name: {}}}, spec: {{schedulerName: s{}}}}}", name, spec));
  }
  Notes Happened() { return std::exchange(notes_, {}); }

  VirtualLoop loop_;
  kube::ScriptedHandler handler_;
  kube::Client client_{
      loop_, std::make_shared<kube::InProcessTransport>(loop_, handler_), {.qps = 0}};
  Notes notes_;
  Notes bound_;
  Task stopped_;
  std::string next_;
  std::unique_ptr<Scheduler> scheduler_;
};

TEST_F(PluginHooksTest, ListenersKnowAPodBeforeAnyGateIsAskedAboutIt) {
  const auto pod = Pod("p");
  scheduler_->OnPod(nullptr, pod);
  EXPECT_THAT(Happened(), ElementsAre("new p", "new p", "gate p")) << "there are two profiles";
  const auto bound = Pod("p", ", nodeName: n");
  scheduler_->OnPod(pod, bound);
  EXPECT_THAT(Happened(), ElementsAre("bound p", "bound p"));
  scheduler_->OnPod(bound, bound);
  scheduler_->OnPod(bound, nullptr);
  EXPECT_THAT(Happened(), IsEmpty()) << "the ledger tells of pods with a node";
}

TEST_F(PluginHooksTest, ListenersHearOfPodsThatNobodyHereSchedules) {
  const auto pod = PodOf("{metadata: {name: p}, spec: {schedulerName: other}}");
  scheduler_->OnPod(nullptr, pod);
  scheduler_->OnPod(pod, nullptr);
  EXPECT_THAT(Happened(), ElementsAre("new p", "new p", "gone p", "gone p"));
}

TEST_F(PluginHooksTest, APluginMayNameThePodThatIsTriedNext) {
  for (const char* name : {"a", "b", "c"}) scheduler_->OnPod(nullptr, Pod(name));
  next_ = "c";
  Happened();
  scheduler_->Start();
  loop_.RunReady();
  EXPECT_THAT(Happened(), ElementsAre("controller starts", "bind c", "bind a", "bind b"));
}

TEST_F(PluginHooksTest, EachPostBindPluginHearsInTurnOfWhatWasBoundAndOfNothingElse) {
  scheduler_->Start();
  scheduler_->OnPod(nullptr, PodOf("{metadata: {name: q, labels: {refused: ''}}, "
                                   "spec: {schedulerName: s}}"));
  loop_.RunReady();
  EXPECT_THAT(Happened(), Contains("bind q"));
  EXPECT_THAT(bound_, IsEmpty());
  scheduler_->OnPod(nullptr, Pod("p"));
  EXPECT_THAT(bound_, IsEmpty()) << "nothing is bound before it is tried";
  loop_.RunReady();
  EXPECT_THAT(bound_, ElementsAre("first: p on n", "second: p on n"));
}

TEST_F(PluginHooksTest, ControllersRunOnceAndOnlyWhilePodsArePlaced) {
  EXPECT_THAT(Happened(), IsEmpty());
  scheduler_->Start();
  EXPECT_THAT(Happened(), ElementsAre("controller starts"));
  scheduler_->Stop();
  EXPECT_THAT(Happened(), ElementsAre("controller stops"));
  bool drained = false;
  scheduler_->WhenDrained([&] { drained = true; });
  EXPECT_FALSE(drained) << "its last write has not been answered";
  stopped_();
  EXPECT_TRUE(drained);
}

}  // namespace
}  // namespace koord::scheduler::plugin_hooks_test
