#include <gmock/gmock.h>

#include "kube/yaml.h"
#include "localcluster/apiserver/server_testing.h"

namespace koord::apiserver::resource_quotas_test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kQuotasPath[] = "/api/v1/namespaces/default/resourcequotas";
constexpr char kLimitsPath[] = "/api/v1/namespaces/default/limitranges";

class QuotaTest : public testing::Test {
 protected:
  void CreateQuota(const std::string& name, const std::string& spec) {
    const TestAnswer answer = server_->Post(
        kQuotasPath, *kube::ParseYaml("{metadata: {name: " + name + "}, spec: " + spec + "}"));
    ASSERT_EQ(answer.code, 201) << answer.body;
  }
  TestAnswer CreatePod(const std::string& name, const std::string& resources,
                       const std::string& more = "", const std::string& query = "") {
    return server_->Post(
        kPodsPath + query,
        *kube::ParseYaml("{metadata: {name: " + name + "}, spec: {" + more +
                         " containers: [{name: c, image: i, resources: " + resources + "}]}}"));
  }
  std::string Used(const std::string& name) {
    const kube::Json quota = Parse(server_->Get(std::string(kQuotasPath) + "/" + name).body);
    const kube::Json* used = kube::Find(quota, {"status", "used"});
    return used == nullptr ? "none" : kube::Serialize(*used);
  }
  std::string Pod(const std::string& name) { return std::string(kPodsPath) + "/" + name; }
  void Restart() {
    server_->server = nullptr;
    server_->server =
        std::make_unique<ApiServer>(server_->loop, *server_->store, ApiServer::Options{});
    server_->loop.RunReady();
  }

  std::unique_ptr<TestServer> server_ = std::make_unique<TestServer>();
};

TEST_F(QuotaTest, RefusesWhatIsMoreThanIsLeft) {
  CreateQuota("q", "{hard: {cpu: 2, pods: 10}}");
  EXPECT_EQ(Used("q"), R"({"cpu":"0","pods":"0"})");
  EXPECT_EQ(CreatePod("a", "{requests: {cpu: 1}}").code, 201);
  EXPECT_EQ(Used("q"), R"({"cpu":"1","pods":"1"})");
  const TestAnswer refused = CreatePod("b", "{requests: {cpu: 2}}");
  EXPECT_EQ(refused.code, 403);
  EXPECT_EQ(kube::FindString(Parse(refused.body), {"message"}),
            "pods \"b\" is forbidden: exceeded quota: q, requested: cpu=2, used: cpu=1, limited: "
            "cpu=2");
  EXPECT_EQ(CreatePod("b", "{requests: {cpu: 1}}").code, 201);
  EXPECT_EQ(server_->Delete(Pod("a"), Parse(R"({"gracePeriodSeconds":0})")).code, 200);
  EXPECT_EQ(Used("q"), R"({"cpu":"1","pods":"1"})");
}

TEST_F(QuotaTest, DryRunsAreCheckedAndNotCharged) {
  CreateQuota("q", "{hard: {pods: 1}}");
  EXPECT_EQ(CreatePod("a", "{}", "", "?dryRun=All").code, 201);
  EXPECT_EQ(Used("q"), R"({"pods":"0"})");
  EXPECT_EQ(CreatePod("a", "{}").code, 201);
  EXPECT_EQ(CreatePod("b", "{}", "", "?dryRun=All").code, 403);
}

TEST_F(QuotaTest, ContainersMustSayWhatIsBounded) {
  CreateQuota("q", "{hard: {requests.cpu: 2, limits.memory: 1Gi}}");
  EXPECT_EQ(kube::FindString(Parse(CreatePod("a", "{}").body), {"message"}),
            "pods \"a\" is forbidden: failed quota: q: must specify limits.memory for: c; "
            "requests.cpu for: c");
}

