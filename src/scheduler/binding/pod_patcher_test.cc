#include "scheduler/binding/pod_patcher.h"

#include <gtest/gtest.h>

#include <optional>

#include "api/output_keys.h"
#include "base/virtual_loop.h"
#include "kube/transport/in_process_transport.h"
#include "kube/transport/scripted_handler.h"

namespace koord::scheduler::pod_patcher_test {
namespace {

class PodPatcherTest : public testing::Test {
 protected:
  PodPatcherTest() {
    auto pod = std::make_shared<kube::Pod>();
    pod->metadata.ns = "ns";
    pod->metadata.name = "p";
    pod->metadata.uid = "u1";
    pod->metadata.annotations = {{"known", "as before"}};
    attempt_.pod = std::move(pod);
  }

  void Patch(PodPatcher::Annotations annotations = PodPatcher::Annotations::kWithTheBinding) {
    patcher_.Patch(attempt_, annotations,
                   [this](Verdict verdict) { verdict_ = std::move(verdict); });
    loop_.RunReady();
  }
  // What an earlier attempt has left on the pod.
  void Leave(const kube::Annotations& annotations) {
    auto pod = std::make_shared<kube::Pod>(*attempt_.pod);
    pod->metadata.annotations = annotations;
    attempt_.pod = std::move(pod);
  }
  // Answers the only request that is waiting.
  void Fail(int code, std::string_view reason) {
    handler_.Take().Fail({.code = code, .reason = std::string(reason), .message = "no"});
    loop_.RunReady();
  }

  VirtualLoop loop_;
  kube::ScriptedHandler handler_;
  kube::Client client_{
      loop_, std::make_shared<kube::InProcessTransport>(loop_, handler_), {.qps = 0}};
  ObjectWriters writers_{client_};
  PodPatcher patcher_{loop_, writers_, 1};
  Attempt attempt_;
  std::optional<Verdict> verdict_;
};

TEST_F(PodPatcherTest, SendsNothingWhereNothingWasDecided) {
  Patch();
  EXPECT_EQ(handler_.waiting(), 0u);
  ASSERT_TRUE(verdict_);
  EXPECT_TRUE(verdict_->ok());
}

TEST_F(PodPatcherTest, SendsNothingThatThePodHasAlready) {
  attempt_.annotations = {{"known", "as before"}};
  Patch(PodPatcher::Annotations::kNow);
  EXPECT_EQ(handler_.waiting(), 0u);
  ASSERT_TRUE(verdict_);
  EXPECT_TRUE(verdict_->ok());
}

TEST_F(PodPatcherTest, LeavesAnnotationsToTheBinding) {
  attempt_.annotations = {{std::string(api::kAnnotationResourceStatus), "{}"}, {"other", "1"}};
  Patch();
  EXPECT_EQ(handler_.waiting(), 0u);
  ASSERT_TRUE(verdict_);
  EXPECT_TRUE(verdict_->ok());
}

// Decision 9: koordlet would act on what an attempt has left that was never bound.
TEST_F(PodPatcherTest, RemovesWhatAnEarlierAttemptHasGivenAndThisOneDoesNot) {
  const std::string cpus(api::kAnnotationResourceStatus);
  const std::string devices(api::kAnnotationDeviceAllocated);
  Leave({{cpus, "{}"}, {devices, "{}"}, {"known", "as before"}});
  attempt_.annotations = {{cpus, R"({"cpuset": "0"})"}};
  Patch();
  auto exchange = handler_.Take();
  EXPECT_EQ(*kube::ParseJson(exchange.request.body),
            (kube::Json{{"metadata", {{"annotations", {{devices, nullptr}}}, {"uid", "u1"}}}}));
}

TEST_F(PodPatcherTest, KnowsEveryKeyThatAnAttemptMayLeave) {
  kube::Annotations left;
  for (const std::string_view key : api::kOutputAnnotations) left.emplace(key, "x");
  Leave(left);
  Patch();
  const kube::Json patch = *kube::ParseJson(handler_.Take().request.body);
  for (const std::string_view key : api::kOutputAnnotations) {
    const kube::Json* removed = kube::Find(patch, {"metadata", "annotations", key});
    ASSERT_NE(removed, nullptr) << key;
    EXPECT_TRUE(removed->is_null()) << key;
  }
}

TEST_F(PodPatcherTest, SendsWhatChangesInOnePatchOfThisVeryPod) {
  attempt_.labels = {{"l", "1"}};
  attempt_.annotations = {{"known", "as before"}, {"cpus", "0-3"}};
  Patch(PodPatcher::Annotations::kNow);
  auto exchange = handler_.Take();
  EXPECT_EQ(exchange.request.method, "PATCH");
  EXPECT_EQ(exchange.request.target, "/api/v1/namespaces/ns/pods/p");
  EXPECT_EQ(*kube::ParseJson(exchange.request.body),
            (kube::Json{
                {"metadata",
                 {{"labels", {{"l", "1"}}}, {"annotations", {{"cpus", "0-3"}}}, {"uid", "u1"}}}}));
  exchange.Answer(kube::Json{{"metadata", {{"name", "p"}}}});
  loop_.RunReady();
  EXPECT_EQ(handler_.waiting(), 0u);
  ASSERT_TRUE(verdict_);
  EXPECT_TRUE(verdict_->ok());
}

TEST_F(PodPatcherTest, TriesConflictsAgainAndGivesUpAfterFourTimes) {
  attempt_.labels = {{"l", "1"}};
  Patch();
  for (int i = 1; i < 4; ++i) {
    Fail(409, "Conflict");
    EXPECT_FALSE(verdict_) << "after try " << i;
    loop_.Advance(1s);
    ASSERT_EQ(handler_.waiting(), 1u) << "after try " << i;
  }
  Fail(409, "Conflict");
  loop_.Advance(1min);
  EXPECT_EQ(handler_.waiting(), 0u);
  ASSERT_TRUE(verdict_);
  EXPECT_EQ(verdict_->code, Code::kError);
}

TEST_F(PodPatcherTest, DoesNotInsistOnAPodThatIsGone) {
  attempt_.labels = {{"l", "1"}};
  Patch();
  Fail(404, "NotFound");
  loop_.Advance(1min);
  EXPECT_EQ(handler_.waiting(), 0u);
  ASSERT_TRUE(verdict_);
  EXPECT_EQ(verdict_->code, Code::kError);
}

TEST_F(PodPatcherTest, DoesNotLetAPodBeBoundThatIsBeingDeleted) {
  attempt_.labels = {{"l", "1"}};
  Patch();
  handler_.Take().Answer(kube::Json{{"metadata", {{"deletionTimestamp", "2026-01-01T00:00:00Z"}}}});
  loop_.RunReady();
  ASSERT_TRUE(verdict_);
  EXPECT_EQ(verdict_->Message(), "pod is being deleted");
}

}  // namespace
}  // namespace koord::scheduler::pod_patcher_test
