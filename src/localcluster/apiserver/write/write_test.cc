#include <gmock/gmock.h>

#include <regex>

#include "localcluster/apiserver/server_testing.h"

namespace koord::apiserver::write_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kLeases[] = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
constexpr char kDeployments[] = "/apis/apps/v1/namespaces/default/deployments";

kube::Json TestDeployment(std::string_view name) {
  return Parse(fmt::format(
      R"({{"metadata":{{"name":"{}"}},"spec":{{"selector":{{"matchLabels":{{"app":"x"}}}},"template":)"
      R"({{"metadata":{{"labels":{{"app":"x"}}}},"spec":{{"containers":[{{"name":"c","image":"i"}}]}}}}}}}})",
      name));
}

class WriteTest : public testing::Test {
 protected:
  TestServer server;
};

TEST_F(WriteTest, ANameIsRequired) {
  kube::Json pod = TestPod("x");
  pod.as_object()["metadata"] = kube::json::object();
  TestAnswer answer = server.Post(kPodsPath, pod);
  EXPECT_EQ(answer.code, 422);
  EXPECT_EQ(answer.message(),
            "Pod \"\" is invalid: metadata.name: Required value: name or generateName is required");
  const kube::Json& cause = answer.json.at("details").at("causes").at(0);
  EXPECT_EQ(kube::FindString(cause, {"reason"}), "FieldValueRequired");
  EXPECT_EQ(kube::FindString(cause, {"field"}), "metadata.name");
  EXPECT_EQ(answer.String({"details", "kind"}), "Pod");
}

TEST_F(WriteTest, GeneratesNames) {
  kube::Json pod = TestPod("");
  kube::At(pod, {"metadata"}) = kube::json::object{{"generateName", "job-"}};
  TestAnswer answer = server.Post(kPodsPath, pod);
  ASSERT_EQ(answer.code, 201) << answer.body;
  const std::string name(answer.String({"metadata", "name"}));
  EXPECT_TRUE(std::regex_match(name, std::regex("^job-[bcdfghjklmnpqrstvwxz2456789]{5}$"))) << name;
  EXPECT_EQ(answer.String({"metadata", "generateName"}), "job-");

  const std::string base(60, 'a');
  kube::At(pod, {"metadata"}) = kube::json::object{{"generateName", base}};
  const std::string cut(server.Post(kPodsPath, pod).String({"metadata", "name"}));
  EXPECT_EQ(cut.size(), 63u);
  EXPECT_EQ(cut.substr(0, 58), base.substr(0, 58));
}

TEST_F(WriteTest, TheServerSetsWhatIsItsOwn) {
  kube::Json pod = TestPod("a");
  for (const char* field : {"uid", "creationTimestamp", "deletionTimestamp", "selfLink"}) {
    kube::At(pod, {"metadata", field}) = "2001-01-01T00:00:00Z";
  }
  kube::At(pod, {"metadata", "generation"}) = 7;
  kube::At(pod, {"status", "phase"}) = "Running";
  TestAnswer answer = server.Post(kPodsPath, pod);
  ASSERT_EQ(answer.code, 201) << answer.body;
  EXPECT_TRUE(std::regex_match(
      std::string(answer.String({"metadata", "uid"})),
      std::regex("^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")));
  EXPECT_EQ(answer.String({"metadata", "creationTimestamp"}), "2026-07-01T00:00:00Z");
  EXPECT_EQ(kube::Find(answer.json, {"metadata", "deletionTimestamp"}), nullptr);
  EXPECT_EQ(kube::Find(answer.json, {"metadata", "selfLink"}), nullptr);
  EXPECT_EQ(kube::FindInt(answer.json, {"metadata", "generation"}), 1);
  EXPECT_EQ(answer.String({"metadata", "namespace"}), "default");
  EXPECT_EQ(answer.String({"status", "phase"}), "Pending");
  EXPECT_EQ(answer.String({"status", "qosClass"}), "BestEffort");
}

