#include "localcluster/apiserver/admission/webhooks.h"

#include <gtest/gtest.h>

#include <map>

#include "base/strings.h"
#include "base/virtual_loop.h"
#include "kube/api_error.h"
#include "kube/transport/in_process_transport.h"
#include "localcluster/apiserver/registry/registry_testing.h"

namespace koord::apiserver::webhooks_test {
namespace {

using kube::Json;
namespace json = kube::json;

// Plays every webhook of a test: answers by path, and remembers what it was asked.
class FakeWebhooks final : public kube::HttpHandler {
 public:
  // Makes `response` of the review's request.
  using Answer = std::function<json::object(const Json& request)>;

  void Handle(kube::HttpRequest request, std::shared_ptr<kube::ResponseWriter> writer) override {
    const std::string path = request.target.substr(0, request.target.find('?'));
    const Json review = Parse(request.body);
    calls.push_back(path);
    requests.push_back(std::move(request));
    reviews.push_back(review);
    if (silent) {
      unanswered.push_back(std::move(writer));
      return;
    }
    if (raw.contains(path)) return writer->Finish(raw[path]);
    json::object response = answers.contains(path) ? answers[path](review.at("request"))
                                                   : json::object{{"allowed", true}};
    response.emplace("uid", review.at("request").at("uid"));
    writer->Finish({200,
                    {},
                    kube::Serialize(json::object{{"kind", "AdmissionReview"},
                                                 {"apiVersion", review.at("apiVersion")},
                                                 {"response", response}})});
  }

  std::map<std::string, Answer> answers;
  std::map<std::string, kube::HttpResponse> raw;
  bool silent = false;
  std::vector<std::string> calls;
  std::vector<kube::HttpRequest> requests;
  std::vector<Json> reviews;
  std::vector<std::shared_ptr<kube::ResponseWriter>> unanswered;
};

FakeWebhooks::Answer Patch(std::string patch) {
  return [patch](const Json&) {
    return json::object{
        {"allowed", true}, {"patch", Base64Encode(patch)}, {"patchType", "JSONPatch"}};
  };
}

FakeWebhooks::Answer Deny(Json status) {
  return [status](const Json&) { return json::object{{"allowed", false}, {"status", status}}; };
}

class WebhooksTest : public testing::Test {
 protected:
  WebhooksTest() : transport_(std::make_shared<kube::InProcessTransport>(loop_, fake_)) {
    environment_.transport =
        [this](const WebhookTarget& target) -> StatusOr<std::shared_ptr<kube::Transport>> {
      targets_.push_back(target);
      return transport_;
    };
    environment_.resolve = [](const ServiceReference& service) -> StatusOr<Endpoint> {
      if (service.name == "missing") return NotFound("service \"missing\" not found");
      return Endpoint{"10.0.0.1", 9443};
    };
    environment_.namespace_labels = [](std::string_view ns) -> Json {
      return ns == "labelled" ? Json(json::object{{"env", "prod"}}) : Json();
    };
    webhooks_ = std::make_unique<Webhooks>(environment_, 1);
  }

  // A webhook for the creation of pods, at /<name up to the first dot>.
  static std::string Hook(std::string_view name, std::string_view extras = "") {
    return fmt::format(R"({{"name": "{}", "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "clientConfig": {{"url": "https://hooks.example.com/{}"}},
        "rules": [{{"operations": ["CREATE", "UPDATE", "DELETE"], "apiGroups": [""],
                    "apiVersions": ["v1"], "resources": ["pods"]}}]{}}})",
                       name, name.substr(0, name.find('.')), extras);
  }
  static Json Configuration(std::string_view name, std::vector<std::string> hooks) {
    return Parse(fmt::format(R"({{"metadata": {{"name": "{}"}}, "webhooks": [{}]}})", name,
                             Join(hooks, ",")));
  }
  void SetMutating(std::vector<std::string> hooks) {
    webhooks_->SetMutating({Configuration("m", std::move(hooks))});
  }
  void SetValidating(std::vector<std::string> hooks) {
    webhooks_->SetValidating({Configuration("v", std::move(hooks))});
  }

  static AdmissionRequest CreatePod() {
    AdmissionRequest request;
    request.resource = {"", "v1", "pods", "Pod"};
    request.name = "p";
    request.ns = "default";
    request.object = Parse(R"({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "p", "labels": {"app": "x"}}, "spec": {}})");
    request.options = Parse(R"({"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"})");
    request.user.name = "jane";
    request.user.groups = {"devs"};
    return request;
  }

  Webhooks::Outcome Mutate(AdmissionRequest request = CreatePod()) {
    return Wait(
        [&](Webhooks::Done done) { webhooks_->Mutate(std::move(request), std::move(done)); });
  }
  Webhooks::Outcome Validate(AdmissionRequest request = CreatePod()) {
    return Wait(
        [&](Webhooks::Done done) { webhooks_->Validate(std::move(request), std::move(done)); });
  }

  template <class Start>
  Webhooks::Outcome Wait(Start start) {
    std::optional<Webhooks::Outcome> outcome;
    start([&](Webhooks::Outcome result) { outcome = std::move(result); });
    EXPECT_TRUE(loop_.RunUntil([&] { return outcome.has_value(); }, std::chrono::minutes(5)));
    return outcome ? std::move(*outcome) : Webhooks::Outcome{Internal("never answered"), {}, {}};
  }

  static std::string ErrorText(const Webhooks::Outcome& outcome) {
    const auto error = kube::AsApiError(outcome.status);
    if (!error) return outcome.status.ok() ? "" : outcome.status.ToString();
    return fmt::format("{} {} {}", error->code, error->reason, error->message);
  }

  std::string Calls() const { return Join(fake_.calls, " "); }

  VirtualLoop loop_;
  FakeWebhooks fake_;
  std::shared_ptr<kube::InProcessTransport> transport_;
  WebhookEnvironment environment_;
  std::vector<WebhookTarget> targets_;
  std::unique_ptr<Webhooks> webhooks_;
};

