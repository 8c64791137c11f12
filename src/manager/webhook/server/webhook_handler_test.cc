#include "manager/webhook/server/webhook_handler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "manager/webhook/review/fake_view_testing.h"
#include "program/ask_testing.h"

namespace koord::manager::webhook::webhook_handler_test {
namespace {

using kube::HttpResponse;
using kube::Json;
using testing::HasSubstr;

class WebhookHandlerTest : public testing::Test {
 protected:
  WebhookHandler& handler() {
    if (!handler_) {
      handler_.emplace(WebhookHandler::Inputs{.view = view_,
                                              .clock = view_.loop.clock(),
                                              .metrics = registry_,
                                              .is_ready = [this] { return ready_; }},
                       options_);
    }
    return *handler_;
  }
  HttpResponse Post(std::string path, std::string body,
                    std::string content_type = "application/json",
                    std::optional<kube::UserInfo> user = {}) {
    const auto recorder = std::make_shared<program::Recorder>();
    kube::HttpRequest request{.method = "POST", .target = std::move(path), .body = std::move(body)};
    request.headers.Set("Content-Type", std::move(content_type));
    request.user = std::move(user);
    handler().Handle(std::move(request), recorder);
    return recorder->answer.value_or(HttpResponse{.status = 0});
  }
  static std::string Review(std::string_view object) {
    return kube::Serialize({{"apiVersion", "admission.k8s.io/v1"},
                            {"kind", "AdmissionReview"},
                            {"request",
                             {{"uid", "u1"},
                              {"operation", "CREATE"},
                              {"namespace", "default"},
                              {"resource", {{"group", ""}, {"resource", "pods"}}},
                              {"userInfo", {{"username", "alice"}}},
                              {"object", Yaml(object)}}}});
  }

  FakeView view_;
  HandlerOptions options_;
  metrics::Registry registry_;
  bool ready_ = true;
  std::optional<WebhookHandler> handler_;
};

TEST_F(WebhookHandlerTest, AnswersReviews) {
  const HttpResponse response =
      Post("/validate-pod?timeout=10s",
           Review("{metadata: {annotations: {scheduling.koordinator.sh/reserve-pod: ''}}}"));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.headers.Get("Content-Type"), "application/json");
  EXPECT_EQ(response.body,
            R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"u1")"
            R"(,"allowed":false,"status":{"code":400,"message":)"
            R"("annotations.scheduling.koordinator.sh/reserve-pod: Forbidden: cannot set in )"
            R"(annotations"}}})");
  EXPECT_THAT(registry_.Text(),
              HasSubstr("koord_manager_webhook_webhook_duration_milliseconds_count{object_type="
                        "\"pod\",operation=\"CREATE\",plugin_name=\"ClusterReservation\",status="
                        "\"rejected\",webhook_type=\"validate\"} 1"));
}

