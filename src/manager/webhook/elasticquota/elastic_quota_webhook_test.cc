#include "manager/webhook/elasticquota/elastic_quota_webhook.h"

#include <gtest/gtest.h>

#include "api/unsupported.h"
#include "kube/patch/json_patch.h"
#include "manager/webhook/review/fake_view_testing.h"

namespace koord::manager::webhook::elastic_quota_webhook_test {
namespace {

using kube::Json;

Request QuotaRequest(Operation operation, std::string_view object, std::string_view old = "") {
  Request request = PodRequest(operation, object, old);
  request.group = "scheduling.sigs.k8s.io";
  request.resource = "elasticquotas";
  request.name =
      kube::FindString(object.empty() ? request.old_object : request.object, {"metadata", "name"});
  return request;
}

class ElasticQuotaWebhookTest : public testing::Test {
 protected:
  std::string Mutated(std::string_view quota) {
    const Request request = QuotaRequest(Operation::kCreate, quota);
    const Response response = MutateElasticQuota(request, view_, nullptr);
    if (!response.allowed) {
      EXPECT_EQ(response.code, 400);
      return response.message;
    }
    if (response.patch.is_null()) return "";
    const Json changed = *kube::ApplyJsonPatch(request.object, response.patch);
    return kube::Serialize(*kube::Find(changed, {"metadata"}));
  }
  std::string Validate(const Request& request) {
    const Response response = ValidateElasticQuota(request, view_);
    EXPECT_EQ(response.code, response.allowed ? 200 : 400);
    return response.message;
  }

  FakeView view_;
};

// V24
TEST_F(ElasticQuotaWebhookTest, FillsInParentAndWeight) {
  EXPECT_EQ(Mutated("{metadata: {name: q, annotations: "
                    "{quota.scheduling.koordinator.sh/shared-weight: '{\"cpu\":\"0\"}'}}, "
                    "spec: {max: {cpu: 120, memory: 1048576}}}"),
            R"({"name":"q","annotations":{"quota.scheduling.koordinator.sh/shared-weight":)"
            R"("{\"cpu\":\"0\",\"memory\":\"1048576\"}"},)"
            R"("labels":{"quota.scheduling.koordinator.sh/parent":"koordinator-root-quota"}})");
  EXPECT_EQ(Mutated("{metadata: {name: q, labels: {quota.scheduling.koordinator.sh/parent: "
                    "koordinator-root-quota}}, spec: {max: {cpu: 1}}}"),
            R"({"name":"q","labels":{"quota.scheduling.koordinator.sh/parent":)"
            R"("koordinator-root-quota"},"annotations":)"
            R"({"quota.scheduling.koordinator.sh/shared-weight":"{\"cpu\":\"1\"}"}})");
}

TEST_F(ElasticQuotaWebhookTest, DropsWeightsOfOtherResources) {
  EXPECT_EQ(Mutated("{metadata: {name: q, labels: {quota.scheduling.koordinator.sh/parent: "
                    "koordinator-root-quota}, annotations: "
                    "{quota.scheduling.koordinator.sh/shared-weight: '{\"cpu\":2,\"gpu\":1}'}}, "
                    "spec: {max: {cpu: 1}}}"),
            R"({"name":"q","labels":{"quota.scheduling.koordinator.sh/parent":)"
            R"("koordinator-root-quota"},"annotations":)"
            R"({"quota.scheduling.koordinator.sh/shared-weight":"{\"cpu\":\"2\"}"}})");
}

TEST_F(ElasticQuotaWebhookTest, JoinsTheTreeOfItsParent) {
  constexpr char kChild[] =
      "{metadata: {name: q, labels: {quota.scheduling.koordinator.sh/parent: p}, annotations: "
      "{quota.scheduling.koordinator.sh/shared-weight: '{\"cpu\":1}'}}, spec: {max: {cpu: 1}}}";
  EXPECT_EQ(Mutated(kChild), "fill quota q failed, parent not exist");
  view_.topology.Set(*Read<api::ElasticQuota>(
      "{metadata: {name: p, labels: {quota.scheduling.koordinator.sh/tree-id: t}}}"));
  EXPECT_EQ(Mutated(kChild),
            R"({"name":"q","labels":{"quota.scheduling.koordinator.sh/parent":"p",)"
            R"("quota.scheduling.koordinator.sh/tree-id":"t"},"annotations":)"
            R"({"quota.scheduling.koordinator.sh/shared-weight":"{\"cpu\":1}"}})");
}

TEST_F(ElasticQuotaWebhookTest, LeavesTheRootAloneAndNamesBadWeights) {
  EXPECT_EQ(Mutated("{metadata: {name: koordinator-root-quota}, spec: {max: {cpu: 1}}}"), "");
  EXPECT_TRUE(Mutated("{metadata: {name: q, annotations: "
                      "{quota.scheduling.koordinator.sh/shared-weight: x}}}")
                  .starts_with("fillDefaultQuotaInfo unmarshal sharedWeight failed:"));
}