TEST_F(WebhooksTest, WithoutWebhooksNothingIsAsked) {
  bool done = false;
  webhooks_->Mutate(CreatePod(), [&](Webhooks::Outcome outcome) {
    done = true;
    EXPECT_TRUE(outcome.status.ok());
    EXPECT_EQ(outcome.object, CreatePod().object);
  });
  EXPECT_TRUE(done) << "at once, without a turn of the loop";
}

TEST_F(WebhooksTest, WhatIsKnownToBeNeedlessIsNotAsked) {
  environment_.is_needless = [](const ServiceReference& service, std::string_view path,
                                const AdmissionRequest& request) {
    return service.name == "known" && path == "/a" && request.ns == "default";
  };
  webhooks_ = std::make_unique<Webhooks>(environment_, 1);
  const auto hook = [](std::string_view service) {
    return fmt::format(R"({{"name": "{0}.b.c", "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "clientConfig": {{"service": {{"namespace": "x", "name": "{0}", "path": "/a"}}}},
        "rules": [{{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"],
                    "resources": ["pods"]}}]}})",
                       service);
  };
  SetValidating({hook("known"), hook("other")});
  EXPECT_EQ(ErrorText(Validate()), "");
  EXPECT_EQ(fake_.reviews.size(), 1u) << "nobody knows of the other";
  AdmissionRequest elsewhere = CreatePod();
  elsewhere.ns = "elsewhere";
  EXPECT_EQ(ErrorText(Validate(elsewhere)), "");
  EXPECT_EQ(fake_.reviews.size(), 3u);
}

TEST_F(WebhooksTest, SendsTheWholeReview) {
  SetValidating({Hook("a.b.c", R"(, "timeoutSeconds": 7)")});
  AdmissionRequest request = CreatePod();
  request.operation = Operation::kUpdate;
  request.subresource = "";
  request.old_object = Parse(R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}})");
  request.user.uid = "u1";
  request.user.extra = {{"scopes", {"x", "y"}}};
  request.dry_run = true;
  EXPECT_EQ(ErrorText(Validate(request)), "");
  ASSERT_EQ(fake_.reviews.size(), 1u);
  EXPECT_EQ(fake_.requests[0].method, "POST");
  EXPECT_EQ(fake_.requests[0].target, "/a?timeout=7s");
  EXPECT_EQ(fake_.requests[0].headers.Get("content-type"), "application/json");
  EXPECT_EQ(fake_.requests[0].headers.Get("host"), "hooks.example.com:443");

  Json review = fake_.reviews[0];
  const std::string uid(kube::FindString(review, {"request", "uid"}));
  EXPECT_EQ(uid.size(), 36u);
  EXPECT_EQ(review, Parse(fmt::format(R"({{
      "kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": {{
        "uid": "{}",
        "kind": {{"group": "", "version": "v1", "kind": "Pod"}},
        "resource": {{"group": "", "version": "v1", "resource": "pods"}},
        "requestKind": {{"group": "", "version": "v1", "kind": "Pod"}},
        "requestResource": {{"group": "", "version": "v1", "resource": "pods"}},
        "name": "p", "namespace": "default", "operation": "UPDATE",
        "userInfo": {{"username": "jane", "uid": "u1", "groups": ["devs"],
                      "extra": {{"scopes": ["x", "y"]}}}},
        "object": {{"apiVersion": "v1", "kind": "Pod",
                    "metadata": {{"name": "p", "labels": {{"app": "x"}}}}, "spec": {{}}}},
        "oldObject": {{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "p"}}}},
        "dryRun": true,
        "options": {{"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"}}}}}})",
                                      uid)))
      << review;
}

