#include <gmock/gmock.h>

#include "localcluster/apiserver/server_testing.h"

namespace koord::apiserver::patch_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr char kJsonPatch[] = "application/json-patch+json";
constexpr char kStrategic[] = "application/strategic-merge-patch+json";
constexpr char kApply[] = "application/apply-patch+yaml";

class PatchTest : public testing::Test {
 protected:
  PatchTest() { server.Post(kConfigMapsPath, TestConfigMap("a")); }
  TestAnswer Patch(std::string body, const char* type, std::string query = "") {
    return server.Send("PATCH", path + query, std::move(body), type);
  }
  TestServer server;
  const std::string path = std::string(kConfigMapsPath) + "/a";
};

TEST_F(PatchTest, EveryKindOfPatch) {
  EXPECT_EQ(
      Patch(R"([{"op":"add","path":"/data/j","value":"1"}])", kJsonPatch).String({"data", "j"}),
      "1");
  EXPECT_EQ(Patch(R"({"data":{"m":"2"}})", "application/merge-patch+json").String({"data", "m"}),
            "2");
  EXPECT_EQ(Patch(R"({"data":{"s":"3"}})", kStrategic).String({"data", "s"}), "3");
  EXPECT_EQ(
      Patch(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"p":"4"}})",
            kApply, "?fieldManager=me")
          .String({"data", "p"}),
      "4");
  EXPECT_EQ(Patch("{}", "application/json").code, 415);
}

TEST_F(PatchTest, FailuresAreWordedAsKubernetesDoes) {
  TestAnswer failed = Patch(R"([{"op":"test","path":"/data/k","value":"other"}])", kJsonPatch);
  EXPECT_EQ(failed.code, 422);
  EXPECT_EQ(failed.reason(), "Invalid");
  EXPECT_EQ(failed.message(), "the server rejected our request due to an error in our request");
  EXPECT_EQ(failed.json.at("details"), kube::Json(kube::json::object()));
  TestAnswer malformed = Patch("{", "application/merge-patch+json");
  EXPECT_EQ(malformed.code, 400);
  EXPECT_THAT(std::string(malformed.message()), StartsWith("error decoding patch: "));
  TestAnswer missing = server.MergePatch(std::string(kConfigMapsPath) + "/x", Parse("{}"));
  EXPECT_EQ(missing.code, 404);
  TestAnswer forced = Patch("{}", "application/merge-patch+json", "?force=true");
  EXPECT_EQ(forced.code, 422);
  EXPECT_THAT(std::string(forced.message()),
              HasSubstr("force: Forbidden: may not be specified for non-apply patch"));
}

TEST_F(PatchTest, AVersionInThePatchIsAPrecondition) {
  TestAnswer stale = server.MergePatch(path, Parse(R"({"metadata":{"resourceVersion":"1"}})"));
  EXPECT_EQ(stale.code, 409);
  EXPECT_EQ(stale.reason(), "Conflict");
}

TEST_F(PatchTest, NameAndKindStay) {
  EXPECT_EQ(server.MergePatch(path, Parse(R"({"metadata":{"name":"b"}})")).code, 400);
  EXPECT_EQ(server.MergePatch(path, Parse(R"({"kind":"Secret"})")).code, 400);
}

TEST_F(PatchTest, StrategicMergesListsByKey) {
  server.Post(kPodsPath, TestPod("p"));
  TestAnswer patched =
      server.Send("PATCH", std::string(kPodsPath) + "/p",
                  R"({"spec":{"containers":[{"name":"c","image":"i:2"}]}})", kStrategic);
  ASSERT_EQ(patched.code, 200) << patched.body;
  EXPECT_EQ(kube::FindString(patched.json.at("spec").at("containers").at(0), {"image"}), "i:2");
  EXPECT_EQ(kube::FindInt(patched.json, {"metadata", "generation"}), 2);
}

