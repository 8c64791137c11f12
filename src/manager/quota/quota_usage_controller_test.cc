#include "manager/quota/quota_usage_controller.h"

#include <gtest/gtest.h>

#include <map>

#include "api/keys.h"
#include "api/resources.h"
#include "base/virtual_loop.h"
#include "kube/api_error.h"
#include "kube/events/event_recorders.h"
#include "kube/resources.h"
#include "kube/transport/in_process_transport.h"
#include "kube/yaml.h"

namespace koord::manager::quota_usage_controller_test {
namespace {

using kube::Json;

constexpr char kPods[] = "/api/v1/pods";
constexpr char kQuotas[] = "/apis/scheduling.sigs.k8s.io/v1alpha1/elasticquotas";

// One quota and some pods, as the API server keeps them.
class FakeApi final : public kube::HttpHandler {
 public:
  void Handle(kube::HttpRequest request, std::shared_ptr<kube::ResponseWriter> writer) override {
    const std::string& target = request.target;
    if (target.find("sendInitialEvents") != target.npos) return writer->Finish({422, {}, "{}"});
    const std::string path = target.substr(0, target.find('?'));
    if (target.find("watch=") != target.npos) {
      writer->StartStream({200, {}, ""});
      watches_[path] = writer;
      return;
    }
    if (request.method == "PATCH") return Patch(*kube::ParseJson(request.body), *writer);
    kube::json::array items;
    if (path == kQuotas) items.push_back(quota);
    writer->Finish({200,
                    {},
                    kube::Serialize({{"kind", "List"},
                                     {"metadata", {{"resourceVersion", "1"}}},
                                     {"items", std::move(items)}})});
  }

  void Tell(const std::string& path, std::string_view type, const Json& object) {
    watches_[path]->Write(std::make_shared<const std::string>(
        kube::Serialize({{"type", type}, {"object", object}}) + "\n"));
  }
  // Somebody else writes it.
  void Charge(std::string_view used) {
    kube::At(quota, {"metadata", "annotations", api::kAnnotationQuotaChildRequest}) = used;
    kube::At(quota, {"metadata", "resourceVersion"}) = std::to_string(++version_);
  }
  void TellQuota() { Tell(kQuotas, "MODIFIED", quota); }
  std::string_view charged() const {
    return kube::FindString(quota, {"metadata", "annotations", api::kAnnotationQuotaChildRequest});
  }

  Json quota = *kube::ParseYaml(
      "{apiVersion: scheduling.sigs.k8s.io/v1alpha1, kind: ElasticQuota, metadata: {name: q, "
      "namespace: team, uid: u, resourceVersion: '1', annotations: {}}, "
      "spec: {max: {cpu: 10}}}");
  int writes = 0;

 private:
  void Patch(const Json& patch, kube::ResponseWriter& writer) {
    if (kube::FindString(patch, {"metadata", "resourceVersion"}) !=
        kube::FindString(quota, {"metadata", "resourceVersion"})) {
      const kube::ApiError error = kube::ApiError::Of(409, "it has changed");
      return writer.Finish({409, {}, kube::Serialize(error.ToJson())});
    }
    ++writes;
    Charge(kube::FindString(patch, {"metadata", "annotations", api::kAnnotationQuotaChildRequest}));
    writer.Finish({200, {}, kube::Serialize(quota)});
    TellQuota();
  }

  int version_ = 1;
  std::map<std::string, std::shared_ptr<kube::ResponseWriter>> watches_;
};

class QuotaUsageControllerTest : public testing::Test {
 protected:
  Json Pod(std::string_view name, std::string_view cpu, std::string_view phase = "Running") {
    auto pod = kube::ParseYaml(fmt::format(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: {0}, namespace: default, uid: {0}, "
        "resourceVersion: '{3}', labels: {{quota.scheduling.koordinator.sh/name: q}}}}, spec: "
        "{{containers: [{{name: c, resources: {{requests: {{cpu: {1}, memory: 1Gi}}}}}}]}}, "
        "status: {{phase: {2}}}}}",
        name, cpu, phase, ++version_));
    EXPECT_TRUE(pod.ok()) << Message(pod.status());
    return *pod;
  }
  void Start(std::string_view charged) {
    if (!charged.empty()) {
      kube::At(api_.quota, {"metadata", "annotations", api::kAnnotationQuotaChildRequest}) =
          charged;
    }
    informers_.Start();
    loop_.RunReady();
    ASSERT_TRUE(informers_.synced());
    controller_.Start();
    loop_.RunReady();
  }
  void Tell(std::string_view type, const Json& pod) { api_.Tell(kPods, type, pod); }

