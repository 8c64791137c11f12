#include "manager/quota/quota_profile.h"

#include <gtest/gtest.h>

#include "api/resources.h"
#include "base/virtual_loop.h"
#include "kube/resources.h"
#include "kube/transport/in_process_transport.h"
#include "kube/transport/scripted_handler.h"
#include "kube/yaml.h"
#include "manager/quota/quota_profile_controller.h"

namespace koord::manager::quota_profile_test {
namespace {

template <class T>
T Read(std::string_view yaml) {
  const auto document = kube::ParseYaml(yaml);
  EXPECT_TRUE(document.ok()) << Message(document.status());
  auto object = kube::Decode<T>(*document);
  EXPECT_TRUE(object.ok()) << Message(object.status());
  return *object;
}

std::shared_ptr<const kube::Node> Node(std::string_view name, bool ready, std::string_view pool) {
  return std::make_shared<const kube::Node>(Read<kube::Node>(fmt::format(
      "{{metadata: {{name: {}, labels: {{pool: {}}}}}, status: {{allocatable: {{cpu: 10, memory: "
      "1000}}, conditions: [{{type: Ready, status: '{}'}}]}}}}",
      name, pool, ready ? "True" : "False")));
}

constexpr char kProfile[] = R"(
metadata: {name: profile1, namespace: kube-system}
spec:
  quotaName: root1
  resourceRatio: "0.9"
  quotaLabels: {team: a}
  nodeSelector: {matchLabels: {pool: p}}
)";

// Decision 17: as the scheduler sees the node.
TEST(QuotaProfileTest, WhatANodeKeepsForItselfIsNotHandedOut) {
  auto node = *Node("a", true, "p");
  node.metadata.annotations.insert_or_assign("node.koordinator.sh/reservation",
                                             R"({"resources":{"cpu":"2"}})");
  const auto quota = QuotaForProfile(Read<api::ElasticQuotaProfile>(kProfile), "t",
                                     {std::make_shared<const kube::Node>(node)}, nullptr);
  ASSERT_TRUE(quota.ok()) << Message(quota.status());
  EXPECT_EQ(kube::AmountOf(quota->spec.min, "cpu").ToString(), "7200m");
}

// V25
TEST(QuotaProfileTest, MakesTheRootQuotaOfItsNodes) {
  const auto profile = Read<api::ElasticQuotaProfile>(kProfile);
  EXPECT_EQ(DefaultTreeId({"kube-system", "profile1"}), "9816276314407088615");
  const auto quota = QuotaForProfile(
      profile, "9816276314407088615",
      {Node("a", true, "p"), Node("b", false, "p"), Node("c", true, "other")}, nullptr);
  ASSERT_TRUE(quota.ok()) << Message(quota.status());
  EXPECT_EQ(kube::Serialize(kube::Encode(quota->spec)),
            R"({"min":{"cpu":"18","memory":"1800"},)"
            R"("max":{"cpu":"4611686018427387","memory":"4611686018427387"}})");
  const kube::Labels labels{{"team", "a"},
                            {"quota.scheduling.koordinator.sh/profile", "profile1"},
                            {"quota.scheduling.koordinator.sh/tree-id", "9816276314407088615"},
                            {"quota.scheduling.koordinator.sh/is-root", "true"}};
  EXPECT_EQ(quota->metadata.labels, labels);
  const kube::Annotations annotations{
      {"quota.scheduling.koordinator.sh/total-resource", R"({"cpu":"18","memory":"1800"})"},
      {"quota.scheduling.koordinator.sh/unschedulable-resource", R"({"cpu":"9","memory":"900"})"}};
  EXPECT_EQ(quota->metadata.annotations, annotations);
}

TEST(QuotaProfileTest, ABadRatioCountsAsOneAndKeysMayBeChosen) {
  auto profile = Read<api::ElasticQuotaProfile>(kProfile);
  profile.spec.resource_ratio = "1.5";
  profile.metadata.annotations["quota.scheduling.koordinator.sh/resource-keys"] =
      R"(["cpu","nvidia.com/gpu"])";
  const auto quota = QuotaForProfile(profile, "t", {Node("a", true, "p")}, nullptr);
  EXPECT_EQ(kube::Serialize(kube::Encode(quota->spec.min)), R"({"cpu":"10","nvidia.com/gpu":"0"})");
}

TEST(QuotaProfileTest, ASelectorThatCannotBeReadIsAnError) {
  auto profile = Read<api::ElasticQuotaProfile>(kProfile);
  profile.spec.node_selector.match_expressions = {{"a", "Near", {}}};
  EXPECT_FALSE(QuotaForProfile(profile, "t", {}, nullptr).ok());
}

// The controller against a server that is played by hand.
class QuotaProfileControllerTest : public testing::Test {
 protected:
  struct Events final : kube::EventRecorder {
    void Record(const Note& note) override { notes.push_back(note); }
    std::vector<Note> notes;
  };

