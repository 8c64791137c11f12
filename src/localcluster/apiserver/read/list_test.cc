#include <gmock/gmock.h>

#include "base/strings.h"
#include "localcluster/apiserver/read/continue_token.h"
#include "localcluster/apiserver/server_testing.h"

namespace koord::apiserver::list_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::vector<std::string> Names(const TestAnswer& list) {
  std::vector<std::string> names;
  for (const kube::Json& item : list.json.at("items").as_array()) {
    names.emplace_back(kube::FindString(item, {"metadata", "name"}));
  }
  return names;
}

kube::Json Labelled(std::string_view name, std::string_view value) {
  kube::Json pod = TestPod(name);
  kube::At(pod, {"metadata", "labels", "app"}) = value;
  return pod;
}

// Decodes base64url without padding, by hand.
std::string DecodeToken(std::string token) {
  for (char& c : token) c = c == '-' ? '+' : c == '_' ? '/' : c;
  while (token.size() % 4 != 0) token += '=';
  return *Base64Decode(token);
}

class ListTest : public testing::Test {
 protected:
  void CreatePods(std::initializer_list<const char*> names) {
    for (const char* name : names) {
      ASSERT_EQ(server.Post(kPodsPath, Labelled(name, "x")).code, 201);
    }
  }
  TestServer server;
};

TEST_F(ListTest, IsInKeyOrderAndNeverNull) {
  EXPECT_EQ(server.Get("/api/v1/pods").json.at("items"), kube::Json(kube::json::array()));
  CreatePods({"b", "a"});
  TestAnswer list = server.Get("/api/v1/pods");
  EXPECT_THAT(Names(list), ElementsAre("a", "b"));
  EXPECT_EQ(list.String({"kind"}), "PodList");
  EXPECT_EQ(list.String({"apiVersion"}), "v1");
  EXPECT_EQ(list.String({"metadata", "resourceVersion"}), std::to_string(server.store->revision()));
  // The list itself says what its items are.
  EXPECT_FALSE(list.json.at("items").at(0).as_object().contains("kind"));
}

TEST_F(ListTest, PagesCarryKubernetesOwnToken) {
  CreatePods({"a", "b", "c", "d", "e"});
  TestAnswer first = server.Get("/api/v1/pods?limit=2");
  EXPECT_THAT(Names(first), ElementsAre("a", "b"));
  EXPECT_EQ(kube::FindInt(first.json, {"metadata", "remainingItemCount"}), 3);
  const std::string version(first.String({"metadata", "resourceVersion"}));
  EXPECT_EQ(DecodeToken(std::string(first.String({"metadata", "continue"}))),
            fmt::format(R"({{"v":"meta.k8s.io/v1","rv":{},"start":"default/b\u0000"}})", version));

  TestAnswer inside = server.Get(std::string(kPodsPath) + "?limit=2");
  EXPECT_THAT(DecodeToken(std::string(inside.String({"metadata", "continue"}))),
              HasSubstr(R"("start":"b\u0000")"));
  TestAnswer selected = server.Get("/api/v1/pods?limit=2&labelSelector=app%3Dx");
  EXPECT_FALSE(selected.json.at("metadata").as_object().contains("remainingItemCount"));
  EXPECT_NE(selected.String({"metadata", "continue"}), "");
}

TEST_F(ListTest, ChainShowsTheFirstPagesSnapshot) {
  CreatePods({"a", "b", "c", "d"});
  TestAnswer page = server.Get("/api/v1/pods?limit=2");
  const std::string version(page.String({"metadata", "resourceVersion"}));
  server.Delete(std::string(kPodsPath) + "/d");
  CreatePods({"cc"});
  const std::string token(page.String({"metadata", "continue"}));
  TestAnswer rest = server.Get("/api/v1/pods?limit=2&continue=" + token);
  ASSERT_EQ(rest.code, 200) << rest.body;
  EXPECT_THAT(Names(rest), ElementsAre("c", "d"));
  EXPECT_EQ(rest.String({"metadata", "resourceVersion"}), version);
  EXPECT_EQ(rest.String({"metadata", "continue"}), "");
}

TEST(ListExpiryTest, OffersAnInconsistentContinuation) {
  Store::Options store_options;
  store_options.history = 1s;
  store_options.history_events = 1;
  TestServer server({}, store_options);
  for (const char* name : {"a", "b", "c"}) server.Post(kConfigMapsPath, TestConfigMap(name));
  TestAnswer page = server.Get(std::string(kConfigMapsPath) + "?limit=1");
  const std::string token(page.String({"metadata", "continue"}));
  server.Post(kConfigMapsPath, TestConfigMap("aa"));
  server.Post(kConfigMapsPath, TestConfigMap("d"));
  server.loop.Advance(1min);
  TestAnswer expired = server.Get(std::string(kConfigMapsPath) + "?limit=9&continue=" + token);
  ASSERT_EQ(expired.code, 410) << expired.body;
  EXPECT_EQ(expired.reason(), "Expired");
  EXPECT_THAT(std::string(expired.message()),
              StartsWith("The provided continue parameter is too old to display a consistent list "
                         "result."));
  const std::string again(expired.String({"metadata", "continue"}));
  EXPECT_THAT(DecodeToken(again), HasSubstr("\"rv\":-1"));
  TestAnswer rest = server.Get(std::string(kConfigMapsPath) + "?limit=9&continue=" + again);
  EXPECT_THAT(Names(rest), ElementsAre("aa", "b", "c", "d"));
}