  int version_ = 1;
  VirtualLoop loop_;
  FakeApi api_;
  kube::Client client_{loop_, std::make_shared<kube::InProcessTransport>(loop_, api_), {.qps = 0}};
  kube::InformerSet informers_{client_};
  kube::EventRecorders recorders_{client_, 1};
  QuotaUsageController controller_{{{client_, informers_, recorders_.For("quotausage-controller")},
                                    informers_.Use<kube::Pod>(kube::kPods),
                                    informers_.Use<api::ElasticQuota>(api::kElasticQuotas)},
                                   {}};
};

TEST_F(QuotaUsageControllerTest, PodsThatExistAreCharged) {
  Start("");
  Tell("ADDED", Pod("a", "2"));
  Tell("ADDED", Pod("b", "500m"));
  loop_.Advance(std::chrono::seconds(2));
  EXPECT_EQ(api_.charged(), R"({"cpu":"2500m"})");
  EXPECT_EQ(api_.writes, 1);
  loop_.Advance(std::chrono::minutes(5));
  EXPECT_EQ(api_.writes, 1) << "nothing has changed";
}

TEST_F(QuotaUsageControllerTest, WhatEndsIsGivenBackAtOnce) {
  Start(R"({"cpu":"3"})");
  Tell("ADDED", Pod("a", "2"));
  Tell("ADDED", Pod("b", "1"));
  loop_.Advance(std::chrono::seconds(2));
  EXPECT_EQ(api_.writes, 0) << "it is as it should be";
  Tell("DELETED", Pod("a", "2"));
  loop_.Advance(std::chrono::seconds(2));
  EXPECT_EQ(api_.charged(), R"({"cpu":"1"})");
  Tell("MODIFIED", Pod("b", "1", "Succeeded"));
  loop_.Advance(std::chrono::seconds(2));
  EXPECT_EQ(api_.charged(), R"({"cpu":"0"})");
}

// Charged, and then refused by somebody else.
TEST_F(QuotaUsageControllerTest, WhatIsForNobodyIsGivenBackAfterAWhile) {
  Start(R"({"cpu":"3"})");
  Tell("ADDED", Pod("a", "1"));
  loop_.Advance(QuotaUsageController::kPatience - std::chrono::seconds(1));
  EXPECT_EQ(api_.charged(), R"({"cpu":"3"})") << "its pods may be about to come";
  loop_.Advance(2 * QuotaUsageController::kPatience);
  EXPECT_EQ(api_.charged(), R"({"cpu":"1"})");
}

// However much is going on: what is in excess at every moment is for nobody, what comes and turns
// into a pod is not touched.
TEST_F(QuotaUsageControllerTest, PodsThatAreAboutToComeKeepWhatTheyWereCharged) {
  Start(R"({"cpu":"2"})");
  for (int i = 1; i <= 70; ++i) {
    // The charge is seen well before its pod; the one before goes.
    auto used = *kube::ParseJson(api_.charged());
    const auto cpu = *kube::Quantity::Parse(kube::FindString(used, {"cpu"}));
    api_.Charge(fmt::format(R"({{"cpu":"{}"}})", (cpu + kube::Quantity(1)).ToString()));
    api_.TellQuota();
    loop_.Advance(std::chrono::milliseconds(500));
    Tell("ADDED", Pod(fmt::format("p{}", i), "1"));
    if (i > 1) Tell("DELETED", Pod(fmt::format("p{}", i - 1), "1"));
    loop_.Advance(std::chrono::milliseconds(1500));
    const auto left =
        *kube::Quantity::Parse(kube::FindString(*kube::ParseJson(api_.charged()), {"cpu"}));
    ASSERT_GE(left, kube::Quantity(1)) << "less than there is, after " << i;
  }
  loop_.Advance(std::chrono::seconds(2));
  EXPECT_EQ(api_.charged(), R"({"cpu":"1"})");
}

TEST_F(QuotaUsageControllerTest, NonsenseIsCountedAnew) {
  Start(R"({"cpu":"-970"})");
  Tell("ADDED", Pod("a", "1"));
  loop_.Advance(std::chrono::seconds(2));
  EXPECT_EQ(api_.charged(), R"({"cpu":"1"})");
  api_.Charge("{");
  api_.TellQuota();
  loop_.Advance(std::chrono::seconds(2));
  EXPECT_EQ(api_.charged(), R"({"cpu":"1"})");
}

// The write rests on what is not so any more: it is refused and made anew.
TEST_F(QuotaUsageControllerTest, NobodysChargeIsOverwritten) {
  Start(R"({"cpu":"2"})");
  Tell("ADDED", Pod("a", "2"));
  loop_.Advance(std::chrono::seconds(2));
  api_.Charge(R"({"cpu":"7"})");  // and the watch is behind
  Tell("DELETED", Pod("a", "2"));
  loop_.Advance(std::chrono::seconds(2));
  EXPECT_EQ(api_.charged(), R"({"cpu":"7"})");
  api_.TellQuota();
  loop_.Advance(std::chrono::seconds(5));
  EXPECT_EQ(api_.charged(), R"({"cpu":"5"})");
}

}  // namespace
}  // namespace koord::manager::quota_usage_controller_test
