// What the scheduler does while the API server is slow to answer.
#include <gtest/gtest.h>

#include <deque>

#include "base/virtual_loop.h"
#include "kube/transport/in_process_transport.h"
#include "kube/transport/scripted_handler.h"
#include "scheduler/core/scheduler.h"

namespace koord::scheduler::busy_server_test {
namespace {

// First come, first served; every node will do; bindings are answered when the test says so.
class PatientProfile final : public QueueSortPlugin, public BindPlugin {
 public:
  explicit PatientProfile(std::deque<VerdictDone>& waiting) : waiting_(waiting) {}

  std::string_view name() const override { return "PatientProfile"; }
  bool Less(const QueuedPodView& a, const QueuedPodView& b) const override {
    return a.sequence < b.sequence;
  }
  void Bind(Attempt&, VerdictDone done) override { waiting_.push_back(std::move(done)); }

 private:
  std::deque<VerdictDone>& waiting_;
};

class BusyServerTest : public testing::Test {
 protected:
  struct NoNotes final : kube::EventRecorder {
    void Record(const Note&) override {}
  };

  BusyServerTest() {
    Scheduler::Options options;
    options.profiles.push_back({"s", std::make_unique<NoNotes>(), [this](const PluginContext&) {
                                  PluginLineup lineup{.name = "s"};
                                  auto all = std::make_unique<PatientProfile>(waiting_);
                                  lineup.queue_sort = all.get();
                                  lineup.bind = {all.get()};
                                  lineup.plugins.push_back(std::move(all));
                                  return lineup;
                                }});
    scheduler_ = *Scheduler::Make(loop_, client_, std::move(options));
    auto node = std::make_shared<kube::Node>();
    node->metadata.name = "n";
    scheduler_->OnNode(nullptr, std::move(node));
    scheduler_->Start();
  }

  void AddPods(int count) {
    for (int i = 0; i < count; ++i) {
      auto pod = std::make_shared<kube::Pod>();
      pod->metadata.name = pod->metadata.uid = fmt::format("p{}", i);
      pod->metadata.ns = "default";
      pod->spec.scheduler_name = "s";
      scheduler_->OnPod(nullptr, std::move(pod));
    }
    loop_.RunReady();
  }
  void Answer(size_t bindings) {
    for (; bindings > 0; --bindings) {
      VerdictDone done = std::move(waiting_.front());
      waiting_.pop_front();
      done(Verdict::Success());
    }
    loop_.RunReady();
  }

  VirtualLoop loop_;
  kube::ScriptedHandler handler_;
  kube::Client client_{
      loop_, std::make_shared<kube::InProcessTransport>(loop_, handler_), {.qps = 0}};
  std::deque<VerdictDone> waiting_;
  std::unique_ptr<Scheduler> scheduler_;
};

TEST_F(BusyServerTest, NoMoreIsDecidedThanItCanSoonBeTold) {
  AddPods(1000);
  EXPECT_EQ(waiting_.size(), 256u);
  EXPECT_EQ(scheduler_->queue().counts().active, 744u);
}

TEST_F(BusyServerTest, EachAnswerLetsAnotherPodFollow) {
  AddPods(1000);
  Answer(1);
  EXPECT_EQ(waiting_.size(), 256u);
  Answer(100);
  EXPECT_EQ(waiting_.size(), 256u);
  EXPECT_EQ(scheduler_->queue().counts().active, 643u);
}

TEST_F(BusyServerTest, AllPodsAreBoundInTheEnd) {
  AddPods(1000);
  size_t bound = 0;
  while (!waiting_.empty()) {
    ++bound;
    Answer(1);
  }
  EXPECT_EQ(bound, 1000u);
  EXPECT_TRUE(scheduler_->idle());
}

}  // namespace
}  // namespace koord::scheduler::busy_server_test