  kube::Json List(const kube::Resource& resource, std::vector<kube::Json> items) {
    kube::json::array array(items.begin(), items.end());
    return {{"apiVersion", resource.api_version()},
            {"kind", resource.kind + "List"},
            {"metadata", {{"resourceVersion", "10"}}},
            {"items", std::move(array)}};
  }
  // Answers lists; watches stay open.
  void ServeLists(const std::vector<kube::Json>& profiles) {
    loop_.RunReady();
    while (server_.waiting() > 0) {
      auto exchange = server_.Take();
      const std::string& target = exchange.request.target;
      if (target.find("watch=") != target.npos) {
        if (target.find("sendInitialEvents") != target.npos) {
          exchange.Fail(kube::ApiError::Of(422, "no streaming lists"));
        } else {
          exchange.StartWatch();
        }
      } else if (target.find("elasticquotaprofiles") != target.npos) {
        exchange.Answer(List(api::kElasticQuotaProfiles, profiles));
      } else if (target.find("elasticquotas") != target.npos) {
        exchange.Answer(List(api::kElasticQuotas, {}));
      } else {
        exchange.Answer(
            List(kube::kNodes, {kube::EncodeObject(kube::kNodes, *Node("a", true, "p"))}));
      }
      loop_.RunReady();
    }
  }

  VirtualLoop loop_;
  kube::ScriptedHandler server_;
  kube::Client client_{loop_, std::make_shared<kube::InProcessTransport>(loop_, server_), {}};
  kube::InformerSet informers_{client_};
  Events events_;
  QuotaProfileController controller_{
      {{client_, informers_, events_},
       informers_.Use<kube::Node>(kube::kNodes),
       informers_.Use<api::ElasticQuotaProfile>(api::kElasticQuotaProfiles),
       informers_.Use<api::ElasticQuota>(api::kElasticQuotas)}};
};

TEST_F(QuotaProfileControllerTest, StoresTheTreeIdAndThenMakesTheQuota) {
  informers_.Start();
  kube::Json profile =
      kube::EncodeObject(api::kElasticQuotaProfiles, Read<api::ElasticQuotaProfile>(kProfile));
  ServeLists({profile});
  ASSERT_TRUE(informers_.synced());
  controller_.Start();
  loop_.RunReady();

  auto patch = server_.Take();
  EXPECT_EQ(patch.request.method, "PATCH");
  EXPECT_EQ(patch.request.body,
            R"({"metadata":{"labels":{"quota.scheduling.koordinator.sh/tree-id":)"
            R"("9816276314407088615"}}})");
  patch.Answer(profile);
  loop_.RunReady();
}

TEST_F(QuotaProfileControllerTest, TellsOfAQuotaThatIsRefused) {
  informers_.Start();
  auto typed = Read<api::ElasticQuotaProfile>(kProfile);
  typed.metadata.labels.Mutable()["quota.scheduling.koordinator.sh/tree-id"] = "t";
  ServeLists({kube::EncodeObject(api::kElasticQuotaProfiles, typed)});
  controller_.Start();
  loop_.RunReady();

  auto create = server_.Take();
  EXPECT_EQ(create.request.method, "POST");
  create.Fail(kube::ApiError::Of(400, "no such quota"));
  loop_.RunReady();
  ASSERT_EQ(events_.notes.size(), 1u);
  EXPECT_EQ(events_.notes[0].reason, "CreateQuotaFailed");
  EXPECT_EQ(events_.notes[0].message, "failed to create quota, err: no such quota");

  loop_.Advance(std::chrono::seconds(2));
  EXPECT_EQ(server_.Take().request.method, "POST");
}

}  // namespace
}  // namespace koord::manager::quota_profile_test