TEST_F(ListTest, ExactVersionShowsThePast) {
  CreatePods({"a"});
  const std::string version = std::to_string(server.store->revision());
  CreatePods({"b"});
  TestAnswer past =
      server.Get("/api/v1/pods?resourceVersionMatch=Exact&resourceVersion=" + version);
  EXPECT_THAT(Names(past), ElementsAre("a"));
  EXPECT_EQ(past.String({"metadata", "resourceVersion"}), version);
  TestAnswer gone = server.Get("/api/v1/pods?resourceVersionMatch=Exact&resourceVersion=1");
  EXPECT_EQ(gone.code, 200);
  EXPECT_THAT(Names(gone), IsEmpty());
}

TEST_F(ListTest, WaitsForAVersionThatHasNotComeYet) {
  const uint64_t next = server.store->revision() + 1;
  TestAnswer late = server.Get("/api/v1/pods?resourceVersion=" + std::to_string(next));
  EXPECT_EQ(late.code, 504);
  EXPECT_EQ(late.reason(), "Timeout");
  EXPECT_EQ(late.message(),
            fmt::format("Timeout: Too large resource version: {}, current: {}", next, next - 1));
  EXPECT_EQ(late.headers.Get("Retry-After"), "1");
  EXPECT_EQ(kube::FindString(late.json.at("details").at("causes").at(0), {"reason"}),
            "ResourceVersionTooLarge");

  kube::HttpRequest request;
  request.target = "/api/v1/pods?resourceVersion=" + std::to_string(next);
  request.user = TestServer::Admin();
  auto waiting = server.Start(std::move(request));
  EXPECT_EQ(waiting->answer.code, 0);
  CreatePods({"a"});
  EXPECT_EQ(waiting->answer.code, 200);
}

struct BadQuery {
  const char* query;
  int code;
  const char* message;
};

TEST_F(ListTest, RefusesContradictoryOptions) {
  const std::string invalid = "ListOptions.meta.k8s.io \"\" is invalid: ";
  const BadQuery cases[] = {
      {"resourceVersionMatch=Exact", 422,
       "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion "
       "is provided"},
      {"resourceVersionMatch=foo&resourceVersion=1", 422,
       "resourceVersionMatch: Unsupported value: \"foo\": supported values: \"Exact\", "
       "\"NotOlderThan\", \"\""},
      {"resourceVersionMatch=Exact&resourceVersion=0", 422,
       "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\""},
      {"resourceVersionMatch=Exact&resourceVersion=1&continue=x", 422,
       "resourceVersionMatch is forbidden when continue is provided"},
      {"sendInitialEvents=true", 422,
       "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list"},
      {"resourceVersion=abc", 500,
       "resourceVersion: Invalid value: \"abc\": strconv.ParseUint: parsing \"abc\": invalid "
       "syntax"},
      {"limit=x", 400, "limit"},
      {"continue=x", 400, "invalid continue token: continue key is not valid: "},
  };
  for (const BadQuery& c : cases) {
    TestAnswer answer = server.Get(std::string("/api/v1/pods?") + c.query);
    EXPECT_EQ(answer.code, c.code) << c.query << " " << answer.body;
    EXPECT_THAT(std::string(answer.message()), HasSubstr(c.message)) << c.query;
    if (c.code == 422) {
      EXPECT_THAT(std::string(answer.message()), StartsWith(invalid));
      EXPECT_EQ(answer.reason(), "Invalid");
    }
    if (c.code == 500) {
      EXPECT_EQ(answer.reason(), "");
    }
  }
}

