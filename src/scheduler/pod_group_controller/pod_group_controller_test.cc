#include "scheduler/pod_group_controller/pod_group_controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/transport/in_process_transport.h"
#include "kube/transport/scripted_handler.h"
#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::pod_group_controller_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class Recorder final : public kube::EventRecorder {
 public:
  void Record(const Note& note) override {
    EXPECT_NE(note.action, "") << "the API server would refuse it";
    notes.push_back(fmt::format("{} {}: {}", note.regarding.name, note.reason, note.message));
  }
  std::vector<std::string> notes;
};

class PodGroupControllerTest : public testing::Test {
 protected:
  PodGroupControllerTest() {
    bed_.AddNode("{metadata: {name: n}}");
    bed_.context.client = &client_;
    bed_.context.recorder = &recorder_;
    bed_.context.pending = &pending_;
    bed_.context.leader_parts = &parts_;
    book_ = &GangBook::Of(bed_.context, {});
    PodGroupController::AddTo(bed_.context, *book_, 1);
    parts_.Start();
  }

  void Show(std::string_view status, std::string_view spec = "minMember: 2") {
    bed_.objects.pod_groups.Set(FromYaml<api::PodGroup>(
        fmt::format("{{metadata: {{name: g, namespace: a, uid: u, resourceVersion: '{}'}}, spec: "
                    "{{{}}}, status: {{{}}}}}",
                    ++version_, spec, status)));
  }
  std::shared_ptr<const kube::Pod> Pod(std::string_view name, std::string_view spec = "",
                                       std::string_view phase = "Pending") {
    return PodOf(fmt::format(
        "{{metadata: {{name: {}, namespace: a, labels: {{pod-group.scheduling.sigs.k8s.io: g}}, "
        "ownerReferences: [{{kind: Job, name: job}}]}}, spec: {{schedulerName: s{}}}, status: "
        "{{phase: {}}}}}",
        name, spec, phase));
  }
  void ShowOnNode(std::string_view name, std::string_view phase) {
    const auto pod = Pod(name, ", nodeName: n", phase);
    pending_.SetBound(pod, false);
    bed_.ledger.SetPod(pod);
  }
  // "PATCH path body", and answers it.
  std::string Written() {
    bed_.loop.RunReady();
    if (server_.waiting() == 0) return "";
    auto exchange = server_.Take();
    std::string text = fmt::format("{} {} {}", exchange.request.method, exchange.request.target,
                                   exchange.request.body);
    exchange.Answer({{"metadata", {{"name", "g"}, {"uid", "u"}}}});
    bed_.loop.RunReady();
    return text;
  }

  PluginBed bed_;
  kube::ScriptedHandler server_;
  kube::Client client_{
      bed_.loop, std::make_shared<kube::InProcessTransport>(bed_.loop, server_), {.qps = 0}};
  Recorder recorder_;
  PendingPods pending_;
  LeaderParts parts_;
  GangBook* book_;
  int version_ = 0;
};

TEST_F(PodGroupControllerTest, TheStatusFollowsThePods) {
  Show("");
  EXPECT_THAT(Written(),
              StartsWith("PATCH /apis/scheduling.sigs.k8s.io/v1alpha1/namespaces/a/podgroups/g {"));
  EXPECT_EQ(Written(), "") << "not again before it is shown";
  Show("phase: Pending");
  EXPECT_EQ(Written(), "");
  pending_.Set(Pod("p1"));
  EXPECT_EQ(Written(), "");
  pending_.Set(Pod("p2"));
  std::string written = Written();
  EXPECT_THAT(written, HasSubstr(R"("phase":"PreScheduling")"));
  EXPECT_THAT(written, HasSubstr(R"("occupiedBy":"a/job")"));
  EXPECT_THAT(written, HasSubstr(R"("resourceVersion":"2")")) << "nobody's words are overwritten";
  Show("phase: PreScheduling, occupiedBy: a/job");
  EXPECT_THAT(Written(), HasSubstr(R"("phase":"Scheduling")"));
  Show("phase: Scheduling, scheduleStartTime: '2024-01-01T00:00:00Z'");
  ShowOnNode("p1", "Pending");
  EXPECT_THAT(Written(), HasSubstr(R"("scheduled":1)"));
  Show("phase: Scheduling, scheduled: 1, scheduleStartTime: '2024-01-01T00:00:00Z'");
  ShowOnNode("p2", "Running");
  written = Written();
  EXPECT_THAT(written, HasSubstr(R"("phase":"Scheduled")"));
  EXPECT_THAT(written, HasSubstr(R"("running":1)"));
}

// Decision: members that have ended count.
TEST_F(PodGroupControllerTest, FinishedAndFailedAreReachedByPodsThatHaveEnded) {
  Show("phase: Running, scheduled: 2, running: 2");
  ShowOnNode("p1", "Running");
  ShowOnNode("p2", "Running");
  EXPECT_EQ(Written(), "");
  book_->SetEnded(*Pod("p1", ", nodeName: n", "Succeeded"));
  bed_.ledger.RemovePod("p1");
  EXPECT_THAT(Written(), HasSubstr(R"("succeeded":1)"));
  Show("phase: Running, scheduled: 2, running: 1, succeeded: 1");
  book_->SetEnded(*Pod("p2", ", nodeName: n", "Failed"));
  bed_.ledger.RemovePod("p2");
  EXPECT_THAT(Written(), HasSubstr(R"("phase":"Failed")"));
  Show("phase: Failed, scheduled: 2, succeeded: 1, failed: 1");
  book_->RemoveEnded(*Pod("p1"));
  book_->RemoveEnded(*Pod("p2"));
  EXPECT_EQ(Written(), "") << "it has ended";
}

TEST_F(PodGroupControllerTest, NothingIsWrittenByOneThatDoesNotLead) {
  parts_.Stop();
  Show("");
  EXPECT_EQ(Written(), "");
  parts_.Start();
  EXPECT_THAT(Written(), HasSubstr(R"("phase":"Pending")"));
}

// Decision: what is not legal is told, once a change.
TEST_F(PodGroupControllerTest, AnIllegalPodGroupIsToldSoOnce) {
  Show("phase: Pending", "minMember: 2, scheduleTimeoutSeconds: -1");
  Written();
  EXPECT_THAT(recorder_.notes, ElementsAre(HasSubstr("g InvalidPodGroup: "
                                                     "spec.scheduleTimeoutSeconds: \"-1\"")));
  recorder_.notes.clear();
  Show("phase: Pending", "minMember: 3, scheduleTimeoutSeconds: -1");
  Written();
  EXPECT_THAT(recorder_.notes, IsEmpty());
}

}  // namespace
}  // namespace koord::scheduler::pod_group_controller_test
