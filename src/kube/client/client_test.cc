#include "kube/client/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/virtual_loop.h"
#include "kube/resources.h"
#include "kube/transport/in_process_transport.h"
#include "kube/transport/scripted_handler.h"

namespace koord::kube::client_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Resource kReservations{"scheduling.koordinator.sh", "v1alpha1", "reservations", "Reservation",
                             false};

Headers RetryAfter(std::string seconds) {
  Headers headers;
  headers.Set("Retry-After", std::move(seconds));
  return headers;
}

class ClientTest : public testing::Test {
 protected:
  Client::Done Record() {
    return [this](StatusOr<Json> answer) { answers_.push_back(std::move(answer)); };
  }
  ScriptedHandler::Exchange Next() {
    loop_.RunReady();
    return handler_.Take();
  }
  void MakeClient(Client::Options options) {
    client_ = std::make_unique<Client>(loop_, std::make_shared<InProcessTransport>(loop_, handler_),
                                       std::move(options));
  }
  void SetUp() override { MakeClient({.qps = 0}); }

  VirtualLoop loop_;
  ScriptedHandler handler_;
  std::unique_ptr<Client> client_;
  std::vector<StatusOr<Json>> answers_;
};

TEST_F(ClientTest, SpellsEveryRequestAsTheApiWantsIt) {
  struct Case {
    std::string name;
    std::function<void()> call;
    std::string method, target, body = {}, content_type = {};
  };
  const Json object{{"a", 1}};
  const ObjectKey pod{"ns", "p"};
  DeleteOptions careful;
  careful.grace_period_seconds = 0;
  careful.propagation_policy = "Foreground";
  careful.uid = "u";
  careful.resource_version = "7";
  ListOptions list;
  list.label_selector = "app in (a,b)";
  list.field_selector = "spec.nodeName=n1";
  list.limit = 5;
  list.continue_token = "c==";
  list.resource_version = "3";
  list.resource_version_match = "Exact";
  WriteOptions write;
  write.subresource = "status";
  write.field_manager = "me";
  write.dry_run = true;
  WriteOptions apply;
  apply.force = true;
  apply.field_manager = "m";

  const Case cases[] = {
      {"get", [&] { client_->Get(kPods, pod, Record()); }, "GET", "/api/v1/namespaces/ns/pods/p"},
      {"get cluster-scoped in a group",
       [&] {
         client_->Get(kReservations, {"", "r"}, Record());
       },
       "GET", "/apis/scheduling.koordinator.sh/v1alpha1/reservations/r"},
      {"a name that needs encoding",
       [&] {
         client_->Get(kNodes, {"", "a/b c"}, Record());
       },
       "GET", "/api/v1/nodes/a%2Fb%20c"},
      {"list everywhere", [&] { client_->List(kPods, "", {}, Record()); }, "GET", "/api/v1/pods"},
      {"list with everything", [&] { client_->List(kPods, "ns", list, Record()); }, "GET",
       "/api/v1/namespaces/ns/pods?labelSelector=app%20in%20%28a%2Cb%29"
       "&fieldSelector=spec.nodeName%3Dn1&limit=5&continue=c%3D%3D&resourceVersion=3"
       "&resourceVersionMatch=Exact"},
      {"create", [&] { client_->Create(kPods, "ns", object, {}, Record()); }, "POST",
       "/api/v1/namespaces/ns/pods", R"({"a":1})", "application/json"},
      {"create cluster-scoped", [&] { client_->Create(kNodes, "", object, {}, Record()); }, "POST",
       "/api/v1/nodes", R"({"a":1})", "application/json"},
      {"binding",
       [&] {
         client_->CreateSubresource(kPods, pod, object, {.subresource = "binding"}, Record());
       },
       "POST", "/api/v1/namespaces/ns/pods/p/binding", R"({"a":1})", "application/json"},
      {"update status, dry", [&] { client_->Update(kPods, pod, object, write, Record()); }, "PUT",
       "/api/v1/namespaces/ns/pods/p/status?fieldManager=me&dryRun=All", R"({"a":1})",
       "application/json"},
      {"JSON patch",
       [&] { client_->Patch(kPods, pod, PatchType::kJson, json::array(), {}, Record()); }, "PATCH",
       "/api/v1/namespaces/ns/pods/p", "[]", "application/json-patch+json"},
      {"merge patch", [&] { client_->Patch(kPods, pod, PatchType::kMerge, object, {}, Record()); },
       "PATCH", "/api/v1/namespaces/ns/pods/p", R"({"a":1})", "application/merge-patch+json"},
      {"strategic patch",
       [&] { client_->Patch(kPods, pod, PatchType::kStrategic, object, {}, Record()); }, "PATCH",
       "/api/v1/namespaces/ns/pods/p", R"({"a":1})", "application/strategic-merge-patch+json"},
      {"apply", [&] { client_->Patch(kPods, pod, PatchType::kApply, object, apply, Record()); },
       "PATCH", "/api/v1/namespaces/ns/pods/p?fieldManager=m&force=true", R"({"a":1})",
       "application/apply-patch+yaml"},
      {"delete", [&] { client_->Delete(kPods, pod, {}, Record()); }, "DELETE",
       "/api/v1/namespaces/ns/pods/p", R"({"kind":"DeleteOptions","apiVersion":"v1"})",
       "application/json"},
      {"careful delete", [&] { client_->Delete(kPods, pod, careful, Record()); }, "DELETE",
       "/api/v1/namespaces/ns/pods/p",
       R"({"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0,)"
       R"("propagationPolicy":"Foreground","preconditions":{"uid":"u","resourceVersion":"7"}})",
       "application/json"},
      {"delete collection",
       [&] { client_->DeleteCollection(kPods, "ns", {.label_selector = "a=b"}, {}, Record()); },
       "DELETE", "/api/v1/namespaces/ns/pods?labelSelector=a%3Db",
       R"({"kind":"DeleteOptions","apiVersion":"v1"})", "application/json"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    c.call();
    auto exchange = Next();
    EXPECT_EQ(exchange.request.method, c.method);
    EXPECT_EQ(exchange.request.target, c.target);
    EXPECT_EQ(exchange.request.body, c.body);
    EXPECT_EQ(exchange.request.headers.Get("Content-Type"), c.content_type);
    EXPECT_EQ(exchange.request.headers.Get("Accept"), "application/json");
    EXPECT_EQ(exchange.request.headers.Get("User-Agent"), "koordinator");
    exchange.Answer(200, R"({"kind":"Pod"})");
    loop_.RunReady();
    ASSERT_FALSE(answers_.empty());
    EXPECT_EQ(FindString(*answers_.back(), {"kind"}), "Pod");
  }
}