TEST(ContinueTokenTest, SaysWhatIsWrong) {
  const auto encode = [](std::string_view json) {
    std::string token = Base64Encode(json);
    while (token.back() == '=') token.pop_back();
    return token;
  };
  struct Case {
    std::string token;
    const char* message;
  };
  const Case cases[] = {
      {encode(R"({"v":"meta.k8s.io/v1","rv":0,"start":"a"})"),
       "incorrect encoded start resourceVersion (version meta.k8s.io/v1)"},
      {encode(R"({"v":"meta.k8s.io/v1","rv":1,"start":""})"), "encoded start key empty"},
      {encode(R"({"v":"meta.k8s.io/v2","rv":1,"start":"a"})"),
       "server does not recognize this encoded version"},
      {encode(R"({"v":"meta.k8s.io/v1","rv":1,"start":"../x"})"),
       "continue key is not valid: ../x"},
      {encode(R"({"v":"meta.k8s.io/v1","rv":1,"start":"a//b"})"),
       "continue key is not valid: a//b"},
      {encode(R"({"v":"meta.k8s.io/v1","rv":1,"start":"b/"})"), "continue key is not valid: b/"},
      {encode(R"({"v":"meta.k8s.io/v1","rv":1,"start":"//b"})"), "continue key is not valid: //b"},
      {encode(R"({"v":"meta.k8s.io/v1","rv":1,"start":"/a/./b"})"),
       "continue key is not valid: /a/./b"},
      {"!!", "continue key is not valid: "},
  };
  for (const Case& c : cases) {
    const auto token = ContinueToken::Decode(c.token);
    ASSERT_FALSE(token.ok()) << c.token;
    EXPECT_THAT(std::string(Message(token.status())), StartsWith("invalid continue token: "));
    EXPECT_THAT(std::string(Message(token.status())), HasSubstr(c.message));
  }
}

TEST(ContinueTokenTest, ASlashInFrontOfTheStartKeyMeansNothing) {
  const std::pair<const char*, const char*> cases[] = {
      {"/", ""}, {"/b", "b"}, {"a/b", "a/b"}, {"/a/b", "a/b"}, {"..a", "..a"}};
  for (const auto& [sent, start] : cases) {
    const auto token = ContinueToken::Decode(ContinueToken{7, sent}.Encode());
    ASSERT_TRUE(token.ok()) << sent << token.status();
    EXPECT_EQ(token->start, start) << sent;
    EXPECT_EQ(token->revision, 7);
  }
}

TEST_F(ListTest, SelectsByLabelsAndFields) {
  server.Post(kPodsPath, Labelled("a", "x"));
  server.Post(kPodsPath, Labelled("b", "y"));
  server.Post(std::string(kPodsPath) + "/b/binding",
              Parse(R"({"metadata":{"name":"b"},"target":{"name":"n1"}})"));
  struct Case {
    const char* query;
    std::vector<std::string> names;
  };
  const Case cases[] = {
      {"labelSelector=app%3Dx", {"a"}},
      {"labelSelector=app%21%3Dx", {"b"}},
      {"labelSelector=app+in+(x,y)", {"a", "b"}},
      {"fieldSelector=metadata.name%3Db", {"b"}},
      {"fieldSelector=metadata.namespace%3Ddefault", {"a", "b"}},
      {"fieldSelector=spec.nodeName%3Dn1", {"b"}},
      {"fieldSelector=spec.host%3Dn1", {"b"}},
      {"fieldSelector=spec.nodeName%3D", {"a"}},
      {"fieldSelector=spec.hostNetwork%3Dfalse", {"a", "b"}},
      {"fieldSelector=status.phase!%3DSucceeded,status.phase!%3DFailed", {"a", "b"}},
      {"fieldSelector=status.phase%3DPending&labelSelector=app%3Dy", {"b"}},
  };
  for (const Case& c : cases) {
    TestAnswer list = server.Get(std::string("/api/v1/pods?") + c.query);
    ASSERT_EQ(list.code, 200) << c.query << list.body;
    EXPECT_EQ(Names(list), c.names) << c.query;
  }
  TestAnswer bad = server.Get("/api/v1/pods?fieldSelector=spec.foo%3D1");
  EXPECT_EQ(bad.code, 400);
  EXPECT_EQ(bad.message(), "field label not supported: spec.foo");
  bad = server.Get("/api/v1/configmaps?fieldSelector=spec.foo%3D1");
  EXPECT_EQ(bad.message(),
            "\"spec.foo\" is not a known field selector: only \"metadata.name\", "
            "\"metadata.namespace\"");
  EXPECT_EQ(server.Get("/api/v1/pods?labelSelector=x%3Da%7C%7Cy%3Db").code, 400);
}

TEST_F(ListTest, ServesMetadataAloneAndTables) {
  CreatePods({"a"});
  kube::HttpRequest request;
  request.target = "/api/v1/pods";
  request.user = TestServer::Admin();
  request.headers.Set("Accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1");
  TestAnswer partial = server.Send(request);
  EXPECT_EQ(partial.String({"kind"}), "PartialObjectMetadataList");
  EXPECT_EQ(partial.String({"apiVersion"}), "meta.k8s.io/v1");
  EXPECT_FALSE(partial.json.at("items").at(0).as_object().contains("spec"));

  request.headers.Set("Accept",
                      "application/json;as=Table;v=v1;g=meta.k8s.io,"
                      "application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json");
  TestAnswer table = server.Send(request);
  EXPECT_EQ(table.String({"kind"}), "Table");
  EXPECT_EQ(table.json.at("rows").at(0).at("cells").at(0), kube::Json("a"));
  EXPECT_EQ(kube::FindString(table.json.at("rows").at(0), {"object", "kind"}),
            "PartialObjectMetadata");

  request.headers.Set("Accept", "application/cbor");
  EXPECT_EQ(server.Send(request).code, 406);
  request.headers.Set("Accept", "application/vnd.kubernetes.protobuf,application/json");
  EXPECT_EQ(server.Send(request).String({"kind"}), "PodList");
}

}  // namespace
}  // namespace koord::apiserver::list_test
