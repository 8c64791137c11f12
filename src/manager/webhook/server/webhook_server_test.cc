#include "manager/webhook/server/webhook_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/strings.h"
#include "base/virtual_loop.h"
#include "kube/resources.h"
#include "kube/transport/http_transport.h"
#include "kube/transport/in_process_transport.h"
#include "manager/webhook/review/fake_view_testing.h"

namespace koord::manager::webhook::webhook_server_test {
namespace {

using kube::HttpRequest;
using kube::Json;
using testing::HasSubstr;

constexpr char kSecret[] =
    "/api/v1/namespaces/koordinator-system/secrets/koordinator-webhook-certs";
constexpr char kMutating[] =
    "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/"
    "koordinator-mutating-webhook-configuration";
constexpr char kValidating[] =
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/"
    "koordinator-validating-webhook-configuration";

// An API server of few words: objects by path, lists that are empty but for what the test says, and
// watches that never tell anything.
class FakeApi final : public kube::HttpHandler {
 public:
  void Handle(HttpRequest request, std::shared_ptr<kube::ResponseWriter> writer) override {
    if (away) return;
    const std::string path = request.target.substr(0, request.target.find('?'));
    if (request.target.find("watch=") != request.target.npos) return Watch(request, writer);
    if (request.method == "GET") return Get(path, *writer);
    Json object = *kube::ParseJson(request.body);
    kube::At(object, {"metadata", "resourceVersion"}) = std::to_string(++version_);
    const std::string name(kube::FindString(object, {"metadata", "name"}));
    writes.push_back(request.method + " " + path);
    objects[request.method == "POST" ? path + "/" + name : path] = object;
    writer->Finish({request.method == "POST" ? 201 : 200, {}, kube::Serialize(object)});
  }

  std::map<std::string, Json> objects;  // by path
  std::map<std::string, std::vector<Json>> lists;
  std::vector<std::string> writes;
  bool away = false;

 private:
  void Watch(const HttpRequest& request, const std::shared_ptr<kube::ResponseWriter>& writer) {
    if (request.target.find("sendInitialEvents") != request.target.npos) {
      return writer->Finish({422, {}, "{}"});
    }
    writer->StartStream({200, {}, ""});
    watches_.push_back(writer);
  }
  void Get(const std::string& path, kube::ResponseWriter& writer) {
    if (const auto it = objects.find(path); it != objects.end()) {
      return writer.Finish({200, {}, kube::Serialize(it->second)});
    }
    const bool is_collection = path.find("koordinator-") == path.npos ||
                               path.ends_with("secrets") || path.ends_with("configmaps");
    if (!is_collection) {
      return writer.Finish(
          {404, {}, kube::Serialize(kube::ApiError::Of(404, path + " not found").ToJson())});
    }
    kube::json::array items;
    if (const auto it = lists.find(path); it != lists.end()) {
      items = kube::json::array(it->second.begin(), it->second.end());
    }
    writer.Finish({200,
                   {},
                   kube::Serialize({{"kind", "List"},
                                    {"metadata", {{"resourceVersion", "1"}}},
                                    {"items", std::move(items)}})});
  }

  int version_ = 1;
  std::vector<std::shared_ptr<kube::ResponseWriter>> watches_;
};

// The server on a loop, real or virtual.
class Fixture {
 public:
  explicit Fixture(EventLoop& loop, WebhookServer::Options options = {})
      : client(loop, std::make_shared<kube::InProcessTransport>(loop, api), {.qps = 0}),
        informers(client, {.slo_config = {"koordinator-system", "slo"}}) {
    for (const char* path : {kMutating, kValidating}) {
      api.objects[path] = Yaml(
          "{metadata: {name: koordinator-x}, webhooks: [{name: vpod.koordinator.sh, clientConfig: "
          "{service: {namespace: x, name: y, path: /validate-pod}}, rules: [{resources: [pods]}]}, "
          "{name: gone, clientConfig: {service: {path: /mutate-node-status}}}]}");
    }
    api.lists["/apis/config.koordinator.sh/v1alpha1/clustercolocationprofiles"] = {
        Yaml("{metadata: {name: p, resourceVersion: '1'}, spec: {labels: {from: profile}}}")};
    server = std::make_unique<WebhookServer>(InformerView::Inputs{client, informers}, metrics,
                                             std::move(options));
    informers.Start();
    server->Start([this] { ready = true; });
  }

