#include "manager/quota/quota_evaluator.h"

#include <gtest/gtest.h>

#include <optional>

#include "api/keys.h"
#include "base/virtual_loop.h"
#include "kube/transport/in_process_transport.h"
#include "kube/transport/scripted_handler.h"
#include "kube/yaml.h"

namespace koord::manager::quota_evaluator_test {
namespace {

using kube::Json;

class QuotaEvaluatorTest : public testing::Test {
 protected:
  QuotaEvaluatorTest() { SetQuota("quota1", "kube-system", "1", "{\"cpu\":2,\"memory\":\"2Gi\"}"); }

  static Json QuotaJson(std::string_view name, std::string_view ns, std::string_view version,
                        std::string_view used) {
    const auto document = kube::ParseYaml(fmt::format(
        "{{apiVersion: scheduling.sigs.k8s.io/v1alpha1, kind: ElasticQuota, metadata: {{name: {}, "
        "namespace: {}, uid: u, resourceVersion: '{}', annotations: "
        "{{quota.scheduling.koordinator.sh/child-request: '{}'}}}},"
        " spec: {{max: {{cpu: 4, memory: 8Gi}}}}}}",
        name, ns, version, used));
    EXPECT_TRUE(document.ok()) << Message(document.status());
    return *document;
  }
  void SetQuota(std::string_view name, std::string_view ns, std::string_view version,
                std::string_view used) {
    quotas_ = {std::make_shared<const api::ElasticQuota>(
        *kube::Decode<api::ElasticQuota>(QuotaJson(name, ns, version, used)))};
  }
  std::shared_ptr<std::optional<Status>> Evaluate(std::string_view cpu, std::string_view memory,
                                                  bool dry_run = false, std::string id = "") {
    kube::Pod pod;
    if (id.empty()) id = fmt::format("default/p{}", ++pods_);
    pod.spec.containers.Mutable().resize(1);
    pod.spec.containers.Mutable()[0].resources.requests = {
        {"cpu", *kube::Quantity::Parse(cpu)}, {"memory", *kube::Quantity::Parse(memory)}};
    auto result = std::make_shared<std::optional<Status>>();
    evaluator_.Evaluate("quota1", id, pod, dry_run, [result](Status status) { *result = status; });
    loop_.RunReady();
    return result;
  }
  // Answers a write as the server would.
  std::string AnswerPatch(std::string_view version) {
    auto exchange = server_.Take();
    EXPECT_EQ(exchange.request.method, "PATCH");
    const Json patch = *kube::ParseJson(exchange.request.body);
    const std::string used(
        kube::FindString(patch, {"metadata", "annotations", api::kAnnotationQuotaChildRequest}));
    exchange.Answer(QuotaJson("quota1", "kube-system", version, used));
    loop_.RunReady();
    return used;
  }