TEST_F(QuotaTest, EndedPodsGiveBackWhatTheyHad) {
  CreateQuota("q", "{hard: {cpu: 2, count/pods: 5}}");
  CreatePod("a", "{requests: {cpu: 2}}");
  EXPECT_EQ(
      server_->MergePatch(Pod("a") + "/status", Parse(R"({"status":{"phase":"Failed"}})")).code,
      200);
  EXPECT_EQ(Used("q"), R"({"count/pods":"1","cpu":"0"})");
}

TEST_F(QuotaTest, PodsThatOutstayTheirDeletionDoNotCount) {
  CreateQuota("q", "{hard: {pods: 2}}");
  CreatePod("a", "{}");
  server_->Post(Pod("a") + "/binding", Parse(R"({"target":{"name":"gone"}})"));
  EXPECT_EQ(server_->Delete(Pod("a"), Parse(R"({"gracePeriodSeconds":30})")).code, 200);
  EXPECT_EQ(Used("q"), R"({"pods":"1"})");
  server_->loop.Advance(61s);
  EXPECT_EQ(server_->Get(Pod("a")).code, 200);
  EXPECT_EQ(Used("q"), R"({"pods":"0"})");
}

TEST_F(QuotaTest, CountsObjectsOfAnyKind) {
  CreateQuota("q", "{hard: {configmaps: 1, count/deployments.apps: 0, resourcequotas: 2}}");
  EXPECT_EQ(server_->Post(kConfigMapsPath, TestConfigMap("a")).code, 201);
  EXPECT_EQ(Used("q"), R"({"configmaps":"1","count/deployments.apps":"0","resourcequotas":"1"})");
  EXPECT_THAT(server_->Post(kConfigMapsPath, TestConfigMap("b")).body,
              HasSubstr("exceeded quota: q, requested: configmaps=1, used: configmaps=1, limited: "
                        "configmaps=1"));
  EXPECT_EQ(server_->Put(std::string(kConfigMapsPath) + "/a", TestConfigMap("a")).code, 200);
  EXPECT_THAT(
      server_
          ->Post("/apis/apps/v1/namespaces/default/deployments",
                 *kube::ParseYaml("{metadata: {name: d}, spec: {selector: {matchLabels: {a: b}}, "
                                  "template: {metadata: {labels: {a: b}}, spec: {containers: "
                                  "[{name: c, image: i}]}}}}"))
          .body,
      HasSubstr("limited: count/deployments.apps=0"));
  EXPECT_EQ(server_->Delete(std::string(kConfigMapsPath) + "/a").code, 200);
  EXPECT_EQ(Used("q"), R"({"configmaps":"0","count/deployments.apps":"0","resourcequotas":"1"})");
}

TEST_F(QuotaTest, ScopesSelectPods) {
  CreateQuota("best", "{hard: {pods: 1}, scopes: [BestEffort]}");
  CreateQuota("others", "{hard: {requests.cpu: 1}, scopes: [NotBestEffort]}");
  EXPECT_EQ(CreatePod("a", "{}").code, 201);
  EXPECT_EQ(CreatePod("b", "{}").code, 403);
  EXPECT_EQ(CreatePod("b", "{requests: {cpu: 1}}").code, 201);
  EXPECT_EQ(CreatePod("c", "{requests: {cpu: 1}}").code, 403);
  EXPECT_EQ(Used("best"), R"({"pods":"1"})");
  EXPECT_EQ(Used("others"), R"({"requests.cpu":"1"})");
}

TEST_F(QuotaTest, BoundsBatchResources) {
  CreateQuota("q", "{hard: {requests.kubernetes.io/batch-cpu: 1000}}");
  const std::string half =
      "{requests: {kubernetes.io/batch-cpu: 600}, limits: {kubernetes.io/batch-cpu: 600}}";
  EXPECT_EQ(CreatePod("a", half).code, 201);
  EXPECT_THAT(CreatePod("b", half).body,
              HasSubstr("requested: requests.kubernetes.io/batch-cpu=600, used: "
                        "requests.kubernetes.io/batch-cpu=600, limited: "
                        "requests.kubernetes.io/batch-cpu=1k"));
}

