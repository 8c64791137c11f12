#include <gmock/gmock.h>

#include "localcluster/apiserver/server_testing.h"

namespace koord::apiserver::routing_test {
namespace {

using testing::HasSubstr;

TEST(RoutingTest, TellsUnknownPathsFromUnknownResources) {
  TestServer server;
  struct Case {
    const char* method;
    const char* target;
    int code;
    const char* text;  // of the message, or the whole body where it is plain text
  };
  const char* const kPlain = "404 page not found\n";
  const char* const kUnknown = "the server could not find the requested resource";
  const char* const kMethod = "the server does not allow this method on the requested resource";
  const Case cases[] = {
      {"GET", "/foo", 404, kPlain},
      {"GET", "/apis/nobody.example.com/v1/things", 404, kPlain},
      {"GET", "/apis/apps/v9/deployments", 404, kPlain},
      {"GET", "/apis/nobody.example.com", 404, kPlain},
      {"GET", "/apis/apps/v9", 404, kPlain},
      {"GET", "/api/v1/foos", 404, kUnknown},
      {"GET", "/api/v1/namespaces/default/foos/x", 404, kUnknown},
      {"GET", "/api/v1/namespaces/default/pods/x/foo", 404, kUnknown},
      {"GET", "/api/v1/pods/x", 404, kUnknown},
      {"GET", "/api/v1/namespaces/default/nodes", 404, kUnknown},
      {"POST", "/api/v1/pods", 405, kMethod},
      {"DELETE", "/api/v1/pods", 405, kMethod},
      {"PUT", "/api/v1/namespaces/default/pods", 405, kMethod},
      {"POST", "/api/v1/namespaces/default/pods/x", 405, kMethod},
      {"DELETE", "/api/v1/namespaces", 405, kMethod},
      {"GET", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", 405, kMethod},
      {"GET", "/api/v1/namespaces/default/pods/x/binding", 405, kMethod},
      {"BREW", "/api/v1/nodes", 405, kMethod},
  };
  for (const Case& c : cases) {
    TestAnswer answer = server.Send(c.method, c.target);
    EXPECT_EQ(answer.code, c.code) << c.target;
    if (c.text == kPlain) {
      EXPECT_EQ(answer.body, kPlain) << c.target;
      EXPECT_EQ(answer.headers.Get("Content-Type"), "text/plain; charset=utf-8");
    } else {
      EXPECT_EQ(answer.message(), c.text) << c.target;
      EXPECT_EQ(answer.reason(), c.code == 404 ? "NotFound" : "MethodNotAllowed");
      EXPECT_EQ(answer.json.at("details"), kube::Json(kube::json::object())) << c.target;
    }
  }
}

TEST(RoutingTest, NamesArePercentDecoded) {
  TestServer server;
  const char* path = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
  ASSERT_EQ(server.Post(path, Parse(R"({"metadata":{"name":"system:a b"}})")).code, 201);
  EXPECT_EQ(server.Get(std::string(path) + "/system%3Aa%20b").code, 200);
}

TEST(RoutingTest, HealthAndVersionNeedNoUser) {
  TestServer server;
  for (const char* path : {"/healthz", "/livez", "/readyz", "/version"}) {
    kube::HttpRequest request;
    request.target = path;
    TestAnswer answer = server.Send(request);
    EXPECT_EQ(answer.code, 200) << path;
  }
  kube::HttpRequest request;
  request.target = "/api/v1/nodes";
  TestAnswer answer = server.Send(request);
  EXPECT_EQ(answer.code, 401);
  EXPECT_EQ(answer.reason(), "Unauthorized");
  EXPECT_EQ(answer.message(), "Unauthorized");
  EXPECT_EQ(server.Get("/healthz").body, "ok");
  EXPECT_THAT(server.Get("/readyz?verbose").body, HasSubstr("readyz check passed"));
}

TEST(RoutingTest, VersionHasEveryKey) {
  TestServer server;
  TestAnswer answer = server.Get("/version");
  for (const char* key : {"major", "minor", "gitVersion", "gitCommit", "gitTreeState", "buildDate",
                          "goVersion", "compiler", "platform"}) {
    EXPECT_TRUE(answer.json.as_object().contains(key)) << key;
  }
  EXPECT_EQ(answer.String({"major"}), "1");
  EXPECT_EQ(answer.String({"minor"}), "35");
  EXPECT_TRUE(answer.String({"gitVersion"}).starts_with("v1.35."));
}

TEST(RoutingTest, EveryAnswerCarriesAnAuditId) {
  TestServer server;
  kube::HttpRequest request;
  request.target = "/api/v1/nodes";
  request.user = TestServer::Admin();
  TestAnswer answer = server.Send(request);
  EXPECT_EQ(answer.headers.Get("Audit-Id").size(), 36u);
  EXPECT_EQ(answer.headers.Get("Cache-Control"), "no-cache, private");
  request.headers.Set("Audit-Id", "mine");
  EXPECT_EQ(server.Send(request).headers.Get("Audit-Id"), "mine");
}

TEST(RoutingTest, PrettyForPeople) {
  TestServer server;
  EXPECT_THAT(server.Get("/api/v1/nodes?pretty=1").body, HasSubstr("\n  \"metadata\": {"));
  EXPECT_EQ(server.Get("/api/v1/nodes").body.find('\n'), std::string::npos);
  kube::HttpRequest request;
  request.target = "/api/v1/nodes";
  request.user = TestServer::Admin();
  request.headers.Set("User-Agent", "curl/8.0");
  EXPECT_THAT(server.Send(request).body, HasSubstr("\n"));
}

TEST(RoutingTest, RefusesTargetsThatAreNoUtf8) {
  TestServer server;
  for (const char* target : {"/api/v1/nodes/%ff", "/api/v1/nodes/%c3%28", "/%80",
                             "/api/v1/nodes?labelSelector=%ff", "/api/v1/nodes?%ff=1"}) {
    const TestAnswer answer = server.Get(target);
    EXPECT_EQ(answer.code, 400) << target;
    EXPECT_EQ(answer.reason(), "BadRequest") << target;
  }
  EXPECT_EQ(server.Get("/api/v1/nodes/%c3%bc").code, 404);
}

TEST(RoutingTest, RefusesLargeBodies) {
  TestServer server;
  TestAnswer answer =
      server.Send("POST", kConfigMapsPath, std::string((3 << 20) + 1, ' '), "application/json");
  EXPECT_EQ(answer.code, 413);
  EXPECT_EQ(answer.reason(), "RequestEntityTooLarge");
  EXPECT_EQ(answer.message(), "Request entity is too large: limit is 3145728");
}

TEST(RoutingTest, RefusesUnknownBodyTypes) {
  TestServer server;
  TestAnswer answer = server.Send("POST", kConfigMapsPath, "x", "text/plain");
  EXPECT_EQ(answer.code, 415);
  EXPECT_EQ(answer.reason(), "UnsupportedMediaType");
  EXPECT_EQ(answer.message(),
            "the body of the request was in an unknown format - accepted media types include: "
            "application/json, application/yaml, application/vnd.kubernetes.protobuf");
  EXPECT_EQ(
      server
          .Send("POST", kConfigMapsPath, "metadata: {name: y}\ndata: {a: b}\n", "application/yaml")
          .code,
      201);
  for (const char* body : {"", "{", "[]", "null", "\"x\""}) {
    EXPECT_EQ(server.Send("POST", kConfigMapsPath, body).code, 400) << body;
  }
}

TEST(RoutingTest, CountsRequests) {
  TestServer server;
  server.Get("/api/v1/nodes");
  server.Get("/api/v1/nodes/x");
  const std::string text = server.Get("/metrics").body;
  EXPECT_THAT(text, HasSubstr("apiserver_request_total{code=\"200\",group=\"\",resource=\"nodes\","
                              "subresource=\"\",verb=\"LIST\",version=\"v1\"} 1"));
  EXPECT_THAT(text, HasSubstr("code=\"404\",group=\"\",resource=\"nodes\""));
}

}  // namespace
}  // namespace koord::apiserver::routing_test