TEST_F(ElasticQuotaWebhookTest, JudgesAndRemembers) {
  constexpr char kQuota[] = "{metadata: {name: q}, spec: {max: {cpu: 1}}}";
  Request dry = QuotaRequest(Operation::kCreate, kQuota);
  dry.dry_run = true;
  EXPECT_EQ(Validate(dry), "");
  EXPECT_EQ(Validate(QuotaRequest(Operation::kCreate, kQuota)), "") << "a dry run was remembered";
  EXPECT_EQ(Validate(QuotaRequest(Operation::kCreate, kQuota)), "AddQuota quota already exist:q");
  EXPECT_EQ(
      Validate(QuotaRequest(Operation::kUpdate,
                            "{metadata: {name: q}, spec: {min: {cpu: 2}, max: {cpu: 1}}}", kQuota)),
      "resourceKey cpu of quota q min 2 > max 1");
  view_.pods.push_back(
      Read<kube::Pod>("{metadata: {name: p1, labels: {quota.scheduling.koordinator.sh/name: q}}}"));
  EXPECT_EQ(Validate(QuotaRequest(Operation::kDelete, "", kQuota)),
            "delete quota failed, quota q has 1 child pods: p1");
  view_.pods.clear();
  EXPECT_EQ(Validate(QuotaRequest(Operation::kDelete, "", kQuota)), "");
  EXPECT_EQ(Validate(QuotaRequest(Operation::kDelete, "", kQuota)), "not found quota:q");

  ASSERT_EQ(Validate(QuotaRequest(Operation::kCreate, kQuota)), "");
  Request collection = QuotaRequest(Operation::kDelete, "", kQuota);
  collection.name.clear();
  EXPECT_EQ(Validate(collection), "");
}

TEST_F(ElasticQuotaWebhookTest, ANamespaceIsDeletedWithItsQuotas) {
  constexpr char kQuota[] = "{metadata: {name: q, namespace: default}, spec: {max: {cpu: 1}}}";
  ASSERT_EQ(Validate(QuotaRequest(Operation::kCreate, kQuota)), "");
  view_.pods.push_back(
      Read<kube::Pod>("{metadata: {name: p1, namespace: default, labels: "
                      "{quota.scheduling.koordinator.sh/name: q}}}"));
  Request collection = QuotaRequest(Operation::kDelete, "", kQuota);
  collection.name.clear();
  EXPECT_EQ(Validate(collection), "delete quota failed, quota q has 1 child pods: p1");
  view_.namespaces_being_deleted.insert("default");
  EXPECT_EQ(Validate(collection), "");
}

TEST_F(ElasticQuotaWebhookTest, WhatIsChargedIsReadableAndNotNegative) {
  const auto quota = [](std::string_view used) {
    return fmt::format(
        "{{metadata: {{name: q, annotations: {{quota.scheduling.koordinator.sh/child-request: "
        "'{}'}}}}, spec: {{max: {{cpu: 1}}}}}}",
        used);
  };
  constexpr char kNegative[] = R"({"cpu":"-970"})";
  constexpr char kError[] =
      "metadata.annotations[quota.scheduling.koordinator.sh/child-request]: cpu must not be "
      "negative, found -970";
  EXPECT_EQ(Validate(QuotaRequest(Operation::kCreate, quota(kNegative))), kError);
  ASSERT_EQ(Validate(QuotaRequest(Operation::kCreate, quota("{}"))), "");
  EXPECT_EQ(Validate(QuotaRequest(Operation::kUpdate, quota(kNegative), quota("{}"))), kError);
  EXPECT_NE(Validate(QuotaRequest(Operation::kUpdate, quota("["), quota("{}"))), "");
  // What was there before can be left and mended.
  EXPECT_EQ(Validate(QuotaRequest(Operation::kUpdate, quota(kNegative), quota(kNegative))), "");
  EXPECT_EQ(Validate(QuotaRequest(Operation::kUpdate, quota("{}"), quota(kNegative))), "");
}

TEST_F(ElasticQuotaWebhookTest, TellsOfWhatHasNoEffectYet) {
  const Response response = ValidateElasticQuota(
      QuotaRequest(Operation::kCreate, "{metadata: {name: q}, spec: {max: {cpu: 1}}}"), view_);
  const auto why = api::UnsupportedKind("scheduling.sigs.k8s.io", "ElasticQuota");
  EXPECT_EQ(response.warnings, why ? std::vector{*why} : std::vector<std::string>());
}

TEST_F(ElasticQuotaWebhookTest, LeavesOtherObjectsAlone) {
  EXPECT_TRUE(ValidateElasticQuota(PodRequest(Operation::kCreate, "{}"), view_).allowed);
  EXPECT_TRUE(MutateElasticQuota(PodRequest(Operation::kCreate, "{}"), view_, nullptr).allowed);
}

}  // namespace
}  // namespace koord::manager::webhook::elastic_quota_webhook_test
