// What users are told of what their pods ask for and nothing acts on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/virtual_loop.h"
#include "kube/transport/in_process_transport.h"
#include "kube/transport/scripted_handler.h"
#include "scheduler/core/scheduler.h"
#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::not_supported_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// First come, first served; nodes are all the same.
class PlainProfile final : public QueueSortPlugin {
 public:
  std::string_view name() const override { return "PlainProfile"; }
  bool Less(const QueuedPodView& a, const QueuedPodView& b) const override {
    return a.sequence < b.sequence;
  }
};

class NotSupportedTest : public testing::Test {
 protected:
  struct Recorder final : kube::EventRecorder {
    explicit Recorder(std::vector<Note>& notes) : notes(notes) {}
    void Record(const Note& note) override { notes.push_back(note); }
    std::vector<Note>& notes;
  };

  NotSupportedTest() {
    Scheduler::Options options;
    options.profiles.push_back({"s", std::make_unique<Recorder>(notes_), [](const PluginContext&) {
                                  PluginLineup lineup{.name = "s"};
                                  auto plain = std::make_unique<PlainProfile>();
                                  lineup.queue_sort = plain.get();
                                  lineup.plugins.push_back(std::move(plain));
                                  return lineup;
                                }});
    scheduler_ = *Scheduler::Make(loop_, client_, std::move(options));
    scheduler_->Start();
  }

  // Warnings after two attempts; there is no node.
  std::vector<std::string> WarningsAbout(std::string_view pod) {
    const auto created = PodOf(pod);
    scheduler_->OnPod(nullptr, created);
    loop_.RunReady();
    scheduler_->OnEvent({.kind = EventKind::kForced});
    loop_.Advance(std::chrono::minutes(1));
    EXPECT_GE(scheduler_->queue().Describe(created->metadata.uid)->attempts, 2);
    std::vector<std::string> warnings;
    for (const auto& note : notes_) {
      if (note.reason != "NotSupported") continue;
      EXPECT_EQ(note.type, "Warning");
      EXPECT_EQ(note.regarding.name, created->metadata.name);
      warnings.push_back(note.message);
    }
    return warnings;
  }

  VirtualLoop loop_;
  kube::ScriptedHandler handler_;
  kube::Client client_{
      loop_, std::make_shared<kube::InProcessTransport>(loop_, handler_), {.qps = 0}};
  std::vector<kube::EventRecorder::Note> notes_;
  std::unique_ptr<Scheduler> scheduler_;
};

TEST_F(NotSupportedTest, SaidOnceInOneSentenceForAll) {
  EXPECT_THAT(
      WarningsAbout("{metadata: {name: p, labels: {pod-group.scheduling.sigs.k8s.io: t}, "
                    "annotations: {gang.scheduling.koordinator.sh/name: g}}, "
                    "spec: {schedulerName: s}}"),
      ElementsAre(AllOf(HasSubstr("label pod-group.scheduling.sigs.k8s.io has no effect in this "
                                  "version"),
                        HasSubstr("; annotation gang.scheduling.koordinator.sh/name has no "
                                  "effect"))));
}

TEST_F(NotSupportedTest, NothingIsSaidOfOtherPods) {
  EXPECT_THAT(WarningsAbout("{metadata: {name: p, labels: {app: a}}, spec: {schedulerName: s}}"),
              IsEmpty());
}

}  // namespace
}  // namespace koord::scheduler::not_supported_test