TEST_F(WebhooksTest, SubresourcesSpeakOfTheirOwnKind) {
  webhooks_->SetValidating({Parse(R"({"metadata": {"name": "v"}, "webhooks": [{
      "name": "a.b.c", "sideEffects": "None", "admissionReviewVersions": ["v1"],
      "clientConfig": {"url": "https://h/a"},
      "rules": [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["pods/binding"]}]}]})")});
  AdmissionRequest request = CreatePod();
  request.subresource = "binding";
  request.object = Parse(R"({"apiVersion": "v1", "kind": "Binding", "target": {"name": "n"}})");
  Validate(request);
  ASSERT_EQ(fake_.reviews.size(), 1u);
  const Json& sent = fake_.reviews[0].at("request");
  EXPECT_EQ(sent.at("kind"), Parse(R"({"group": "", "version": "v1", "kind": "Binding"})"));
  EXPECT_EQ(sent.at("subResource"), "binding");
  EXPECT_EQ(sent.at("requestSubResource"), "binding");
}

TEST_F(WebhooksTest, DeleteCarriesTheOldObjectOnly) {
  SetValidating({Hook("a.b.c")});
  AdmissionRequest request = CreatePod();
  request.operation = Operation::kDelete;
  request.old_object = std::exchange(request.object, nullptr);
  Validate(request);
  ASSERT_EQ(fake_.reviews.size(), 1u);
  EXPECT_TRUE(fake_.reviews[0].at("request").at("object").is_null());
  EXPECT_TRUE(fake_.reviews[0].at("request").at("oldObject").is_object());
}

TEST_F(WebhooksTest, MutatesOneAfterTheOther) {
  webhooks_->SetMutating({Configuration("z", {Hook("last.b.c")}),
                          Configuration("a", {Hook("first.b.c"), Hook("second.b.c")})});
  fake_.answers["/first"] = Patch(R"([{"op": "add", "path": "/spec/list", "value": ["first"]}])");
  fake_.answers["/second"] = Patch(R"([{"op": "add", "path": "/spec/list/-", "value": "second"}])");
  fake_.answers["/last"] = Patch(R"([{"op": "add", "path": "/spec/list/-", "value": "last"}])");
  const auto outcome = Mutate();
  EXPECT_EQ(ErrorText(outcome), "");
  EXPECT_EQ(Calls(), "/first /second /last");
  EXPECT_EQ(outcome.object.at("spec").at("list"), Parse(R"(["first", "second", "last"])"));
}

TEST_F(WebhooksTest, CallsAgainWhoeverWantsItIfOthersChangedTheObject) {
  SetMutating({Hook("wants.b.c", R"(, "reinvocationPolicy": "IfNeeded")"), Hook("never.b.c"),
               Hook("changes.b.c", R"(, "reinvocationPolicy": "IfNeeded")")});
  fake_.answers["/changes"] = Patch(R"([{"op": "add", "path": "/spec/x", "value": 1}])");
  EXPECT_EQ(ErrorText(Mutate()), "");
  EXPECT_EQ(Calls(), "/wants /never /changes /wants")
      << "once more for the first; the last saw its own change";
}

TEST_F(WebhooksTest, CallsNobodyAgainIfNothingChanged) {
  SetMutating({Hook("a.b.c", R"(, "reinvocationPolicy": "IfNeeded")"), Hook("b.b.c")});
  fake_.answers["/b"] = Patch(R"([{"op": "test", "path": "/kind", "value": "Pod"}])");
  Mutate();
  EXPECT_EQ(Calls(), "/a /b");
}