  int pods_ = 0;
  VirtualLoop loop_;
  kube::ScriptedHandler server_;
  kube::Client client_{loop_, std::make_shared<kube::InProcessTransport>(loop_, server_), {}};
  std::vector<QuotaEvaluator::QuotaPtr> quotas_;
  QuotaEvaluator evaluator_{client_, [this](std::string_view) { return quotas_; }, {}};
};

// V24
TEST_F(QuotaEvaluatorTest, LetsInWhatFitsOnceItIsCounted) {
  const auto result = Evaluate("2", "4Gi");
  EXPECT_FALSE(result->has_value());
  EXPECT_EQ(AnswerPatch("2"), R"({"cpu":"4","memory":"6Gi"})");
  ASSERT_TRUE(result->has_value());
  EXPECT_TRUE((*result)->ok());
}

TEST_F(QuotaEvaluatorTest, ThePodThatComesAgainIsNotChargedAgain) {
  Evaluate("1", "1Gi", false, "default/p");
  EXPECT_EQ(AnswerPatch("2"), R"({"cpu":"3","memory":"3Gi"})");
  const auto again = Evaluate("1", "1Gi", false, "default/p");
  ASSERT_TRUE(again->has_value()) << "nothing has to be written";
  EXPECT_TRUE((*again)->ok());
  // What it asks for beyond that is.
  Evaluate("2", "1Gi", false, "default/p");
  EXPECT_EQ(AnswerPatch("3"), R"({"cpu":"4","memory":"3Gi"})");
  EXPECT_TRUE((*Evaluate("2", "1Gi", false, "default/p"))->ok());
}

TEST_F(QuotaEvaluatorTest, AnAssumptionEndsWithTimeAndWithThePod) {
  Evaluate("500m", "1Gi", false, "default/p");
  EXPECT_EQ(AnswerPatch("2"), R"({"cpu":"2500m","memory":"3Gi"})");
  evaluator_.Observed("default/p");
  Evaluate("500m", "1Gi", false, "default/p");
  EXPECT_EQ(AnswerPatch("3"), R"({"cpu":"3","memory":"4Gi"})");
  loop_.Advance(QuotaEvaluator::kPatience);
  Evaluate("500m", "1Gi", false, "default/p");
  EXPECT_EQ(AnswerPatch("4"), R"({"cpu":"3500m","memory":"5Gi"})");
}

TEST_F(QuotaEvaluatorTest, NobodyAsksForLessThanNothing) {
  for (const bool dry_run : {false, true}) {
    const auto result = Evaluate("-970", "1Gi", dry_run);
    ASSERT_TRUE(result->has_value());
    EXPECT_EQ(Message(**result),
              "resources.requests of container \"\": cpu must not be negative, found -970");
  }
}

// As a review from nobody has left it: what is below zero would make room that is not there.
TEST_F(QuotaEvaluatorTest, WhatIsUsedIsNeverLessThanNothing) {
  SetQuota("quota1", "kube-system", "1", "{\"cpu\":-970,\"memory\":\"2Gi\"}");
  EXPECT_FALSE((*Evaluate("5", "1Gi"))->ok());
  Evaluate("1", "1Gi");
  EXPECT_EQ(AnswerPatch("2"), R"({"cpu":"1","memory":"3Gi"})");
}

TEST_F(QuotaEvaluatorTest, RefusesWhatExceeds) {
  SetQuota("quota1", "kube-system", "1", "{\"cpu\":4,\"memory\":\"2Gi\"}");
  for (const bool dry_run : {false, true}) {
    const auto result = Evaluate("2", "4Gi", dry_run);
    ASSERT_TRUE(result->has_value());
    EXPECT_EQ(Message(**result),
              "exceeded quota: kube-system/quota1, requested: cpu=2, used: cpu=4, limited: cpu=4");
  }
  EXPECT_EQ(server_.waiting(), 0u);
}

TEST_F(QuotaEvaluatorTest, AnUnknownOrAmbiguousQuotaIsAnError) {
  quotas_.push_back(quotas_[0]);
  EXPECT_EQ(Message(**Evaluate("1", "1")), "more than one elastic quota quota1 found");
  quotas_.clear();
  EXPECT_EQ(Message(**Evaluate("1", "1")), "elastic quota quota1 not found");
}

TEST_F(QuotaEvaluatorTest, ADryRunChargesNothing) {
  const auto result = Evaluate("2", "4Gi", true);
  ASSERT_TRUE(result->has_value());
  EXPECT_TRUE((*result)->ok());
  EXPECT_EQ(server_.waiting(), 0u);
}

TEST_F(QuotaEvaluatorTest, ThoseThatComeMeanwhileShareAWriteThatBuildsOnTheLast) {
  const auto first = Evaluate("500m", "1Gi");
  const auto second = Evaluate("500m", "1Gi");
  const auto third = Evaluate("500m", "1Gi");
  const auto fourth = Evaluate("1", "1Gi");
  EXPECT_EQ(server_.waiting(), 1u);
  EXPECT_EQ(AnswerPatch("2"), R"({"cpu":"2500m","memory":"3Gi"})");
  EXPECT_TRUE(first->has_value());
  EXPECT_FALSE(second->has_value());
  // The watch still shows version 1: what we wrote counts.
  EXPECT_EQ(AnswerPatch("3"), R"({"cpu":"3500m","memory":"5Gi"})");
  EXPECT_TRUE((*second)->ok());
  EXPECT_TRUE((*third)->ok());
  EXPECT_EQ(Message(**fourth),
            "exceeded quota: kube-system/quota1, requested: cpu=1, used: cpu=3500m, limited: "
            "cpu=4");
}

TEST_F(QuotaEvaluatorTest, JudgesAnewAfterAConflict) {
  const auto result = Evaluate("2", "1Gi");
  server_.Take().Fail(kube::ApiError::Of(409, "the object has been modified"));
  loop_.RunReady();
  auto get = server_.Take();
  EXPECT_EQ(get.request.method, "GET");
  get.Answer(QuotaJson("quota1", "kube-system", "5", "{\"cpu\":3}"));
  loop_.RunReady();
  ASSERT_TRUE(result->has_value());
  EXPECT_EQ(Message(**result),
            "exceeded quota: kube-system/quota1, requested: cpu=2, used: cpu=3, limited: cpu=4");
}

TEST_F(QuotaEvaluatorTest, GivesUpAfterThreeRetries) {
  const auto result = Evaluate("1", "1Gi");
  for (int i = 0; i < 4; ++i) {
    server_.Take().Fail(kube::ApiError::Of(409, "the object has been modified"));
    loop_.RunReady();
    if (i < 3) {
      server_.Take().Answer(QuotaJson("quota1", "kube-system", "5", ""));
      loop_.RunReady();
    }
  }
  ASSERT_TRUE(result->has_value());
  EXPECT_EQ(Message(**result), "the object has been modified");
  EXPECT_EQ(server_.waiting(), 0u);
}

TEST_F(QuotaEvaluatorTest, DoesNotWaitForEver) {
  const auto result = Evaluate("1", "1Gi");
  loop_.Advance(std::chrono::seconds(10));
  ASSERT_TRUE(result->has_value());
  EXPECT_EQ(Message(**result), "Internal error occurred: elastic quota evaluation timed out");
}

}  // namespace
}  // namespace koord::manager::quota_evaluator_test