TEST_F(QuotaTest, FollowsItsOwnSpecAndMendsItsStatus) {
  CreatePod("a", "{requests: {cpu: 1}}");
  CreateQuota("q", "{hard: {cpu: 5}}");
  EXPECT_EQ(Used("q"), R"({"cpu":"1"})");
  const std::string path = std::string(kQuotasPath) + "/q";
  server_->MergePatch(path, Parse(R"({"spec":{"hard":{"pods":"7"}}})"));
  EXPECT_EQ(Used("q"), R"({"cpu":"1","pods":"1"})");
  EXPECT_EQ(kube::Serialize(*kube::Find(Parse(server_->Get(path).body), {"status", "hard"})),
            R"({"cpu":"5","pods":"7"})");
  server_->MergePatch(path + "/status", Parse(R"({"status":{"used":{"cpu":"4"}}})"));
  EXPECT_EQ(Used("q"), R"({"cpu":"1","pods":"1"})");
}

TEST_F(QuotaTest, CountsAnewWhenTheServerStarts) {
  CreateQuota("q", "{hard: {pods: 2}}");
  CreatePod("a", "{}");
  Restart();
  EXPECT_EQ(Used("q"), R"({"pods":"1"})");
  EXPECT_EQ(CreatePod("b", "{}").code, 201);
  EXPECT_EQ(CreatePod("c", "{}").code, 403);
}

TEST_F(QuotaTest, ResizingAPodTakesMore) {
  CreateQuota("q", "{hard: {cpu: 3}}");
  ASSERT_EQ(CreatePod("a", "{requests: {cpu: 1}}").code, 201);
  const auto resize = [&](const std::string& cpu) {
    return server_
        ->Send("PATCH", Pod("a") + "/resize",
               R"({"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":")" + cpu +
                   R"("}}}]}})",
               "application/strategic-merge-patch+json")
        .body;
  };
  EXPECT_THAT(resize("4"), HasSubstr("exceeded quota: q, requested: cpu=3, used: cpu=1"));
  EXPECT_THAT(resize("3"), Not(HasSubstr("exceeded")));
  EXPECT_EQ(Used("q"), R"({"cpu":"3"})");
}

TEST_F(QuotaTest, RefusesQuotasThatMakeNoSense) {
  const struct {
    const char *spec, *complaint;
  } kCases[] = {
      {"{hard: {cpux: 1}}",
       "spec.hard[cpux]: Invalid value: \\\"cpux\\\": must be a standard resource for quota"},
      {"{hard: {pods: -1}}",
       "spec.hard[pods]: Invalid value: \\\"-1\\\": must be greater than or equal to 0"},
      {"{hard: {pods: 500m}}", "must be an integer"},
      {"{hard: {pods: 1}, scopes: [Odd]}", "unsupported scope"},
      {"{hard: {pods: 1}, scopes: [BestEffort, NotBestEffort]}", "conflicting scopes"},
      {"{hard: {cpu: 1}, scopes: [BestEffort]}", "unsupported scope applied to resource"},
      {"{hard: {pods: 1}, scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: "
       "In}]}}",
       "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"},
  };
  for (const auto& test : kCases) {
    const TestAnswer answer = server_->Post(
        kQuotasPath,
        *kube::ParseYaml("{metadata: {name: q}, spec: " + std::string(test.spec) + "}"));
    EXPECT_EQ(answer.code, 422) << test.spec;
    EXPECT_THAT(answer.body, HasSubstr(test.complaint));
  }
}