TEST_F(WebhooksTest, PutsPatchedObjectsInOrder) {
  SetMutating({Hook("a.b.c"), Hook("b.b.c")});
  fake_.answers["/a"] = Patch(R"([{"op": "add", "path": "/spec/unknown", "value": 1}])");
  AdmissionRequest request = CreatePod();
  request.normalize = [](Json& object) {
    object.at("spec").as_object().erase("unknown");
    object.at("spec").as_object()["defaulted"] = true;
    return absl::OkStatus();
  };
  const auto outcome = Mutate(request);
  EXPECT_EQ(outcome.object.at("spec"), Parse(R"({"defaulted": true})"));
  EXPECT_EQ(fake_.reviews[1].at("request").at("object").at("spec"),
            Parse(R"({"defaulted": true})"));

  request.normalize = [](Json&) {
    return kube::ToStatus(kube::ApiError::Of(422, "no longer valid"));
  };
  EXPECT_EQ(ErrorText(Mutate(request)), "422 Invalid no longer valid");
}

TEST_F(WebhooksTest, Denials) {
  const struct {
    const char* name;
    const char* status;
    const char* error;
  } kCases[] = {
      {"message without code", R"({"message": "no"})",
       "400  admission webhook \"w.x.y\" denied the request: no"},
      {"code and reason", R"({"code": 403, "reason": "Forbidden", "message": "not you"})",
       "403 Forbidden admission webhook \"w.x.y\" denied the request: not you"},
      {"reason only", R"({"reason": "TooBig"})",
       "400 TooBig admission webhook \"w.x.y\" denied the request: TooBig"},
      {"success code", R"({"code": 200, "message": "no"})",
       "400  admission webhook \"w.x.y\" denied the request: no"},
      {"nothing", "null",
       "400  admission webhook \"w.x.y\" denied the request without explanation"},
  };
  for (const auto& c : kCases) {
    fake_.answers["/w"] = Deny(Parse(c.status));
    SetMutating({Hook("w.x.y"), Hook("never.x.y")});
    EXPECT_EQ(ErrorText(Mutate()), c.error) << c.name;
    SetValidating({Hook("w.x.y")});
    EXPECT_EQ(ErrorText(Validate()), c.error) << c.name;
  }
  EXPECT_EQ(Calls().find("/never"), std::string::npos) << "a denial ends the matter";
}

TEST_F(WebhooksTest, PassesOnWarnings) {
  const auto warn = [](const char* text) {
    return [text](const Json&) {
      return json::object{{"allowed", true}, {"warnings", json::array{text}}};
    };
  };
  fake_.answers["/a"] = warn("one");
  fake_.answers["/b"] = warn("two");
  SetMutating({Hook("a.x.y"), Hook("b.x.y")});
  SetValidating({Hook("a.x.y"), Hook("b.x.y")});
  EXPECT_EQ(Mutate().warnings, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(Validate().warnings, (std::vector<std::string>{"one", "two"}));
}

TEST_F(WebhooksTest, ValidatesInParallel) {
  SetValidating({Hook("a.x.y"), Hook("b.x.y"), Hook("c.x.y")});
  fake_.silent = true;
  std::optional<Webhooks::Outcome> outcome;
  webhooks_->Validate(CreatePod(), [&](Webhooks::Outcome result) { outcome = std::move(result); });
  loop_.RunReady();
  EXPECT_EQ(Calls(), "/a /b /c") << "all asked before any has answered";
  const auto answer = [&](size_t index, bool allowed) {
    const Json uid = fake_.reviews[index].at("request").at("uid");
    fake_.unanswered[index]->Finish(
        {200,
         {},
         kube::Serialize(
             json::object{{"kind", "AdmissionReview"},
                          {"apiVersion", "admission.k8s.io/v1"},
                          {"response", json::object{{"uid", uid}, {"allowed", allowed}}}})});
    loop_.RunReady();
  };
  answer(2, false);
  answer(1, false);
  EXPECT_FALSE(outcome.has_value());
  answer(0, true);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(ErrorText(*outcome),
            "400  admission webhook \"b.x.y\" denied the request without explanation")
      << "the first in order, whoever was fastest";
}

TEST_F(WebhooksTest, FailedCalls) {
  const std::string kFailed =
      "500 InternalError Internal error occurred: failed calling webhook \"w.x.y\": failed to call "
      "webhook: ";
  const struct {
    const char* name;
    kube::HttpResponse response;
    const char* error;
  } kCases[] = {
      {"HTTP error", {503, {}, "busy"}, "the webhook answered with HTTP status 503: \"busy\""},
      {"no JSON", {200, {}, "hello"}, "received invalid webhook response: invalid JSON"},
      {"no response",
       {200, {}, R"({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1"})"},
       "received invalid webhook response: webhook response was absent"},
      {"another uid",
       {200,
        {},
        R"({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "response": {"uid": "x", "allowed": true}})"},
       "received invalid webhook response: expected response.uid="},
      {"another kind",
       {200,
        {},
        R"({"kind": "Review", "apiVersion": "admission.k8s.io/v1", "response": {"allowed": true}})"},
       "received invalid webhook response: expected webhook response of admission.k8s.io/v1, "
       "Kind=AdmissionReview, got admission.k8s.io/v1, Kind=Review"},
      {"another version",
       {200,
        {},
        R"({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1beta1", "response": {"allowed": true}})"},
       "received invalid webhook response: expected webhook response of admission.k8s.io/v1"},
  };
  for (const auto& c : kCases) {
    fake_.raw["/w"] = c.response;
    SetMutating({Hook("w.x.y")});
    const std::string error = ErrorText(Mutate());
    EXPECT_EQ(error.substr(0, (kFailed + c.error).size()), kFailed + c.error) << c.name;
    SetMutating({Hook("w.x.y", R"(, "failurePolicy": "Ignore")")});
    EXPECT_EQ(ErrorText(Mutate()), "") << c.name;
    SetValidating({Hook("w.x.y", R"(, "failurePolicy": "Ignore")")});
    EXPECT_EQ(ErrorText(Validate()), "") << c.name;
  }
}

