#include "scheduler/binding/pod_patcher.h"

#include <gtest/gtest.h>

#include <optional>

#include "base/virtual_loop.h"
#include "kube/client/in_process_transport.h"
#include "kube/client/scripted_handler.h"

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

  void Patch() {
    patcher_.Patch(attempt_, [this](Verdict verdict) { verdict_ = std::move(verdict); });
    loop_.RunReady();
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
  PodPatcher patcher_{loop_, client_, 1};
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
  Patch();
  EXPECT_EQ(handler_.waiting(), 0u);
  ASSERT_TRUE(verdict_);
  EXPECT_TRUE(verdict_->ok());
}

TEST_F(PodPatcherTest, SendsWhatChangesInOnePatchOfThisVeryPod) {
  attempt_.labels = {{"l", "1"}};
  attempt_.annotations = {{"known", "as before"}, {"cpus", "0-3"}};
  Patch();
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