TEST_F(QuotaTest, LimitRangesFillInAndRefuse) {
  const TestAnswer made = server_->Post(
      kLimitsPath, *kube::ParseYaml("{metadata: {name: l}, spec: {limits: [{type: Container, min: "
                                    "{cpu: 100m}, max: {cpu: 1}, defaultRequest: {cpu: 200m}}]}}"));
  ASSERT_EQ(made.code, 201) << made.body;
  EXPECT_THAT(made.body, HasSubstr(R"("default":{"cpu":"1"})"));
  const TestAnswer filled = CreatePod("a", "{}");
  EXPECT_THAT(filled.body, HasSubstr(R"("requests":{"cpu":"200m"})"));
  EXPECT_THAT(filled.body, HasSubstr(R"("limits":{"cpu":"1"})"));
  EXPECT_THAT(filled.body,
              HasSubstr("LimitRanger plugin set: cpu request for container c; cpu limit"));
  const TestAnswer refused = CreatePod("b", "{requests: {cpu: 50m}, limits: {cpu: 2}}");
  EXPECT_EQ(refused.code, 403);
  EXPECT_EQ(
      kube::FindString(Parse(refused.body), {"message"}),
      "pods \"b\" is forbidden: [minimum cpu usage per Container is 100m, but request is 50m, "
      "maximum cpu usage per Container is 1, but limit is 2]");
  // What is filled in is what quotas count.
  CreateQuota("q", "{hard: {cpu: 300m}}");
  EXPECT_EQ(Used("q"), R"({"cpu":"200m"})");
  EXPECT_THAT(CreatePod("c", "{}").body, HasSubstr("requested: cpu=200m, used: cpu=200m"));
}

TEST_F(QuotaTest, RefusesLimitRangesThatMakeNoSense) {
  const struct {
    const char *item, *complaint;
  } kCases[] = {
      {"{type: Container, min: {cpu: 2}, max: {cpu: 1}}",
       "min value 2 is greater than max value 1"},
      {"{type: Container, default: {cpu: 2}, max: {cpu: 1}}",
       "default value 2 is greater than max value 1"},
      {"{type: Container, defaultRequest: {cpu: 2}, default: {cpu: 1}}",
       "default request value 2 is greater than default limit value 1"},
      {"{type: Container, maxLimitRequestRatio: {cpu: 500m}}", "ratio 500m is less than 1"},
      {"{type: Pod, default: {cpu: 1}}", "may not be specified when `type` is 'Pod'"},
      {"{type: Odd}", "must be a standard limit type or fully qualified"},
      {"{type: PersistentVolumeClaim}", "either minimum or maximum storage value is required"},
      {"{type: Pod}, {type: Pod}", "spec.limits[1].type: Duplicate value: \\\"Pod\\\""},
  };
  for (const auto& test : kCases) {
    const TestAnswer answer =
        server_->Post(kLimitsPath, *kube::ParseYaml("{metadata: {name: l}, spec: {limits: [" +
                                                    std::string(test.item) + "]}}"));
    EXPECT_EQ(answer.code, 422) << test.item;
    EXPECT_THAT(answer.body, HasSubstr(test.complaint));
  }
}

TEST_F(QuotaTest, LimitRangesBoundClaims) {
  server_->Post(kLimitsPath, *kube::ParseYaml("{metadata: {name: l}, spec: {limits: [{type: "
                                              "PersistentVolumeClaim, max: {storage: 2Gi}}]}}"));
  const TestAnswer refused = server_->Post(
      "/api/v1/namespaces/default/persistentvolumeclaims",
      *kube::ParseYaml("{metadata: {name: d}, spec: {accessModes: [ReadWriteOnce], resources: "
                       "{requests: {storage: 3Gi}}}}"));
  EXPECT_EQ(refused.code, 403);
  EXPECT_THAT(refused.body, HasSubstr("maximum storage usage per PersistentVolumeClaim is 2Gi, but "
                                      "request is 3Gi"));
}

}  // namespace
}  // namespace koord::apiserver::resource_quotas_test