TEST_F(WebhooksTest, PatchesMustBeProper) {
  const struct {
    const char* name;
    json::object response;
    const char* error;
  } kCases[] = {
      {"no type",
       {{"allowed", true}, {"patch", Base64Encode("[]")}},
       "webhook returned response.patch but not response.patchType"},
      {"no patch",
       {{"allowed", true}, {"patchType", "JSONPatch"}},
       "webhook returned response.patchType but not response.patch"},
      {"another type",
       {{"allowed", true}, {"patch", Base64Encode("{}")}, {"patchType", "Merge"}},
       "webhook returned response.patchType of \"Merge\", which is not supported"},
      {"not base64",
       {{"allowed", true}, {"patch", "*"}, {"patchType", "JSONPatch"}},
       "response.patch is not base64"},
  };
  for (const auto& c : kCases) {
    fake_.answers["/w"] = [&](const Json&) { return c.response; };
    SetMutating({Hook("w.x.y")});
    EXPECT_EQ(
        ErrorText(Mutate()),
        "500 InternalError Internal error occurred: failed calling webhook \"w.x.y\": failed to "
        "call webhook: received invalid webhook response: " +
            std::string(c.error))
        << c.name;
  }
  fake_.answers["/w"] = Patch(R"([{"op": "add", "path": "/a", "value": 1}])");
  SetValidating({Hook("w.x.y")});
  EXPECT_EQ(
      ErrorText(Validate()),
      "500 InternalError Internal error occurred: failed calling webhook \"w.x.y\": failed to "
      "call webhook: received invalid webhook response: a validating webhook must not return "
      "response.patch or patchType");
}

TEST_F(WebhooksTest, PatchesMustFit) {
  SetMutating({Hook("w.x.y", R"(, "failurePolicy": "Ignore")")});
  for (const char* patch : {R"([{"op": "remove", "path": "/none"}])", R"({"op": "add"})",
                            R"([{"op": "replace", "path": "", "value": 5}])"}) {
    fake_.answers["/w"] = Patch(patch);
    const std::string error = ErrorText(Mutate());
    EXPECT_TRUE(error.starts_with(
        "500 InternalError Internal error occurred: the patch of admission webhook \"w.x.y\" "))
        << patch << ": " << error;
  }
  AdmissionRequest request = CreatePod();
  request.operation = Operation::kDelete;
  request.old_object = std::exchange(request.object, nullptr);
  fake_.answers["/w"] = Patch(R"([{"op": "add", "path": "/a", "value": 1}])");
  EXPECT_EQ(ErrorText(Mutate(request)),
            "500 InternalError Internal error occurred: admission webhook \"w.x.y\" attempted to "
            "modify the object, which is not supported for this operation");
}

