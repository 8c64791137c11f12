#include "kube/eviction/pod_eviction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "base/virtual_loop.h"
#include "kube/transport/in_process_transport.h"
#include "kube/transport/scripted_handler.h"

namespace koord::kube::pod_eviction_test {
namespace {

using ::testing::HasSubstr;

ApiError Error(int code, std::string reason, std::string message) {
  ApiError error = ApiError::Of(code, std::move(message));
  error.reason = std::move(reason);
  return error;
}

ApiError RefusedByBudget() {
  ApiError error = ApiError::Of(429, "Cannot evict pod as it would violate the budget.");
  error.causes.push_back({"DisruptionBudget", "The budget web needs 2 healthy pods", ""});
  return error;
}

// As real servers say it.
constexpr char kReplaced[] =
    "Operation cannot be fulfilled on Pod \"p\": the UID in the precondition (u1) does not match "
    "the UID in record (u2). The object might have been deleted and then recreated";
constexpr char kReplacedOfUpdate[] =
    "Operation cannot be fulfilled on pods \"p\": Precondition failed: UID in precondition: u1, "
    "UID in object meta: u2";

TEST(EvictionResult, TellsWhoLeavesWhoIsGoneAndWhoMayStay) {
  struct Case {
    const char* name;
    Status status;
    EvictionAnswer answer;
    bool leaves;
  };
  const Case cases[] = {
      {"accepted", absl::OkStatus(), EvictionAnswer::kLeaves, true},
      {"no such pod", ToStatus(Error(404, "NotFound", "no")), EvictionAnswer::kGone, true},
      {"another pod has the name, said of a deletion", ToStatus(Error(409, "Conflict", kReplaced)),
       EvictionAnswer::kGone, true},
      {"another pod has the name, said of an update",
       ToStatus(Error(409, "Conflict", kReplacedOfUpdate)), EvictionAnswer::kGone, true},
      {"the pod has only changed", ToStatus(Error(409, "Conflict", "please apply your changes")),
       EvictionAnswer::kFailed, false},
      {"a budget keeps it", ToStatus(RefusedByBudget()), EvictionAnswer::kRefused, false},
      {"the server is busy", ToStatus(ApiError::Of(429, "slow down")), EvictionAnswer::kFailed,
       false},
      {"forbidden", ToStatus(ApiError::Of(403, "not you")), EvictionAnswer::kFailed, false},
      {"the connection broke", absl::UnavailableError("broken"), EvictionAnswer::kFailed, false},
  };
  for (const Case& each : cases) {
    const EvictionResult result = EvictionResult::Of(each.status);
    EXPECT_EQ(result.answer, each.answer) << each.name;
    EXPECT_EQ(result.leaves(), each.leaves) << each.name;
    EXPECT_EQ(result.status, each.status) << each.name;
  }
}

class PodEvictionTest : public ::testing::Test {
 protected:
  PodEvictionTest() {
    pod_.name = "p";
    pod_.ns = "ns";
    pod_.uid = "u1";
  }

  EvictionDone Keep() {
    return [this](const EvictionResult& result) { answer_ = result.answer; };
  }
  ScriptedHandler::Exchange Next() {
    loop_.RunReady();
    return handler_.Take();
  }

  VirtualLoop loop_;
  ScriptedHandler handler_;
  Client client_{loop_, std::make_shared<InProcessTransport>(loop_, handler_), {.qps = 0}};
  ObjectMeta pod_;
  std::optional<EvictionAnswer> answer_;
};

TEST_F(PodEvictionTest, AnEvictionIsPostedForThisVeryPod) {
  EvictPod(client_, pod_, {.grace_period_seconds = 5}, Keep());
  auto exchange = Next();
  EXPECT_EQ(exchange.request.method, "POST");
  EXPECT_THAT(exchange.request.target, HasSubstr("/api/v1/namespaces/ns/pods/p/eviction"));
  EXPECT_EQ(*ParseJson(exchange.request.body),
            *ParseJson(R"({"apiVersion": "policy/v1", "kind": "Eviction",
                           "metadata": {"name": "p", "namespace": "ns"},
                           "deleteOptions": {"gracePeriodSeconds": 5,
                                             "preconditions": {"uid": "u1"}}})"));
  exchange.Answer(201, "{}");
  loop_.RunReady();
  EXPECT_EQ(answer_, EvictionAnswer::kLeaves);
}

TEST_F(PodEvictionTest, ADeletionIsOfThisVeryPod) {
  DeletePod(client_, pod_, {}, Keep());
  auto exchange = Next();
  EXPECT_EQ(exchange.request.method, "DELETE");
  EXPECT_EQ(*ParseJson(exchange.request.body),
            *ParseJson(R"({"apiVersion": "v1", "kind": "DeleteOptions",
                           "preconditions": {"uid": "u1"}})"));
  exchange.Fail(Error(409, "Conflict", kReplaced));
  loop_.RunReady();
  EXPECT_EQ(answer_, EvictionAnswer::kGone);
}

TEST_F(PodEvictionTest, WhyItGoesIsWrittenOnThePodFirst) {
  MarkAndDeletePod(client_, pod_, {"PreemptionByScheduler", "for a better pod"}, {}, Keep());
  auto mark = Next();
  EXPECT_EQ(mark.request.method, "PATCH");
  EXPECT_THAT(mark.request.target, HasSubstr("/pods/p/status"));
  const Json patch = *ParseJson(mark.request.body);
  EXPECT_EQ(FindString(patch, {"metadata", "uid"}), "u1");
  const Json& condition = Find(patch, {"status", "conditions"})->as_array()[0];
  EXPECT_EQ(FindString(condition, {"type"}), "DisruptionTarget");
  EXPECT_EQ(FindString(condition, {"status"}), "True");
  EXPECT_EQ(FindString(condition, {"reason"}), "PreemptionByScheduler");
  EXPECT_EQ(FindString(condition, {"message"}), "for a better pod");
  EXPECT_EQ(FindString(condition, {"lastTransitionTime"}), FormatTime(loop_.clock().Now()));
  mark.Answer(200, "{}");
  auto removal = Next();
  EXPECT_EQ(removal.request.method, "DELETE");
  removal.Answer(200, "{}");
  loop_.RunReady();
  EXPECT_EQ(answer_, EvictionAnswer::kLeaves);
}

TEST_F(PodEvictionTest, WhatCannotBeMarkedGoesAllTheSame) {
  MarkAndDeletePod(client_, pod_, {"R", "m"}, {}, Keep());
  Next().Fail(ApiError::Of(403, "not the status"));
  auto removal = Next();
  EXPECT_EQ(removal.request.method, "DELETE");
  removal.Fail(ApiError::Of(403, "nor this"));
  loop_.RunReady();
  EXPECT_EQ(answer_, EvictionAnswer::kFailed);
}

TEST_F(PodEvictionTest, WhatIsGoneIsNotDeleted) {
  MarkAndDeletePod(client_, pod_, {"R", "m"}, {}, Keep());
  Next().Fail(Error(409, "Conflict", kReplacedOfUpdate));
  loop_.RunReady();
  EXPECT_EQ(answer_, EvictionAnswer::kGone);
  EXPECT_EQ(handler_.waiting(), 0u);
}

}  // namespace
}  // namespace koord::kube::pod_eviction_test