TEST_F(WebhookHandlerTest, WhatIsNoReviewGets400AndAMessage) {
  for (const std::string& body :
       {std::string(), std::string("{"), std::string(10'000, '['), std::string("\0\1\2", 3),
        std::string(R"({"apiVersion":"v1","kind":"List"})"), std::string("null")}) {
    const HttpResponse response = Post("/mutate-pod", body);
    EXPECT_EQ(response.status, 400);
    const Json answer = *kube::ParseJson(response.body);
    EXPECT_EQ(kube::FindInt(answer, {"response", "status", "code"}), 400);
    EXPECT_FALSE(kube::FindBool(answer, {"response", "allowed"}, true));
    EXPECT_NE(kube::FindString(answer, {"response", "status", "message"}), "");
  }
  EXPECT_EQ(Post("/mutate-pod", Review("{}"), "text/plain").status, 400);
}

// As deep, wide and wrong as it can be: an answer in time that grows with the body alone, and that
// is no larger than a person reads.
TEST_F(WebhookHandlerTest, HostileReviewsGetAShortAnswer) {
  options_.features.validate_pod_device_resource = true;
  const auto nested = [](std::string_view open, std::string_view close) {
    std::string object;
    for (int i = 0; i < 10'000; ++i) object += open;
    object += "1";
    for (int i = 0; i < 10'000; ++i) object += close;
    return R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u",)"
           R"("operation":"CREATE","object":)" +
           object + "}}";
  };
  for (const std::string& body : {nested("[", "]"), nested("{\"a\":", "}")}) {
    const HttpResponse response = Post("/validate-pod", body);
    EXPECT_EQ(response.status, 400);
    EXPECT_THAT(response.body, HasSubstr("invalid JSON"));
    EXPECT_LT(response.body.size(), 1000u);
  }
  kube::json::array containers;
  for (int i = 0; i < 30'000; ++i) {  // each wrong in its own way
    const kube::json::object requests{{"koordinator.sh/gpu", std::to_string(101 + i * 100)}};
    containers.push_back({{"name", "c"}, {"resources", {{"requests", requests}}}});
  }
  kube::json::object annotations;
  for (int i = 0; i < 30'000; ++i) annotations["koordinator.sh/" + std::to_string(i)] = "[[[[";
  Json review = *kube::ParseJson(Review("{}"));
  kube::At(review, {"request", "object"}) = {{"metadata", {{"annotations", annotations}}},
                                             {"spec", {{"containers", containers}}}};
  for (const char* path :
       {"/validate-pod", "/mutate-pod", "/validate-pod-keys", "/validate-reservation",
        "/validate-scheduling-sigs-k8s-io-v1alpha1-elasticquota", "/validate-unsupported"}) {
    const HttpResponse response = Post(path, kube::Serialize(review));
    EXPECT_EQ(response.status, 200) << path;
    if (std::string_view(path) == "/mutate-pod") continue;  // the patch is as long as it has to be
    EXPECT_LT(response.body.size(), 20'000u) << path;
  }
  EXPECT_THAT(Post("/validate-pod", kube::Serialize(review)).body, HasSubstr(", and 29950 more]"));
}

TEST_F(WebhookHandlerTest, OnlyWhatIsSwitchedOnIsThere) {
  const std::set<std::string, std::less<>> expected{
      "/mutate-pod",
      "/validate-pod",
      "/validate-pod-keys",
      "/validate-reservation",
      "/validate-unsupported",
      "/mutate-scheduling-sigs-k8s-io-v1alpha1-elasticquota",
      "/validate-scheduling-sigs-k8s-io-v1alpha1-elasticquota"};
  EXPECT_EQ(handler().paths(), expected);
  EXPECT_EQ(Post("/mutate-node-status", Review("{}")).status, 404);
  EXPECT_EQ(program::Ask(handler(), "GET", "/mutate-pod").status, 405);
  EXPECT_EQ(program::Ask(handler(), "GET", "/healthz").body, "ok");
}

TEST_F(WebhookHandlerTest, QuotasAreNotShownToEverybody) {
  const auto answer = program::Ask(handler(), "GET", "/elasticQuota");
  EXPECT_EQ(answer.status, 403);
  EXPECT_THAT(answer.body, HasSubstr("--secure-port"));
}

TEST_F(WebhookHandlerTest, WhatIsNoReviewIsRefusedBeforeItsBodyIsRead) {
  options_.require_client_certificate = true;
  const auto check = [&](const std::string& method, const std::string& target, bool known) {
    kube::HttpRequest head{.method = method, .target = target};
    if (known) head.user = kube::UserInfo{.name = "kube-apiserver"};
    int status = 0;
    handler().Check(head, [&](std::optional<kube::HttpResponse> refusal) {
      status = refusal ? refusal->status : 200;
    });
    return status;
  };
  EXPECT_EQ(check("POST", "/mutate-pod", true), 200);
  EXPECT_EQ(check("POST", "/mutate-pod", false), 401);
  EXPECT_EQ(check("PUT", "/mutate-pod", true), 405);
  EXPECT_EQ(check("POST", "/no-such", true), 404);
}

TEST_F(WebhookHandlerTest, WhereEverybodyIsTrustedNoKeysAreGuarded) {
  options_.trust.trust_everyone = true;
  EXPECT_FALSE(handler().paths().contains("/validate-pod-keys"));
  EXPECT_FALSE(handler().paths().contains("/validate-reservation"));
}

TEST_F(WebhookHandlerTest, BindingsAreAskedAboutOnlyWhereSomeAreRefused) {
  options_.features.binding_admission = true;
  EXPECT_TRUE(handler().paths().contains("/validate-pod-binding"));
}

TEST_F(WebhookHandlerTest, SendsCallersAwayUntilItKnowsTheCluster) {
  ready_ = false;
  EXPECT_EQ(Post("/mutate-pod", Review("{}")).status, 503);
}

TEST_F(WebhookHandlerTest, AsksForACertificateWhereConfigured) {
  options_.require_client_certificate = true;
  EXPECT_EQ(Post("/mutate-pod", Review("{}")).status, 401);
  EXPECT_EQ(program::Ask(handler(), "GET", "/elasticQuota").status, 401);
  EXPECT_EQ(program::Ask(handler(), "GET", "/healthz").status, 200);
  EXPECT_EQ(Post("/mutate-pod", Review("{}"), "application/json",
                 kube::UserInfo{.name = "kube-apiserver"})
                .status,
            200);
}

TEST_F(WebhookHandlerTest, ACertificateMustBeForOneOfThoseNamed) {
  options_.require_client_certificate = true;
  options_.client_names = {"kube-apiserver"};
  const auto as = [&](const char* name) {
    return Post("/mutate-pod", Review("{}"), "application/json", kube::UserInfo{.name = name})
        .status;
  };
  EXPECT_EQ(as("kube-apiserver"), 200);
  EXPECT_EQ(as("system:node:a"), 403);
  EXPECT_EQ(Post("/mutate-pod", Review("{}")).status, 401);
}

}  // namespace
}  // namespace koord::manager::webhook::webhook_handler_test