TEST_F(WebhooksTest, OldReviewsAreReadLeniently) {
  const std::string kBeta =
      R"({"name": "w.x.y", "sideEffects": "None", "admissionReviewVersions": ["v1beta1", "v2"],
          "clientConfig": {"url": "https://h/w"},
          "rules": [{"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}]})";
  fake_.raw["/w"] = {
      200,
      {},
      kube::Serialize(json::object{
          {"response",
           json::object{
               {"allowed", true},
               {"patch", Base64Encode(R"([{"op": "add", "path": "/spec/x", "value": 1}])")}}}})};
  SetMutating({kBeta});
  const auto outcome = Mutate();
  EXPECT_EQ(ErrorText(outcome), "");
  EXPECT_EQ(outcome.object.at("spec"), Parse(R"({"x": 1})"));
  EXPECT_EQ(fake_.reviews[0].at("apiVersion"), "admission.k8s.io/v1beta1");
  SetValidating({kBeta});
  EXPECT_EQ(ErrorText(Validate()), "") << "a patch is simply ignored";
}

TEST_F(WebhooksTest, TimeOut) {
  fake_.silent = true;
  SetMutating({Hook("w.x.y", R"(, "timeoutSeconds": 3)")});
  const auto start = loop_.clock().Steady();
  EXPECT_EQ(
      ErrorText(Mutate()),
      "500 InternalError Internal error occurred: failed calling webhook \"w.x.y\": failed to "
      "call webhook: Post \"https://hooks.example.com:443/w?timeout=3s\": context deadline "
      "exceeded");
  EXPECT_EQ(loop_.clock().Steady() - start, std::chrono::seconds(3));
}

TEST_F(WebhooksTest, ServicesAreResolved) {
  const auto hook = [](std::string_view service) {
    return fmt::format(
        R"({{"name": "w.x.y", "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "clientConfig": {{"caBundle": "{}", "service": {{"namespace": "koordinator-system", "name": "{}",
                          "path": "/mutate", "port": 8443}}}},
        "rules": [{{"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}}]}})",
        Base64Encode("PEM"), service);
  };
  SetMutating({hook("hooks")});
  EXPECT_EQ(ErrorText(Mutate()), "");
  EXPECT_EQ(Calls(), "/mutate");
  ASSERT_EQ(targets_.size(), 1u);
  EXPECT_EQ(targets_[0], (WebhookTarget{"10.0.0.1", 9443, "hooks.koordinator-system.svc", "PEM"}));
  Mutate();
  EXPECT_EQ(targets_.size(), 1u) << "the connection is kept";

  SetMutating({hook("missing")});
  EXPECT_EQ(
      ErrorText(Mutate()),
      "500 InternalError Internal error occurred: failed calling webhook \"w.x.y\": failed to "
      "call webhook: service \"missing\" not found");
}

TEST_F(WebhooksTest, DryRunNeedsWebhooksWithoutSideEffects) {
  AdmissionRequest request = CreatePod();
  request.dry_run = true;
  std::string some = Hook("w.x.y");
  some.replace(some.find("\"None\""), 6, "\"Some\"");
  SetMutating({some});
  SetValidating({some});
  const std::string kError = "400 BadRequest admission webhook \"w.x.y\" does not support dry run";
  EXPECT_EQ(ErrorText(Mutate(request)), kError);
  EXPECT_EQ(ErrorText(Validate(request)), kError);
  EXPECT_EQ(Calls(), "");
  EXPECT_EQ(ErrorText(Mutate()), "");
}

AdmissionRequest RequestFor(kube::Resource resource, std::string subresource = "",
                            Operation operation = Operation::kCreate) {
  AdmissionRequest request;
  request.resource = std::move(resource);
  request.subresource = std::move(subresource);
  request.operation = operation;
  request.ns = request.resource.namespaced ? "default" : "";
  request.object = Parse(R"({"metadata": {"name": "x", "labels": {"app": "x"}}})");
  return request;
}

TEST_F(WebhooksTest, Matching) {
  const kube::Resource kPods{"", "v1", "pods", "Pod"};
  const kube::Resource kNodes{"", "v1", "nodes", "Node", false};
  const kube::Resource kNamespaces{"", "v1", "namespaces", "Namespace", false};
  const kube::Resource kDeployments{"apps", "v1", "deployments", "Deployment"};
  const char* kAll =
      R"("operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"])";
  const auto rule = [](const char* resource) {
    return fmt::format(
        R"("operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["{}"])",
        resource);
  };
  const auto matches = [&](std::string_view hook, std::string_view rules,
                           AdmissionRequest request) {
    webhooks_->SetValidating({Parse(fmt::format(
        R"({{"metadata": {{"name": "v"}}, "webhooks": [{{"name": "a.b.c", "sideEffects": "None",
            "admissionReviewVersions": ["v1"], "clientConfig": {{"url": "https://h/a"}}{},
            "rules": [{{{}}}]}}]}})",
        hook, rules))});
    fake_.calls.clear();
    const bool may = webhooks_->Validates(request.operation, request.resource, request.subresource);
    EXPECT_EQ(ErrorText(Validate(std::move(request))), "");
    EXPECT_TRUE(may || fake_.calls.empty()) << "the quick look must not miss anything";
    return !fake_.calls.empty();
  };

  EXPECT_TRUE(matches("", kAll, RequestFor(kPods)));
  EXPECT_TRUE(matches("", kAll, RequestFor(kPods, "status")));
  EXPECT_TRUE(matches("", rule("*"), RequestFor(kPods)));
  EXPECT_FALSE(matches("", rule("*"), RequestFor(kPods, "status")));
  EXPECT_TRUE(matches("", rule("pods/*"), RequestFor(kPods, "status")));
  EXPECT_FALSE(matches("", rule("pods/*"), RequestFor(kDeployments, "status")));
  EXPECT_TRUE(matches("", rule("*/status"), RequestFor(kDeployments, "status")));
  EXPECT_FALSE(matches("", rule("*/status"), RequestFor(kDeployments, "scale")));
  EXPECT_FALSE(matches("", rule("pods"), RequestFor(kDeployments)));

  const char* kCreateOnly =
      R"("operations": ["CREATE"], "apiGroups": ["apps"], "apiVersions": ["v1"], "resources": ["deployments"])";
  EXPECT_TRUE(matches("", kCreateOnly, RequestFor(kDeployments)));
  EXPECT_FALSE(matches("", kCreateOnly, RequestFor(kDeployments, "", Operation::kUpdate)));
  EXPECT_FALSE(
      matches("", kCreateOnly, RequestFor({"extensions", "v1", "deployments", "Deployment"})));

  const std::string kNamespaced = std::string(kAll) + R"(, "scope": "Namespaced")";
  const std::string kCluster = std::string(kAll) + R"(, "scope": "Cluster")";
  EXPECT_TRUE(matches("", kNamespaced, RequestFor(kPods)));
  EXPECT_FALSE(matches("", kNamespaced, RequestFor(kNodes)));
  EXPECT_FALSE(matches("", kNamespaced, RequestFor(kNamespaces)));
  EXPECT_TRUE(matches("", kCluster, RequestFor(kNamespaces)));
  EXPECT_FALSE(matches("", kCluster, RequestFor(kPods)));

  const char* kProd = R"(, "namespaceSelector": {"matchLabels": {"env": "prod"}})";
  AdmissionRequest labelled = RequestFor(kPods);
  labelled.ns = "labelled";
  EXPECT_TRUE(matches(kProd, kAll, labelled));
  EXPECT_FALSE(matches(kProd, kAll, RequestFor(kPods)));
  EXPECT_TRUE(matches(kProd, kAll, RequestFor(kNodes)))
      << "cluster-scoped objects have no namespace";
  EXPECT_FALSE(matches(kProd, kAll, RequestFor(kNamespaces)));
  AdmissionRequest prod = RequestFor(kNamespaces);
  prod.object = Parse(R"({"metadata": {"name": "x", "labels": {"env": "prod"}}})");
  EXPECT_TRUE(matches(kProd, kAll, prod)) << "a namespace answers with its own labels";
  EXPECT_TRUE(matches(R"(, "namespaceSelector": {"matchExpressions": [
      {"key": "env", "operator": "NotIn", "values": ["prod"]}]})",
                      kAll, RequestFor(kPods)));

  const char* kApp = R"(, "objectSelector": {"matchLabels": {"app": "x"}})";
  EXPECT_TRUE(matches(kApp, kAll, RequestFor(kPods)));
  AdmissionRequest relabelled = RequestFor(kPods, "", Operation::kUpdate);
  relabelled.old_object = std::exchange(relabelled.object, Parse(R"({"metadata": {"name": "x"}})"));
  EXPECT_TRUE(matches(kApp, kAll, relabelled)) << "the object before counts as well";
  AdmissionRequest unlabelled = RequestFor(kPods);
  unlabelled.object = Parse(R"({"metadata": {"name": "x"}})");
  EXPECT_FALSE(matches(kApp, kAll, unlabelled));

  for (const char* kind : {"mutatingwebhookconfigurations", "validatingwebhookconfigurations"}) {
    EXPECT_FALSE(
        matches("", kAll, RequestFor({"admissionregistration.k8s.io", "v1", kind, "X", false})));
  }
}