TEST_F(WriteTest, BuiltInKindsShowAStatusFromTheStart) {
  const std::string labels = R"("selector":{"matchLabels":{"app":"x"}})";
  const std::string pods = R"("template":{"metadata":{"labels":{"app":"x"}},"spec":)"
                           R"({"containers":[{"name":"c","image":"i"}]}})";
  const std::string job = R"("template":{"spec":{"restartPolicy":"Never",)"
                          R"("containers":[{"name":"c","image":"i"}]}})";
  const struct {
    std::string path, spec, status;
  } cases[] = {
      {"/apis/apps/v1/namespaces/default/deployments", labels + "," + pods, "{}"},
      {"/apis/apps/v1/namespaces/default/replicasets", labels + "," + pods, R"({"replicas":0})"},
      {"/apis/apps/v1/namespaces/default/statefulsets", labels + "," + pods,
       R"({"replicas":0,"availableReplicas":0})"},
      {"/apis/apps/v1/namespaces/default/daemonsets", labels + "," + pods,
       R"({"currentNumberScheduled":0,"desiredNumberScheduled":0,"numberMisscheduled":0,)"
       R"("numberReady":0})"},
      {"/apis/batch/v1/namespaces/default/jobs", job, "{}"},
      {"/apis/batch/v1/namespaces/default/cronjobs",
       R"("schedule":"* * * * *","jobTemplate":{"spec":{)" + job + "}}", "{}"},
      {"/apis/policy/v1/namespaces/default/poddisruptionbudgets", labels,
       R"({"currentHealthy":0,"desiredHealthy":0,"disruptionsAllowed":0,"expectedPods":0})"},
      {"/apis/storage.k8s.io/v1/volumeattachments",
       R"("attacher":"x","nodeName":"n","source":{"persistentVolumeName":"v"})",
       R"({"attached":false})"},
      {"/api/v1/namespaces", "", R"({"phase":"Active"})"},
      {"/api/v1/namespaces/default/services", R"("ports":[{"port":80}])", R"({"loadBalancer":{}})"},
      {"/api/v1/namespaces/default/resourcequotas", R"("hard":{"pods":"1"})", "{}"},
      {"/api/v1/namespaces/default/persistentvolumeclaims",
       R"("accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}})",
       R"({"phase":"Pending"})"},
      {"/api/v1/namespaces/default/replicationcontrollers", R"("selector":{"app":"x"},)" + pods,
       R"({"replicas":0})"},
      {"/api/v1/nodes", "",
       R"({"daemonEndpoints":{"kubeletEndpoint":{"Port":0}},"nodeInfo":{"architecture":"",)"
       R"("bootID":"","containerRuntimeVersion":"","kernelVersion":"","kubeProxyVersion":"",)"
       R"("kubeletVersion":"","machineID":"","operatingSystem":"","osImage":"",)"
       R"("systemUUID":""}})"},
  };
  for (const auto& [path, spec, status] : cases) {
    const std::string body = R"({"metadata":{"name":"fresh"},"spec":{)" + spec + "}}";
    TestAnswer answer = server.Post(path, Parse(body));
    ASSERT_EQ(answer.code, 201) << path << answer.body;
    const kube::Json* found = kube::Find(answer.json, {"status"});
    ASSERT_NE(found, nullptr) << path;
    EXPECT_EQ(*found, Parse(status)) << path;
  }
}

// Clients that read typed objects reach for members of these without looking.
TEST_F(WriteTest, NodesAndLeasesShowASpec) {
  for (const char* path : {"/api/v1/nodes", kLeases}) {
    TestAnswer answer = server.Post(path, Parse(R"({"metadata":{"name":"bare"}})"));
    ASSERT_EQ(answer.code, 201) << answer.body;
    EXPECT_NE(kube::FindObject(answer.json, {"spec"}), nullptr) << path;
  }
}

TEST_F(WriteTest, AStatusCanBeEmptiedButNotRemoved) {
  ASSERT_EQ(server.Post(kDeployments, TestDeployment("d")).code, 201);
  const std::string path = std::string(kDeployments) + "/d/status";
  TestAnswer answer = server.MergePatch(path, Parse(R"({"status":{"replicas":1}})"));
  EXPECT_EQ(kube::FindInt(answer.json, {"status", "replicas"}), 1) << answer.body;
  answer = server.MergePatch(path, Parse(R"({"status":null})"));
  const kube::Json* status = kube::Find(answer.json, {"status"});
  ASSERT_NE(status, nullptr) << answer.body;
  EXPECT_EQ(*status, Parse("{}"));
}

