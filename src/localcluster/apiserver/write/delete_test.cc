#include <gmock/gmock.h>

#include "localcluster/apiserver/server_testing.h"

namespace koord::apiserver::delete_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class DeleteTest : public testing::Test {
 protected:
  // A pod that runs on a node.
  void CreateBoundPod(std::string_view name) {
    ASSERT_EQ(server.Post(kPodsPath, TestPod(name)).code, 201);
    ASSERT_EQ(server
                  .Post(fmt::format("{}/{}/binding", kPodsPath, name),
                        Parse(R"({"target":{"kind":"Node","name":"n1"}})"))
                  .code,
              201);
  }
  void CreateFinalized(std::string_view name) {
    kube::Json map = TestConfigMap(name);
    kube::At(map, {"metadata", "finalizers"}) = kube::json::array{"x.io/f"};
    ASSERT_EQ(server.Post(kConfigMapsPath, map).code, 201);
  }
  TestServer server;
  const std::string pod = std::string(kPodsPath) + "/p";
  const std::string map = std::string(kConfigMapsPath) + "/m";
};

TEST_F(DeleteTest, ABoundPodEndsGracefully) {
  CreateBoundPod("p");
  TestAnswer deleted = server.Delete(pod);
  ASSERT_EQ(deleted.code, 200) << deleted.body;
  EXPECT_EQ(deleted.String({"kind"}), "Pod");
  EXPECT_EQ(kube::FindInt(deleted.json, {"metadata", "deletionGracePeriodSeconds"}), 30);
  EXPECT_EQ(deleted.String({"metadata", "deletionTimestamp"}), "2026-07-01T00:00:30Z");
  EXPECT_EQ(kube::FindInt(deleted.json, {"metadata", "generation"}), 2);
  // Again changes nothing, longer changes nothing, shorter does.
  TestAnswer again = server.Delete(pod);
  EXPECT_EQ(again.body, deleted.body);
  EXPECT_EQ(server.Delete(pod + "?gracePeriodSeconds=60").body, deleted.body);
  TestAnswer sooner = server.Delete(pod, Parse(R"({"gracePeriodSeconds":10})"));
  EXPECT_EQ(sooner.String({"metadata", "deletionTimestamp"}), "2026-07-01T00:00:10Z");
  EXPECT_EQ(kube::FindInt(sooner.json, {"metadata", "deletionGracePeriodSeconds"}), 10);
  EXPECT_EQ(server.Get(pod).code, 200);
  TestAnswer gone = server.Delete(pod, Parse(R"({"gracePeriodSeconds":0})"));
  EXPECT_EQ(gone.code, 200);
  EXPECT_EQ(gone.String({"kind"}), "Pod");
  EXPECT_EQ(server.Get(pod).code, 404);
}

TEST_F(DeleteTest, AShortenedPeriodNeverLiesInThePast) {
  CreateBoundPod("p");
  server.Delete(pod);
  server.loop.Advance(20s);
  TestAnswer sooner = server.Delete(pod, Parse(R"({"gracePeriodSeconds":5})"));
  EXPECT_EQ(sooner.String({"metadata", "deletionTimestamp"}), "2026-07-01T00:00:20Z");
  EXPECT_EQ(kube::FindInt(sooner.json, {"metadata", "deletionGracePeriodSeconds"}), 1);
}

TEST_F(DeleteTest, APeriodThatNobodyMeansIsALongOne) {
  CreateBoundPod("p");
  TestAnswer deleted = server.Delete(pod + "?gracePeriodSeconds=9223372036854775807");
  ASSERT_EQ(deleted.code, 200) << deleted.body;
  EXPECT_GT(deleted.String({"metadata", "deletionTimestamp"}), "2100-01-01T00:00:00Z");
  TestAnswer sooner = server.Delete(pod + "?gracePeriodSeconds=5");
  EXPECT_EQ(sooner.String({"metadata", "deletionTimestamp"}), "2026-07-01T00:00:05Z");
}