TEST_F(WebhooksTest, EquivalentVersionsAreSeenInTheVersionThatTheRuleNames) {
  const auto hook = [](const char* policy) {
    return fmt::format(
        R"({{"name": "w.x.y", "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "matchPolicy": "{}", "clientConfig": {{"url": "https://h/w"}},
        "rules": [{{"operations": ["*"], "apiGroups": ["example.com"], "apiVersions": ["v1"],
                    "resources": ["widgets"]}}]}})",
        policy);
  };
  AdmissionRequest request;
  request.resource = {"example.com", "v2", "widgets", "Widget"};
  request.equivalents = {{"example.com", "v1", "widgets", "Widget"}};
  request.object = Parse(R"({"apiVersion": "example.com/v2", "kind": "Widget"})");
  SetMutating({hook("Exact")});
  Mutate(request);
  EXPECT_EQ(Calls(), "");

  fake_.answers["/w"] = Patch(R"([{"op": "test", "path": "/apiVersion", "value": "example.com/v1"},
                                  {"op": "add", "path": "/x", "value": 1}])");
  SetMutating({hook("Equivalent")});
  EXPECT_TRUE(webhooks_->Mutates(request.operation, request.resource, ""));
  const auto outcome = Mutate(request);
  EXPECT_EQ(ErrorText(outcome), "");
  const Json& sent = fake_.reviews.at(0).at("request");
  EXPECT_EQ(sent.at("kind"),
            Parse(R"({"group": "example.com", "version": "v1", "kind": "Widget"})"));
  EXPECT_EQ(sent.at("requestKind"),
            Parse(R"({"group": "example.com", "version": "v2", "kind": "Widget"})"));
  EXPECT_EQ(sent.at("object").at("apiVersion"), "example.com/v1");
  EXPECT_EQ(outcome.object, Parse(R"({"apiVersion": "example.com/v2", "kind": "Widget", "x": 1})"));
}