TEST_F(WriteTest, AJobHasTheLabelsOfItsPodsUnlessItHasSome) {
  const std::string path = "/apis/batch/v1/namespaces/default/jobs";
  const auto job = [](std::string_view meta) {
    return Parse(
        fmt::format(R"({{"metadata":{{{}}},"spec":{{"template":{{"spec":{{"restartPolicy":)"
                    R"("Never","containers":[{{"name":"c","image":"i"}}]}}}}}}}})",
                    meta));
  };
  TestAnswer answer = server.Post(path, job(R"("name":"a")"));
  EXPECT_EQ(answer.String({"metadata", "labels", "job-name"}), "a") << answer.body;
  answer = server.Post(path, job(R"("name":"b","labels":{"mine":"1"})"));
  EXPECT_EQ(kube::Find(answer.json, {"metadata", "labels", "job-name"}), nullptr) << answer.body;
}

TEST_F(WriteTest, CreateRefusals) {
  server.Post(kPodsPath, TestPod("a"));
  TestAnswer exists = server.Post(kPodsPath, TestPod("a"));
  EXPECT_EQ(exists.code, 409);
  EXPECT_EQ(exists.reason(), "AlreadyExists");
  EXPECT_EQ(exists.message(), "pods \"a\" already exists");
  EXPECT_EQ(exists.String({"details", "kind"}), "pods");

  kube::Json versioned = TestPod("b");
  kube::At(versioned, {"metadata", "resourceVersion"}) = "5";
  TestAnswer answer = server.Post(kPodsPath, versioned);
  EXPECT_EQ(answer.code, 500);
  EXPECT_EQ(answer.reason(), "");
  EXPECT_EQ(answer.message(), "resourceVersion should not be set on objects to be created");

  kube::Json elsewhere = TestPod("b");
  kube::At(elsewhere, {"metadata", "namespace"}) = "kube-system";
  answer = server.Post(kPodsPath, elsewhere);
  EXPECT_EQ(answer.code, 400);
  EXPECT_EQ(
      answer.message(),
      "the namespace of the provided object does not match the namespace sent on the request");

  answer = server.Post("/api/v1/namespaces/nowhere/pods", TestPod("a"));
  EXPECT_EQ(answer.code, 404);
  EXPECT_EQ(answer.message(), "namespaces \"nowhere\" not found");

  kube::Json other = TestDeployment("d");
  kube::At(other, {"kind"}) = "Deployment";
  answer = server.Post(kPodsPath, other);
  EXPECT_EQ(answer.code, 400);
  EXPECT_THAT(std::string(answer.message()), HasSubstr("cannot be handled as a Pod"));
}

TEST_F(WriteTest, AnObjectBeingDeletedStillHoldsItsName) {
  kube::Json map = TestConfigMap("a");
  kube::At(map, {"metadata", "finalizers"}) = kube::json::array{"x.io/f"};
  server.Post(kConfigMapsPath, map);
  server.Delete(std::string(kConfigMapsPath) + "/a");
  EXPECT_EQ(server.Post(kConfigMapsPath, TestConfigMap("a")).message(),
            "object is being deleted: configmaps \"a\" already exists");
}