TEST_F(DeleteTest, PodsThatDoNotRunGoAtOnce) {
  server.Post(kPodsPath, TestPod("p"));
  auto watch = server.Watch(std::string(kPodsPath) +
                            "?watch=1&resourceVersion=" + std::to_string(server.store->revision()));
  TestAnswer deleted = server.Delete(pod);
  EXPECT_EQ(deleted.String({"kind"}), "Pod");
  EXPECT_EQ(kube::FindInt(deleted.json, {"metadata", "deletionGracePeriodSeconds"}, -1), 0);
  EXPECT_EQ(deleted.String({"metadata", "deletionTimestamp"}), "2026-07-01T00:00:00Z");
  const auto events = watch->TakeEvents();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(kube::FindString(events[0], {"type"}), "DELETED");
  EXPECT_EQ(kube::FindString(events[0], {"object", "metadata", "resourceVersion"}),
            std::to_string(server.store->revision()));

  CreateBoundPod("p");
  server.MergePatch(pod + "/status", Parse(R"({"status":{"phase":"Succeeded"}})"));
  server.Delete(pod);
  EXPECT_EQ(server.Get(pod).code, 404);
}

TEST_F(DeleteTest, FinalizersKeepAnObject) {
  CreateFinalized("m");
  auto watch = server.Watch(std::string(kConfigMapsPath) +
                            "?watch=1&resourceVersion=" + std::to_string(server.store->revision()));
  TestAnswer deleted = server.Delete(map);
  EXPECT_EQ(deleted.code, 200);
  EXPECT_EQ(deleted.String({"kind"}), "ConfigMap");
  EXPECT_EQ(deleted.String({"metadata", "deletionTimestamp"}), "2026-07-01T00:00:00Z");
  EXPECT_EQ(kube::FindInt(deleted.json, {"metadata", "deletionGracePeriodSeconds"}, -1), 0);
  EXPECT_EQ(kube::Find(deleted.json, {"metadata", "generation"}), nullptr);

  TestAnswer added = server.MergePatch(map, Parse(R"({"metadata":{"finalizers":["x.io/f","x"]}})"));
  EXPECT_EQ(added.code, 422);
  EXPECT_THAT(std::string(added.message()),
              HasSubstr("metadata.finalizers: Forbidden: no new finalizers can be added if the "
                        "object is being deleted, found new finalizers []string{\"x\"}"));
  TestAnswer emptied = server.MergePatch(map, Parse(R"({"metadata":{"finalizers":null}})"));
  EXPECT_EQ(emptied.code, 200);
  EXPECT_EQ(server.Get(map).code, 404);
  EXPECT_THAT(watch->TakeEventNames(), ElementsAre("MODIFIED m", "DELETED m"));
}

TEST_F(DeleteTest, OtherKindsAnswerWithAStatus) {
  TestAnswer created = server.Post(kConfigMapsPath, TestConfigMap("m"));
  TestAnswer deleted = server.Delete(map);
  EXPECT_EQ(deleted.String({"kind"}), "Status");
  EXPECT_EQ(deleted.String({"status"}), "Success");
  EXPECT_EQ(
      deleted.json.at("details"),
      kube::Json(kube::json::object{
          {"name", "m"}, {"kind", "configmaps"}, {"uid", created.String({"metadata", "uid"})}}));
  TestAnswer missing = server.Delete(map);
  EXPECT_EQ(missing.code, 404);
  EXPECT_EQ(missing.message(), "configmaps \"m\" not found");
}

TEST_F(DeleteTest, PreconditionsHold) {
  TestAnswer created = server.Post(kConfigMapsPath, TestConfigMap("m"));
  TestAnswer uid = server.Delete(map, Parse(R"({"preconditions":{"uid":"other"}})"));
  EXPECT_EQ(uid.code, 409);
  EXPECT_EQ(uid.message(),
            fmt::format("Operation cannot be fulfilled on ConfigMap \"m\": the UID in the "
                        "precondition (other) does not match the UID in record ({}). The object "
                        "might have been deleted and then recreated",
                        created.String({"metadata", "uid"})));
  TestAnswer version = server.Delete(map, Parse(R"({"preconditions":{"resourceVersion":"1"}})"));
  EXPECT_EQ(version.code, 409);
  EXPECT_EQ(
      version.message(),
      fmt::format("Operation cannot be fulfilled on ConfigMap \"m\": the ResourceVersion in "
                  "the precondition (1) does not match the ResourceVersion in record ({}). The "
                  "object might have been modified",
                  created.String({"metadata", "resourceVersion"})));
  const kube::Json right = kube::json::object{
      {"preconditions", kube::json::object{{"uid", created.String({"metadata", "uid"})}}}};
  EXPECT_EQ(server.Delete(map, right).code, 200);
}