TEST_F(ClientTest, RefusesKeysThatWouldAddressSomethingElse) {
  client_->Get(kPods, {"ns", ""}, Record());
  client_->Delete(kPods, {"", "p"}, {}, Record());
  client_->Create(kPods, "", json::object(), {}, Record());
  EXPECT_TRUE(answers_.empty());
  loop_.RunReady();
  EXPECT_EQ(handler_.waiting(), 0u);
  ASSERT_EQ(answers_.size(), 3u);
  EXPECT_THAT(std::string(Message(answers_[0].status())), HasSubstr("name of the Pod is empty"));
  EXPECT_THAT(std::string(Message(answers_[1].status())), HasSubstr("namespace of the Pod \"p\""));
  EXPECT_THAT(std::string(Message(answers_[2].status())), HasSubstr("namespace of a new Pod"));
}

TEST_F(ClientTest, TurnsAnswersIntoErrors) {
  struct Case {
    std::string name;
    int code;
    std::string body;
    std::string reason, message;
  };
  const Case cases[] = {
      {"a Status", 409,
       R"({"kind":"Status","status":"Failure","message":"m","reason":"AlreadyExists","code":409})",
       "AlreadyExists", "m"},
      {"plain text", 404, "404 page not found\n", "NotFound", "404 page not found\n"},
      {"nothing", 503, "", "ServiceUnavailable", "the server answered 503"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    client_->Get(kPods, {"ns", "p"}, Record());
    Next().Answer(c.code, c.body);
    loop_.RunReady();
    const Status status = answers_.back().status();
    EXPECT_EQ(HttpCode(status), c.code);
    EXPECT_EQ(ErrorReason(status), c.reason);
    EXPECT_EQ(Message(status), c.message);
  }
  client_->Get(kPods, {"ns", "p"}, Record());
  Next().Answer(200, "<html>");
  loop_.RunReady();
  EXPECT_THAT(std::string(Message(answers_.back().status())), HasSubstr("not JSON"));
}

TEST_F(ClientTest, AnIgnoredAnswerStillTellsOfErrors) {
  client_->Create(kPods, "ns", json::object(), {.ignore_answer = true}, Record());
  Next().Answer(201, "any text");
  client_->Create(kPods, "ns", json::object(), {.ignore_answer = true}, Record());
  Next().Answer(409, R"({"kind":"Status","status":"Failure","reason":"AlreadyExists"})");
  loop_.RunReady();
  ASSERT_EQ(answers_.size(), 2u);
  EXPECT_TRUE(answers_[0].ok());
  EXPECT_EQ(ErrorReason(answers_[1].status()), "AlreadyExists");
}

TEST_F(ClientTest, RetriesWhenToldToAndAfterThatLong) {
  client_->Create(kPods, "ns", json::object(), {}, Record());
  Next().Answer(429, "", RetryAfter("7"));
  loop_.Advance(6999ms);
  EXPECT_EQ(handler_.waiting(), 0u);
  loop_.Advance(1ms);
  auto again = handler_.Take();
  EXPECT_EQ(again.request.method, "POST");
  EXPECT_EQ(again.request.body, "{}");
  again.Answer(503, "", RetryAfter("1"));
  loop_.Advance(1s);
  handler_.Take().Answer(201, R"({"kind":"Pod"})");
  loop_.RunReady();
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_TRUE(answers_[0].ok());
}

TEST_F(ClientTest, GivesUpAfterTenRetries) {
  client_->Get(kPods, {"ns", "p"}, Record());
  int requests = 0;
  while (answers_.empty() && requests < 100) {
    ++requests;
    Next().Answer(429, "", RetryAfter("1"));
    loop_.Advance(1s);
  }
  EXPECT_EQ(requests, 11);
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_TRUE(IsTooManyRequests(answers_[0].status()));
  EXPECT_EQ(AsApiError(answers_[0].status())->retry_after_seconds, 1);
}

TEST_F(ClientTest, DoesNotRetryErrorsWithoutRetryAfter) {
  for (const int code : {429, 500, 503}) {
    client_->Get(kPods, {"ns", "p"}, Record());
    Next().Answer(code, "");
    loop_.Advance(1min);
    EXPECT_EQ(handler_.waiting(), 0u) << code;
    EXPECT_EQ(HttpCode(answers_.back().status()), code);
  }
  // Nor one that may be sent again but would be refused again.
  client_->Get(kPods, {"ns", "p"}, Record());
  Next().Answer(409, "", RetryAfter("1"));
  loop_.Advance(1min);
  EXPECT_EQ(handler_.waiting(), 0u);
}

TEST_F(ClientTest, RepeatsABrokenReadAfterASecondButNeverABrokenWrite) {
  client_->Get(kPods, {"ns", "p"}, Record());
  Next().Drop();
  loop_.Advance(999ms);
  EXPECT_EQ(handler_.waiting(), 0u);
  loop_.Advance(1ms);
  handler_.Take().Answer(200, "{}");
  loop_.RunReady();
  EXPECT_TRUE(answers_.back().ok());

  client_->Create(kPods, "ns", json::object(), {}, Record());
  Next().Drop();
  loop_.Advance(1min);
  EXPECT_EQ(handler_.waiting(), 0u);
  EXPECT_TRUE(absl::IsUnavailable(answers_.back().status()));
}

TEST_F(ClientTest, TimesOut) {
  client_->Get(kPods, {"ns", "p"}, Record());
  const auto silent = Next();
  loop_.Advance(30s);
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_TRUE(absl::IsDeadlineExceeded(answers_[0].status()));
}

TEST_F(ClientTest, HoldsBackRequestsBeyondTheRate) {
  MakeClient({.qps = 5, .burst = 10});
  for (int i = 0; i < 13; ++i) client_->Get(kPods, {"ns", "p" + std::to_string(i)}, Record());
  loop_.RunReady();
  EXPECT_EQ(handler_.waiting(), 10u);
  loop_.Advance(199ms);
  EXPECT_EQ(handler_.waiting(), 10u);
  loop_.Advance(1ms);
  EXPECT_EQ(handler_.waiting(), 11u);
  loop_.Advance(400ms);
  EXPECT_EQ(handler_.waiting(), 13u);
  for (int i = 0; i < 13; ++i) {
    EXPECT_THAT(handler_.Take().request.target, testing::EndsWith("/p" + std::to_string(i)));
  }
}

TEST_F(ClientTest, DestroyingItCancelsEverything) {
  MakeClient({.qps = 1, .burst = 1});
  client_->Get(kPods, {"ns", "sent"}, Record());
  client_->Get(kPods, {"ns", "waits"}, Record());
  client_->Get(kPods, {"ns", ""}, Record());
  loop_.RunReady();
  answers_.clear();
  auto sent = handler_.Take();
  client_ = nullptr;
  sent.Answer(200, "{}");
  loop_.Advance(1min);
  EXPECT_TRUE(sent.disconnected());
  EXPECT_EQ(handler_.waiting(), 0u);
  EXPECT_TRUE(answers_.empty());
}

TEST_F(ClientTest, MayBeDestroyedByItsOwnAnswer) {
  client_->Get(kPods, {"ns", "p"}, [this](StatusOr<Json> answer) {
    client_ = nullptr;
    answers_.push_back(std::move(answer));
  });
  Next().Answer(200, "{}");
  loop_.RunReady();
  EXPECT_EQ(answers_.size(), 1u);
}

TEST_F(ClientTest, RawPassesHttpErrorsOn) {
  std::vector<StatusOr<HttpResponse>> raw;
  HttpRequest request;
  request.target = "/version";
  client_->Raw(request, [&](StatusOr<HttpResponse> answer) { raw.push_back(std::move(answer)); });
  Next().Answer(404, "nope");
  loop_.RunReady();
  ASSERT_EQ(raw.size(), 1u);
  EXPECT_EQ(raw[0]->status, 404);
}

class ClientWatchTest : public ClientTest {
 protected:
  Client::WatchEvents RecordWatch() {
    Client::WatchEvents events;
    events.opened = [this] { log_.push_back("opened"); };
    events.event = [this](std::string_view type, JsonView object) {
      log_.push_back(std::string(type) + " " + Serialize(object.Copy()));
    };
    events.end = [this](const Status& status) {
      log_.push_back("end " + std::to_string(HttpCode(status)) + std::string(Message(status)));
      end_ = status;
    };
    return events;
  }
  std::vector<std::string> log_;
  Status end_;
};

TEST_F(ClientWatchTest, SpellsTheRequest) {
  WatchOptions options;
  options.resource_version = "5";
  options.field_selector = "metadata.name=a";
  options.resource_version_match = "NotOlderThan";
  options.send_initial_events = true;
  options.timeout_seconds = 300;
  auto watcher = client_->Watch(kPods, "ns", options, RecordWatch());
  EXPECT_EQ(Next().request.target,
            "/api/v1/namespaces/ns/pods?watch=true&fieldSelector=metadata.name%3Da"
            "&resourceVersion=5&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
            "&sendInitialEvents=true&timeoutSeconds=300");
}

TEST_F(ClientWatchTest, DeliversEventsHoweverTheyAreCut) {
  auto watcher = client_->Watch(kPods, "", {}, RecordWatch());
  auto server = Next();
  server.StartWatch();
  server.Write("{\"type\":\"ADDED\",\"object\":{\"a\":1}}\n{\"type\":\"MODI");
  server.Write("FIED\",\"object\":");
  server.Write("{\"a\":2}}\n\n{\"type\":\"DELETED\",\"object\":{}}\n");
  server.End();
  loop_.RunReady();
  EXPECT_THAT(log_, ElementsAre("opened", R"(ADDED {"a":1})", R"(MODIFIED {"a":2})", "DELETED {}",
                                "end 0"));
  EXPECT_TRUE(end_.ok());
}

TEST_F(ClientWatchTest, AnErrorEventEndsTheWatch) {
  auto watcher = client_->Watch(kPods, "", {}, RecordWatch());
  auto server = Next();
  server.StartWatch();
  ApiError expired;
  expired.code = 410;
  expired.reason = "Expired";
  expired.message = "too old resource version: 5 (17)";
  server.Event("ERROR", expired.ToJson());
  server.Event("ADDED", json::object());
  loop_.RunReady();
  EXPECT_THAT(log_, ElementsAre("opened", "end 410too old resource version: 5 (17)"));
  EXPECT_TRUE(server.disconnected());
}

TEST_F(ClientWatchTest, ARefusedWatchEndsWithTheServersError) {
  auto watcher = client_->Watch(kPods, "", {}, RecordWatch());
  Next().Answer(429, "slow down", RetryAfter("3"));
  loop_.RunReady();
  EXPECT_THAT(log_, ElementsAre("end 429slow down"));
  EXPECT_EQ(AsApiError(end_)->retry_after_seconds, 3);
}

TEST_F(ClientWatchTest, GarbageEndsTheWatch) {
  auto watcher = client_->Watch(kPods, "", {}, RecordWatch());
  auto server = Next();
  server.StartWatch();
  server.Write("hello\n");
  loop_.RunReady();
  EXPECT_THAT(std::string(Message(end_)), HasSubstr("not JSON"));
}

TEST_F(ClientWatchTest, WaitsForItsHeadOnlySoLong) {
  auto watcher = client_->Watch(kPods, "", {}, RecordWatch());
  auto server = Next();
  loop_.Advance(30s);
  EXPECT_TRUE(absl::IsDeadlineExceeded(end_));

  watcher = client_->Watch(kPods, "", {}, RecordWatch());
  server = Next();
  server.StartWatch();
  end_ = absl::OkStatus();
  loop_.Advance(24h);
  EXPECT_TRUE(end_.ok());
  EXPECT_FALSE(server.disconnected());
}

TEST_F(ClientWatchTest, ClosesWithItsHandleAlsoFromWithin) {
  std::unique_ptr<Client::Watcher> watcher;
  Client::WatchEvents events = RecordWatch();
  events.event = [&](std::string_view type, JsonView) {
    watcher = nullptr;
    log_.push_back(std::string(type));
  };
  watcher = client_->Watch(kPods, "", {}, std::move(events));
  auto server = Next();
  server.StartWatch();
  server.Write(R"({"type":"ADDED","object":{}})"
               "\n"
               R"({"type":"MODIFIED","object":{}})"
               "\n");
  server.End();
  loop_.RunReady();
  EXPECT_THAT(log_, ElementsAre("opened", "ADDED"));
}

}  // namespace
}  // namespace koord::kube::client_test