TEST_F(WriteTest, UpdatesCompareVersions) {
  TestAnswer created = server.Post(kConfigMapsPath, TestConfigMap("a"));
  kube::Json map = created.json;
  kube::At(map, {"data", "k"}) = "2";
  TestAnswer updated = server.Put(std::string(kConfigMapsPath) + "/a", map);
  ASSERT_EQ(updated.code, 200) << updated.body;
  EXPECT_EQ(updated.String({"data", "k"}), "2");
  TestAnswer stale = server.Put(std::string(kConfigMapsPath) + "/a", map);
  EXPECT_EQ(stale.code, 409);
  EXPECT_EQ(stale.reason(), "Conflict");
  EXPECT_EQ(
      stale.message(),
      "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please "
      "apply your changes to the latest version and try again");
  // Without a version the last writer wins.
  EXPECT_EQ(server.Put(std::string(kConfigMapsPath) + "/a", TestConfigMap("a")).code, 200);
  kube::Json other_uid = TestConfigMap("a");
  kube::At(other_uid, {"metadata", "uid"}) = "other";
  TestAnswer wrong = server.Put(std::string(kConfigMapsPath) + "/a", other_uid);
  EXPECT_EQ(wrong.code, 409);
  EXPECT_THAT(
      std::string(wrong.message()),
      HasSubstr(fmt::format("Precondition failed: UID in precondition: other, UID in object "
                            "meta: {}",
                            created.String({"metadata", "uid"}))));
}

TEST_F(WriteTest, SomeKindsWantAVersion) {
  const auto lease = Parse(R"({"metadata":{"name":"l"},"spec":{"holderIdentity":"a"}})");
  ASSERT_EQ(server.Post(kLeases, lease).code, 201);
  TestAnswer answer = server.Put(std::string(kLeases) + "/l", lease);
  EXPECT_EQ(answer.code, 422);
  EXPECT_EQ(answer.message(),
            "leases.coordination.k8s.io \"l\" is invalid: metadata.resourceVersion: Invalid value: "
            "0: must be specified for an update");
}

TEST_F(WriteTest, SomeKindsAreCreatedByPut) {
  const auto lease = Parse(R"({"metadata":{"name":"l"},"spec":{"holderIdentity":"a"}})");
  EXPECT_EQ(server.Put(std::string(kLeases) + "/l", lease).code, 201);
  TestAnswer answer = server.Put(std::string(kConfigMapsPath) + "/x", TestConfigMap("x"));
  EXPECT_EQ(answer.code, 404);
  EXPECT_EQ(answer.message(), "configmaps \"x\" not found");
}

TEST_F(WriteTest, TheNameInTheUrlCounts) {
  server.Post(kConfigMapsPath, TestConfigMap("a"));
  TestAnswer answer = server.Put(std::string(kConfigMapsPath) + "/a", TestConfigMap("b"));
  EXPECT_EQ(answer.code, 400);
  EXPECT_EQ(answer.message(), "the name of the object (b) does not match the name on the URL (a)");
  kube::Json unnamed = TestConfigMap("a");
  unnamed.as_object()["metadata"] = kube::json::object();
  EXPECT_EQ(server.Put(std::string(kConfigMapsPath) + "/a", unnamed).code, 200);
}

TEST_F(WriteTest, StatusAndSpecAreWrittenApart) {
  TestAnswer created = server.Post(kDeployments, TestDeployment("d"));
  ASSERT_EQ(created.code, 201) << created.body;
  const std::string path = std::string(kDeployments) + "/d";
  kube::Json object = created.json;
  kube::At(object, {"status", "replicas"}) = 3;
  TestAnswer main = server.Put(path, object);
  EXPECT_EQ(kube::Find(main.json, {"status", "replicas"}), nullptr);
  EXPECT_EQ(main.String({"metadata", "resourceVersion"}),
            created.String({"metadata", "resourceVersion"}));

  kube::At(object, {"spec", "replicas"}) = 9;
  kube::At(object, {"metadata", "labels", "l"}) = "1";
  TestAnswer status = server.Put(path + "/status", object);
  ASSERT_EQ(status.code, 200) << status.body;
  EXPECT_EQ(kube::FindInt(status.json, {"status", "replicas"}), 3);
  EXPECT_EQ(kube::FindInt(status.json, {"spec", "replicas"}), 1);
  EXPECT_EQ(status.String({"metadata", "labels", "l"}), "1");
  EXPECT_EQ(kube::FindInt(status.json, {"metadata", "generation"}), 1);

  TestAnswer scaled = server.MergePatch(path, Parse(R"({"spec":{"replicas":2}})"));
  EXPECT_EQ(kube::FindInt(scaled.json, {"metadata", "generation"}), 2);
  TestAnswer noted = server.MergePatch(path, Parse(R"({"metadata":{"annotations":{"a":"b"}}})"));
  EXPECT_EQ(kube::FindInt(noted.json, {"metadata", "generation"}), 3);
  EXPECT_EQ(server.Get(path + "/status").json, noted.json);
}