TEST_F(DeleteTest, PropagationIsLeftToTheGarbageCollector) {
  server.Post(kConfigMapsPath, TestConfigMap("m"));
  TestAnswer foreground = server.Delete(map, Parse(R"({"propagationPolicy":"Foreground"})"));
  EXPECT_EQ(foreground.json.at("metadata").at("finalizers"),
            kube::Json(kube::json::array{"foregroundDeletion"}));
  TestAnswer orphan = server.Delete(map, Parse(R"({"propagationPolicy":"Orphan"})"));
  EXPECT_EQ(orphan.json.at("metadata").at("finalizers"), kube::Json(kube::json::array{"orphan"}));
  EXPECT_EQ(server.Delete(map, Parse(R"({"propagationPolicy":"Background"})")).code, 200);
  EXPECT_EQ(server.Get(map).code, 404);

  CreateFinalized("m");
  EXPECT_EQ(server.Delete(map + "?orphanDependents=false").code, 202);
}

TEST_F(DeleteTest, BadOptions) {
  server.Post(kConfigMapsPath, TestConfigMap("m"));
  TestAnswer both =
      server.Delete(map, Parse(R"({"orphanDependents":true,"propagationPolicy":"Orphan"})"));
  EXPECT_EQ(both.code, 422);
  EXPECT_THAT(
      std::string(both.message()),
      HasSubstr("DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Invalid value: "
                "\"Orphan\": orphanDependents and deletionPropagation cannot be both set"));
  EXPECT_EQ(server.Delete(map, Parse(R"({"gracePeriodSeconds":"x"})")).code, 400);
  EXPECT_EQ(server.Delete(map, Parse(R"({"kind":"Pod"})")).code, 400);
  EXPECT_EQ(server.Get(map).code, 200);
}

TEST_F(DeleteTest, CollectionsAreListedAsTheyGo) {
  for (const char* name : {"a", "b", "c"}) {
    kube::Json map = TestConfigMap(name);
    kube::At(map, {"metadata", "labels", "l"}) = std::string(name) == "b" ? "2" : "1";
    server.Post(kConfigMapsPath, map);
  }
  TestAnswer some = server.Delete(std::string(kConfigMapsPath) + "?labelSelector=l%3D1");
  EXPECT_EQ(some.code, 200);
  EXPECT_EQ(some.String({"kind"}), "ConfigMapList");
  EXPECT_EQ(some.json.at("items").as_array().size(), 2u);
  EXPECT_EQ(server.Get(kConfigMapsPath).json.at("items").as_array().size(), 1u);
  server.Delete(kConfigMapsPath);
  TestAnswer none = server.Delete(kConfigMapsPath);
  EXPECT_EQ(none.json.at("items"), kube::Json(kube::json::array()));
  EXPECT_NE(none.String({"metadata", "resourceVersion"}), "");
}

TEST_F(DeleteTest, NamespacesWaitForTheirContent) {
  ASSERT_EQ(server.Post("/api/v1/namespaces", Parse(R"({"metadata":{"name":"x"}})")).code, 201);
  TestAnswer wrong =
      server.Delete("/api/v1/namespaces/x", Parse(R"({"preconditions":{"uid":"other"}})"));
  EXPECT_THAT(
      std::string(wrong.message()),
      HasSubstr("Operation cannot be fulfilled on namespaces \"x\": Precondition failed: UID "
                "in precondition: other, UID in object meta: "));
  TestAnswer deleted = server.Delete("/api/v1/namespaces/x");
  ASSERT_EQ(deleted.code, 200) << deleted.body;
  EXPECT_EQ(deleted.String({"status", "phase"}), "Terminating");
  TestAnswer refused = server.Post("/api/v1/namespaces/x/pods", TestPod("p"));
  EXPECT_EQ(refused.code, 403);
  EXPECT_EQ(
      refused.message(),
      "pods \"p\" is forbidden: unable to create new content in namespace x because it is being "
      "terminated");
  EXPECT_EQ(kube::FindString(refused.json.at("details").at("causes").at(0), {"reason"}),
            "NamespaceTerminating");
  kube::Json ns = server.Get("/api/v1/namespaces/x").json;
  kube::At(ns, {"spec", "finalizers"}) = kube::json::array();
  EXPECT_EQ(server.Put("/api/v1/namespaces/x/finalize", ns).code, 200);
  EXPECT_EQ(server.Get("/api/v1/namespaces/x").code, 404);

  TestAnswer immortal = server.Delete("/api/v1/namespaces/default");
  EXPECT_EQ(immortal.code, 403);
  EXPECT_EQ(immortal.message(),
            "namespaces \"default\" is forbidden: this namespace may not be deleted");
}

}  // namespace
}  // namespace koord::apiserver::delete_test