TEST_F(PatchTest, ApplyCreatesAndConflicts) {
  const std::string target = std::string(kConfigMapsPath) + "/s";
  const char* body = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: s\ndata:\n  k: one\n";
  TestAnswer unnamed = server.Send("PATCH", target, body, kApply);
  EXPECT_EQ(unnamed.code, 422);
  EXPECT_EQ(
      unnamed.message(),
      "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for "
      "apply patch");
  TestAnswer created = server.Send("PATCH", target + "?fieldManager=a", body, kApply);
  ASSERT_EQ(created.code, 201) << created.body;
  TestAnswer again = server.Send("PATCH", target + "?fieldManager=a", body, kApply);
  EXPECT_EQ(again.code, 200);
  EXPECT_EQ(again.String({"metadata", "resourceVersion"}),
            created.String({"metadata", "resourceVersion"}));

  TestAnswer edited = server.Send("PATCH", target + "?fieldManager=editor",
                                  R"({"data":{"k":"two"}})", "application/merge-patch+json");
  ASSERT_EQ(edited.code, 200);
  TestAnswer conflict = server.Send("PATCH", target + "?fieldManager=a", body, kApply);
  EXPECT_EQ(conflict.code, 409);
  EXPECT_THAT(std::string(conflict.message()),
              StartsWith("Apply failed with 1 conflict: conflict with \"editor\" using v1 at "));
  EXPECT_THAT(std::string(conflict.message()), HasSubstr(": .data.k"));
  TestAnswer forced = server.Send("PATCH", target + "?fieldManager=a&force=true", body, kApply);
  EXPECT_EQ(forced.code, 200);
  EXPECT_EQ(forced.String({"data", "k"}), "one");
}

TEST_F(PatchTest, WritersAreNamedAfterTheirUserAgent) {
  kube::HttpRequest request;
  request.method = "POST";
  request.target = kConfigMapsPath;
  request.user = TestServer::Admin();
  request.headers.Set("User-Agent", "kubectl/v1.30.0 (linux/amd64)");
  request.body = kube::Serialize(TestConfigMap("u"));
  TestAnswer created = server.Send(request);
  const kube::Json* owners = kube::Find(created.json, {"metadata", "managedFields"});
  ASSERT_NE(owners, nullptr);
  EXPECT_EQ(kube::FindString(owners->at(0), {"manager"}), "kubectl");
  EXPECT_EQ(kube::FindString(owners->at(0), {"operation"}), "Update");
}

TEST_F(PatchTest, ScaleIsAViewOfReplicas) {
  const std::string deployments = "/apis/apps/v1/namespaces/default/deployments";
  server.Post(deployments, Parse(R"({"metadata":{"name":"d"},"spec":{"replicas":2,
    "selector":{"matchLabels":{"app":"x"}},"template":{"metadata":{"labels":{"app":"x"}},
    "spec":{"containers":[{"name":"c","image":"i"}]}}}})"));
  const std::string scale = deployments + "/d/scale";
  TestAnswer got = server.Get(scale);
  EXPECT_EQ(got.String({"kind"}), "Scale");
  EXPECT_EQ(got.String({"apiVersion"}), "autoscaling/v1");
  EXPECT_EQ(kube::FindInt(got.json, {"spec", "replicas"}), 2);
  EXPECT_EQ(got.String({"status", "selector"}), "app=x");
  TestAnswer patched = server.MergePatch(scale, Parse(R"({"spec":{"replicas":5}})"));
  EXPECT_EQ(kube::FindInt(patched.json, {"spec", "replicas"}), 5);
  TestAnswer deployment = server.Get(deployments + "/d");
  EXPECT_EQ(kube::FindInt(deployment.json, {"spec", "replicas"}), 5);
  EXPECT_EQ(kube::FindInt(deployment.json, {"metadata", "generation"}), 2);
  kube::Json stale = got.json;
  EXPECT_EQ(server.Put(scale, stale).code, 409);
  EXPECT_EQ(server.MergePatch(scale, Parse(R"({"spec":{"replicas":-1}})")).code, 422);
}

}  // namespace
}  // namespace koord::apiserver::patch_test