TEST_F(WriteTest, DeletionFieldsBelongToDelete) {
  server.Post(kConfigMapsPath, TestConfigMap("a"));
  TestAnswer answer =
      server.MergePatch(std::string(kConfigMapsPath) + "/a",
                        Parse(R"({"metadata":{"deletionTimestamp":"2026-07-01T00:00:00Z"}})"));
  EXPECT_EQ(answer.code, 422);
  EXPECT_THAT(
      std::string(answer.message()),
      HasSubstr("metadata.deletionTimestamp: Invalid value: \"2026-07-01T00:00:00Z\": field "
                "is immutable"));
}

TEST_F(WriteTest, ManyMistakesMakeNoLongAnswers) {
  kube::Json pod = TestPod("a");
  for (int i = 0; i < 5000; ++i) kube::At(pod, {"spec", fmt::format("unknown{}", i)}) = 1;
  const TestAnswer warned = server.Post(std::string(kPodsPath) + "?dryRun=All", pod);
  EXPECT_EQ(warned.code, 201);
  EXPECT_EQ(warned.warnings().size(), 101u);
  EXPECT_EQ(warned.warnings().back(), "299 - \"and 4900 more unknown or duplicate fields\"");
  size_t header_bytes = 0;
  for (const auto& [name, value] : warned.headers) header_bytes += name.size() + value.size();
  EXPECT_LT(header_bytes, 8192u);

  const TestAnswer strict = server.Post(std::string(kPodsPath) + "?fieldValidation=Strict", pod);
  EXPECT_EQ(strict.code, 400);
  EXPECT_THAT(std::string(strict.message()),
              testing::EndsWith("and 4900 more unknown or duplicate fields"));

  kube::Json invalid = TestPod("b");
  kube::json::array containers(5000, kube::json::object{{"name", "NOT OK"}});
  kube::At(invalid, {"spec", "containers"}) = std::move(containers);
  const TestAnswer refused = server.Post(kPodsPath, invalid);
  EXPECT_EQ(refused.code, 422);
  EXPECT_EQ(refused.json.at("details").at("causes").as_array().size(), 100u);
  EXPECT_THAT(std::string(refused.message()), testing::EndsWith("and 9900 more errors]"));
}