  FakeApi api;
  kube::Client client;
  ManagerInformers informers;
  metrics::Registry metrics;
  std::unique_ptr<WebhookServer> server;
  bool ready = false;
};

TEST(WebhookServerTest, MakesCertificatesAndRegistersWhatItAnswers) {
  VirtualLoop loop;
  Fixture fixture(loop);
  EXPECT_FALSE(fixture.server->Ready().ok());
  ASSERT_TRUE(loop.RunUntil([&] { return fixture.ready; }, std::chrono::seconds(20)));
  EXPECT_TRUE(fixture.server->Ready().ok());

  ASSERT_TRUE(fixture.api.objects.contains(kSecret));
  EXPECT_NE(kube::FindString(fixture.api.objects[kSecret], {"data", "tls.crt"}), "");
  for (const char* path : {kMutating, kValidating}) {
    const Json* webhooks = kube::Find(fixture.api.objects[path], {"webhooks"});
    ASSERT_EQ(webhooks->as_array().size(), 1u) << "what is not answered must not be registered";
    EXPECT_EQ(kube::FindString(webhooks->as_array()[0], {"clientConfig", "caBundle"}),
              Base64Encode(fixture.server->ca_bundle()));
    EXPECT_EQ(kube::FindString(webhooks->as_array()[0], {"clientConfig", "service", "name"}),
              "koordinator-webhook-service");
  }
  const size_t writes = fixture.api.writes.size();
  loop.Advance(std::chrono::minutes(10));
  EXPECT_EQ(fixture.api.writes.size(), writes) << "nothing changed, and something was written";
}

TEST(WebhookServerTest, RenewsInTimeAndTellsTheCluster) {
  VirtualLoop loop;
  Fixture fixture(loop);
  ASSERT_TRUE(loop.RunUntil([&] { return fixture.ready; }, std::chrono::seconds(20)));
  const Json first = fixture.api.objects[kSecret];
  loop.JumpWallClock(std::chrono::hours(24 * 250));
  loop.Advance(std::chrono::minutes(2));
  EXPECT_NE(kube::FindString(fixture.api.objects[kSecret], {"data", "tls.crt"}),
            kube::FindString(first, {"data", "tls.crt"}));
}

TEST(WebhookServerTest, PutsBackWhatSomebodyBroke) {
  VirtualLoop loop;
  Fixture fixture(loop);
  ASSERT_TRUE(loop.RunUntil([&] { return fixture.ready; }, std::chrono::seconds(20)));
  Json& webhook = kube::Find(fixture.api.objects[kMutating], {"webhooks"})->as_array()[0];
  kube::At(webhook, {"clientConfig", "caBundle"}) = "";
  loop.Advance(std::chrono::minutes(1));
  EXPECT_EQ(
      kube::FindString(kube::Find(fixture.api.objects[kMutating], {"webhooks"})->as_array()[0],
                       {"clientConfig", "caBundle"}),
      Base64Encode(fixture.server->ca_bundle()));
}

TEST(WebhookServerTest, SaysWhenItIsLate) {
  VirtualLoop loop;
  Status late;
  WebhookServer::Options options;
  options.on_late_start = [&](Status status) { late = status; };
  Fixture fixture(loop, options);
  fixture.api.objects.erase(kValidating);  // nobody has installed it
  loop.Advance(std::chrono::seconds(20));
  EXPECT_FALSE(fixture.ready);
  EXPECT_THAT(std::string(Message(late)), HasSubstr("not found"));
  EXPECT_FALSE(fixture.server->Ready().ok());
}

// Ending would not bring the API server back, and make the program wait longer for its next start.
TEST(WebhookServerTest, AnApiServerThatIsAwayIsNoReasonToEnd) {
  VirtualLoop loop;
  Status late;
  WebhookServer::Options options;
  options.on_late_start = [&](Status status) { late = status; };
  Fixture fixture(loop, options);
  fixture.api.away = true;
  loop.Advance(std::chrono::minutes(1));
  EXPECT_TRUE(late.ok()) << Message(late);
  EXPECT_FALSE(fixture.server->Ready().ok());
  fixture.api.away = false;
  EXPECT_TRUE(loop.RunUntil([&] { return fixture.ready; }, std::chrono::seconds(20)));
}

// Over a real socket, with the certificates that it made.
TEST(WebhookServerTest, AnswersOverHttps) {
  AsioLoop loop;
  WebhookServer::Options options;
  options.sockets = &loop;
  options.address = "127.0.0.1";
  options.port = 0;
  Fixture fixture(loop, options);
  const auto wait_until = [&](const std::function<bool()>& done) {
    const SteadyTime deadline = loop.clock().Steady() + std::chrono::seconds(20);
    while (!done() && loop.clock().Steady() < deadline) loop.RunOnce(std::chrono::milliseconds(50));
    return done();
  };
  ASSERT_TRUE(wait_until([&] { return fixture.ready; })) << Message(fixture.server->Ready());

  kube::ClientConfig config;
  config.server = fmt::format("https://127.0.0.1:{}", fixture.server->port());
  config.ca_data = fixture.server->ca_bundle();
  config.tls_server_name = "koordinator-webhook-service.koordinator-system.svc";
  const auto transport = *kube::HttpTransport::Make(loop, config);
  const auto post = [&](std::string path, std::string body) {
    HttpRequest request{.method = "POST", .target = std::move(path), .body = std::move(body)};
    request.headers.Set("Content-Type", "application/json");
    std::optional<StatusOr<kube::HttpResponse>> answer;
    transport->Send(std::move(request), std::chrono::seconds(10),
                    [&](StatusOr<kube::HttpResponse> response) { answer = std::move(response); });
    EXPECT_TRUE(wait_until([&] { return answer.has_value(); }));
    EXPECT_TRUE(answer->ok()) << Message(answer->status());
    return **answer;
  };
  const auto mutated = post(
      "/mutate-pod",
      kube::Serialize(Yaml(
          "{apiVersion: admission.k8s.io/v1, kind: AdmissionReview, request: {uid: u, operation: "
          "CREATE, namespace: default, resource: {resource: pods}, object: {spec: {}}}}")));
  EXPECT_EQ(mutated.status, 200);
  EXPECT_THAT(mutated.body,
              HasSubstr(Base64Encode(R"([{"op":"add","path":"/metadata","value":{"labels":{"from":)"
                                     R"("profile"}}}])")));
  EXPECT_EQ(post("/mutate-pod", "{\"kind\"").status, 400);
  EXPECT_EQ(post("/mutate-pod", std::string(4 << 20, ' ')).status, 400) << "read, and no review";
  EXPECT_EQ(post("/mutate-pod", std::string(8 << 20, ' ')).status, 413);
  EXPECT_EQ(post("/no-such-webhook", std::string(2 << 20, ' ')).status, 404);

  bool stopped = false;
  fixture.server->Stop([&] { stopped = true; });
  EXPECT_TRUE(wait_until([&] { return stopped; }));
}

}  // namespace
}  // namespace koord::manager::webhook::webhook_server_test