TEST_F(WebhooksTest, HooksInThisProcess) {
  const AdmissionRule kPods{{"CREATE"}, {""}, {"v1"}, {"pods"}, "*"};
  webhooks_->Register({"local.x.y",
                       {kPods},
                       [](AdmissionRequest& request) {
                         kube::At(request.object, {"spec", "priority"}) = 5;
                         return absl::OkStatus();
                       },
                       [](const AdmissionRequest& request) {
                         return kube::FindInt(request.object, {"spec", "priority"}) > 7
                                    ? InvalidArgument("too important")
                                    : absl::OkStatus();
                       }});
  SetMutating({Hook("remote.x.y")});
  const auto outcome = Mutate();
  EXPECT_EQ(ErrorText(outcome), "");
  EXPECT_EQ(kube::FindInt(outcome.object, {"spec", "priority"}), 5);
  EXPECT_EQ(kube::FindInt(fake_.reviews.at(0), {"request", "object", "spec", "priority"}), 5)
      << "webhooks come after";
  EXPECT_TRUE(webhooks_->Mutates(Operation::kCreate, {"", "v1", "pods", "Pod"}, ""));
  EXPECT_FALSE(webhooks_->Mutates(Operation::kCreate, {"", "v1", "nodes", "Node", false}, ""));

  SetValidating({Hook("remote.x.y")});
  AdmissionRequest request = CreatePod();
  kube::At(request.object, {"spec", "priority"}) = 9;
  fake_.calls.clear();
  EXPECT_EQ(ErrorText(Validate(request)),
            "403 Forbidden admission webhook \"local.x.y\" denied the request: too important");
  EXPECT_EQ(Calls(), "") << "what is denied here is not asked elsewhere";

  webhooks_->Register({"other.x.y", {kPods}, nullptr, [](const AdmissionRequest&) {
                         return kube::ToStatus(kube::ApiError::Of(422, "as it is"));
                       }});
  EXPECT_EQ(ErrorText(Validate()), "422 Invalid as it is");
}

TEST_F(WebhooksTest, ConfigurationsMayChangeWhileRequestsAreUnderWay) {
  SetMutating({Hook("a.x.y"), Hook("b.x.y")});
  std::optional<Webhooks::Outcome> outcome;
  webhooks_->Mutate(CreatePod(), [&](Webhooks::Outcome result) { outcome = std::move(result); });
  SetMutating({});
  loop_.RunReady();
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(Calls(), "/a /b");
}

TEST_F(WebhooksTest, AnswersAfterTheEndAreIgnored) {
  SetMutating({Hook("a.x.y")});
  SetValidating({Hook("a.x.y")});
  int answers = 0;
  webhooks_->Mutate(CreatePod(), [&](Webhooks::Outcome) { ++answers; });
  webhooks_->Validate(CreatePod(), [&](Webhooks::Outcome) { ++answers; });
  webhooks_.reset();
  loop_.RunReady();
  EXPECT_EQ(answers, 0);
}

}  // namespace
}  // namespace koord::apiserver::webhooks_test