// The key of a map is in the path of everything below it.
TEST_F(WriteTest, LongKeysAndValuesAreCutInErrors) {
  kube::Json pod = TestPod("a");
  kube::At(pod, {"metadata", "labels", std::string(100'000, 'x')}) = std::string(100'000, 'y');
  const TestAnswer refused = server.Post(kPodsPath, pod);
  EXPECT_EQ(refused.code, 422);
  EXPECT_LT(refused.body.size(), 20'000u);
}

TEST_F(WriteTest, UnknownFieldsWarnOrFail) {
  kube::Json pod = TestPod("a");
  kube::At(pod, {"spec", "foo"}) = 1;
  kube::At(pod, {"metadata", "bar"}) = 1;
  TestAnswer strict = server.Post(std::string(kPodsPath) + "?fieldValidation=Strict", pod);
  EXPECT_EQ(strict.code, 400);
  EXPECT_EQ(
      strict.message(),
      "Pod in version \"v1\" cannot be handled as a Pod: strict decoding error: unknown field "
      "\"metadata.bar\", unknown field \"spec.foo\"");
  TestAnswer ignored =
      server.Post(std::string(kPodsPath) + "?fieldValidation=Ignore&dryRun=All", pod);
  EXPECT_EQ(ignored.code, 201);
  EXPECT_THAT(ignored.warnings(), IsEmpty());
  TestAnswer warned = server.Post(kPodsPath, pod);
  EXPECT_EQ(warned.code, 201);
  EXPECT_THAT(warned.warnings(), ElementsAre(R"(299 - "unknown field \"metadata.bar\"")",
                                             R"(299 - "unknown field \"spec.foo\"")"));
  EXPECT_EQ(kube::Find(warned.json, {"spec", "foo"}), nullptr);

  TestAnswer bad = server.Post(std::string(kPodsPath) + "?fieldValidation=foo", pod);
  EXPECT_EQ(bad.code, 422);
  EXPECT_EQ(
      bad.message(),
      "CreateOptions.meta.k8s.io \"\" is invalid: fieldValidation: Unsupported value: \"foo\": "
      "supported values: \"\", \"Ignore\", \"Strict\", \"Warn\"");
}

TEST_F(WriteTest, DuplicateFieldsWarnOrFail) {
  const std::string body = R"({"metadata":{"name":"a"},"data":{"x":"1","x":"2"}})";
  TestAnswer warned = server.Send("POST", std::string(kConfigMapsPath) + "?dryRun=All", body);
  EXPECT_THAT(warned.warnings(), ElementsAre(R"(299 - "duplicate field \"data.x\"")"));
  EXPECT_EQ(
      server.Send("POST", std::string(kConfigMapsPath) + "?fieldValidation=Strict", body).code,
      400);
}

TEST_F(WriteTest, TypesAreChecked) {
  kube::Json deployment = TestDeployment("d");
  kube::At(deployment, {"spec", "replicas"}) = "three";
  TestAnswer answer = server.Post(kDeployments, deployment);
  EXPECT_EQ(answer.code, 400);
  EXPECT_THAT(std::string(answer.message()), HasSubstr("spec.replicas"));
}

TEST_F(WriteTest, DryRunStoresNothing) {
  const uint64_t before = server.store->revision();
  TestAnswer answer = server.Post(std::string(kPodsPath) + "?dryRun=All&dryRun=All", TestPod("a"));
  EXPECT_EQ(answer.code, 201);
  EXPECT_NE(answer.String({"metadata", "uid"}), "");
  EXPECT_EQ(answer.String({"metadata", "resourceVersion"}), "");
  EXPECT_EQ(server.Get(std::string(kPodsPath) + "/a").code, 404);
  EXPECT_EQ(server.store->revision(), before);
  TestAnswer bad = server.Post(std::string(kPodsPath) + "?dryRun=x", TestPod("a"));
  EXPECT_EQ(bad.code, 422);
  EXPECT_THAT(std::string(bad.message()),
              HasSubstr("dryRun: Unsupported value: [\"x\"]: supported values: \"All\""));

  server.Post(kConfigMapsPath, TestConfigMap("m"));
  const std::string path = std::string(kConfigMapsPath) + "/m";
  TestAnswer patched = server.MergePatch(path + "?dryRun=All", Parse(R"({"data":{"k":"2"}})"));
  EXPECT_EQ(patched.String({"data", "k"}), "2");
  EXPECT_EQ(server.Delete(path + "?dryRun=All").code, 200);
  EXPECT_EQ(server.Get(path).String({"data", "k"}), "v");
}

TEST_F(WriteTest, QuantitiesAreCanonicalSoThatEqualOnesAreNoChange) {
  kube::Json pod = TestPod("a");
  pod.at("spec").at("containers").at(0).as_object()["resources"] =
      Parse(R"({"requests":{"cpu":"0.5","memory":"1024Mi"}})");
  TestAnswer created = server.Post(kPodsPath, pod);
  const kube::Json& requests =
      created.json.at("spec").at("containers").at(0).at("resources").at("requests");
  EXPECT_EQ(requests, Parse(R"({"cpu":"500m","memory":"1Gi"})"));
  TestAnswer patched = server.Send(
      "PATCH", std::string(kPodsPath) + "/a",
      R"({"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"0.5"}}}]}})",
      "application/strategic-merge-patch+json");
  ASSERT_EQ(patched.code, 200) << patched.body;
  EXPECT_EQ(patched.String({"metadata", "resourceVersion"}),
            created.String({"metadata", "resourceVersion"}));
}

TEST_F(WriteTest, SameSeedSameRun) {
  TestServer other;
  EXPECT_EQ(server.Post(kPodsPath, TestPod("a")).body, other.Post(kPodsPath, TestPod("a")).body);
}

}  // namespace
}  // namespace koord::apiserver::write_test
