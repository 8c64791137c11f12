#include "localcluster/apiserver/registry/defaults.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "localcluster/apiserver/registry/prepare.h"

namespace koord::apiserver::defaults_test {
namespace {

using kube::Json;

Json Parse(std::string_view text) {
  auto parsed = kube::ParseJson(text);
  EXPECT_TRUE(parsed.ok()) << text;
  return *parsed;
}

TEST(DefaultsTest, Pod) {
  Json pod = Parse(R"({"spec":{"containers":[{"name":"c","image":"nginx",
      "ports":[{"containerPort":80}],"livenessProbe":{"httpGet":{"port":80}},
      "env":[{"name":"E","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}],
      "resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"500m"}}}],
      "volumes":[{"name":"a"},{"name":"b","configMap":{"name":"m"}},{"name":"h","hostPath":{"path":"/x"}}]}})");
  DefaultPod(pod);
  const Json expected = Parse(R"({"spec":{
      "restartPolicy":"Always","dnsPolicy":"ClusterFirst","schedulerName":"default-scheduler",
      "terminationGracePeriodSeconds":30,"securityContext":{},"enableServiceLinks":true,
      "containers":[{"name":"c","image":"nginx","imagePullPolicy":"Always",
        "terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File",
        "ports":[{"containerPort":80,"protocol":"TCP"}],
        "livenessProbe":{"httpGet":{"port":80,"path":"/","scheme":"HTTP"},"timeoutSeconds":1,
          "periodSeconds":10,"successThreshold":1,"failureThreshold":3},
        "env":[{"name":"E","valueFrom":{"fieldRef":{"fieldPath":"metadata.name","apiVersion":"v1"}}}],
        "resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"500m","memory":"1Gi"}}}],
      "volumes":[{"name":"a","emptyDir":{}},{"name":"b","configMap":{"name":"m","defaultMode":420}},
        {"name":"h","hostPath":{"path":"/x","type":""}}]}})");
  EXPECT_EQ(pod, expected) << kube::Serialize(pod);
  Json again = pod;
  DefaultPod(again);
  EXPECT_EQ(again, pod);
}

// Overwrites what is given back and gives it to nobody else, so that a pointer that outlives an
// insertion leads to nonsense in every build, not only under a sanitizer.
class PoisoningMemory final : public kube::json::memory_resource {
 private:
  void* do_allocate(size_t size, size_t) override {
    blocks_.push_back(std::make_unique<char[]>(size));
    return blocks_.back().get();
  }
  void do_deallocate(void* block, size_t size, size_t) override { std::memset(block, 0xdd, size); }
  bool do_is_equal(const kube::json::memory_resource& other) const noexcept override {
    return this == &other;
  }

  std::vector<std::unique_ptr<char[]>> blocks_;
};

// A parsed object has no room to spare: the first insertion into it moves all of its members.
TEST(DefaultsTest, NothingIsReadFromWhereAMemberWas) {
  struct Case {
    const char* name;
    void (*apply)(Json&);
    const char* before;
    std::initializer_list<std::string_view> path;
    const char* after;
  };
  const Case cases[] = {
      {"limits become requests beside them",
       DefaultPod,
       R"({"spec":{"containers":[{"resources":{"limits":{"cpu":"1","memory":"1Gi","x.io/y":"2"}}}]}})",
       {"spec", "containers"},
       R"([{"resources":{"limits":{"cpu":"1","memory":"1Gi","x.io/y":"2"},
            "requests":{"cpu":"1","memory":"1Gi","x.io/y":"2"}},"imagePullPolicy":"Always",
            "terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"}])"},
      {"text becomes data beside it",
       DefaultSecret,
       R"({"type":"t","stringData":{"a":"new","b":"y"}})",
       {},
       R"({"type":"t",
            "data":{"a":"bmV3","b":"eQ=="}})"},
      {"a controller without metadata gets labels and a selector",
       DefaultReplicationController,
       R"({"spec":{"replicas":2,"template":{"metadata":{"labels":{"a":"b"}}}}})",
       {},
       R"({"spec":{"replicas":2,"template":{"metadata":{"labels":{"a":"b"}}},
           "selector":{"a":"b"}},"metadata":{"labels":{"a":"b"}}})"},
      {"a job without metadata gets labels and a template",
       DefaultJob,
       R"({"spec":{"template":{"metadata":{"labels":{"a":"b"}},"spec":{"restartPolicy":"Never"}}}})",
       {"spec", "template", "spec"},
       R"({"restartPolicy":"Never","dnsPolicy":"ClusterFirst","schedulerName":"default-scheduler",
           "terminationGracePeriodSeconds":30,"securityContext":{}})"},
      {"host ports are those of the container",
       DefaultPod,
       R"({"spec":{"hostNetwork":true,"containers":[{"ports":[{"containerPort":80}],"resources":{},
            "image":"a:1","terminationMessagePath":"t","terminationMessagePolicy":"p",
            "imagePullPolicy":"i"}]}})",
       {"spec", "containers"},
       R"([{"ports":[{"containerPort":80,"hostPort":80,"protocol":"TCP"}],"resources":{},
            "image":"a:1","terminationMessagePath":"t","terminationMessagePolicy":"p",
            "imagePullPolicy":"i"}])"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    PoisoningMemory memory;
    Json object = kube::json::parse(c.before, kube::json::storage_ptr(&memory));
    c.apply(object);
    const Json* found = kube::Find(object, c.path);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(*found, Parse(c.after)) << kube::Serialize(*found);
  }
}

TEST(DefaultsTest, ImagePullPolicyFollowsTheTag) {
  struct Case {
    const char* image;
    const char* policy;
  };
  const Case cases[] = {
      {"nginx", "Always"},
      {"nginx:latest", "Always"},
      {"nginx:1.25", "IfNotPresent"},
      {"registry:5000/nginx", "Always"},
      {"registry:5000/nginx:1", "IfNotPresent"},
      {"nginx@sha256:abc", "IfNotPresent"},
      {"nginx:latest@sha256:abc", "IfNotPresent"},
  };
  for (const Case& c : cases) {
    Json pod = Parse(R"({"spec":{"containers":[{"name":"c"}]}})");
    pod.at("spec").at("containers").at(0).as_object()["image"] = c.image;
    DefaultPod(pod);
    EXPECT_EQ(kube::FindString(pod.at("spec").at("containers").at(0), {"imagePullPolicy"}),
              c.policy)
        << c.image;
  }
}

TEST(DefaultsTest, Workloads) {
  Json deployment = Parse(R"({"spec":{"template":{"spec":{"containers":[]}}}})");
  DefaultDeployment(deployment);
  EXPECT_EQ(
      deployment.at("spec").at("strategy"),
      Parse(
          R"({"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"25%","maxSurge":"25%"}})"));
  EXPECT_EQ(kube::FindInt(deployment, {"spec", "replicas"}), 1);
  EXPECT_EQ(kube::FindInt(deployment, {"spec", "revisionHistoryLimit"}), 10);
  EXPECT_EQ(kube::FindInt(deployment, {"spec", "progressDeadlineSeconds"}), 600);
  EXPECT_EQ(kube::FindString(deployment, {"spec", "template", "spec", "restartPolicy"}), "Always");
  EXPECT_EQ(kube::Find(deployment, {"spec", "template", "spec", "enableServiceLinks"}), nullptr);

  Json recreate = Parse(R"({"spec":{"replicas":0,"strategy":{"type":"Recreate"}}})");
  DefaultDeployment(recreate);
  EXPECT_EQ(recreate.at("spec").at("strategy"), Parse(R"({"type":"Recreate"})"));
  EXPECT_EQ(kube::FindInt(recreate, {"spec", "replicas"}, -1), 0);

  Json stateful = Parse(R"({"spec":{}})");
  DefaultStatefulSet(stateful);
  EXPECT_EQ(kube::FindString(stateful, {"spec", "podManagementPolicy"}), "OrderedReady");
  EXPECT_EQ(stateful.at("spec").at("persistentVolumeClaimRetentionPolicy"),
            Parse(R"({"whenDeleted":"Retain","whenScaled":"Retain"})"));
  EXPECT_EQ(stateful.at("spec").at("updateStrategy"),
            Parse(R"({"type":"RollingUpdate","rollingUpdate":{"partition":0}})"));

  Json daemon = Parse(R"({"spec":{}})");
  DefaultDaemonSet(daemon);
  EXPECT_EQ(daemon.at("spec").at("updateStrategy"),
            Parse(R"({"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":1,"maxSurge":0}})"));
}

TEST(DefaultsTest, Jobs) {
  Json job = Parse(R"({"metadata":{"name":"j","uid":"u"},"spec":{"template":{"metadata":
      {"labels":{"a":"b"}},"spec":{"containers":[]}}}})");
  DefaultJob(job);
  EXPECT_EQ(kube::FindInt(job, {"spec", "completions"}), 1);
  EXPECT_EQ(kube::FindInt(job, {"spec", "parallelism"}), 1);
  EXPECT_EQ(kube::FindInt(job, {"spec", "backoffLimit"}), 6);
  EXPECT_EQ(kube::FindString(job, {"spec", "completionMode"}), "NonIndexed");
  EXPECT_EQ(kube::FindString(job, {"metadata", "labels", "a"}), "b");
  PrepareJobCreate(job);
  EXPECT_EQ(job.at("spec").at("selector"),
            Parse(R"({"matchLabels":{"batch.kubernetes.io/controller-uid":"u"}})"));
  EXPECT_EQ(kube::FindString(job, {"spec", "template", "metadata", "labels", "job-name"}), "j");

  Json queue = Parse(R"({"spec":{"parallelism":3}})");
  DefaultJob(queue);
  EXPECT_EQ(kube::Find(queue, {"spec", "completions"}), nullptr);
}

TEST(DefaultsTest, SecretsTurnTextIntoBase64) {
  Json secret = Parse(R"({"data":{"a":"eA=="},"stringData":{"a":"new","b":"y"}})");
  DefaultSecret(secret);
  EXPECT_EQ(secret, Parse(R"({"type":"Opaque","data":{"a":"bmV3","b":"eQ=="}})"));
}

TEST(DefaultsTest, OthersSurviveNonsense) {
  for (const char* text : {"{}", R"({"spec":null})", R"({"spec":3})", R"({"spec":{"ports":"x"}})",
                           R"({"spec":{"template":[],"containers":[1,null]}})"}) {
    for (auto* apply : {DefaultPod, DefaultDeployment, DefaultReplicaSet, DefaultStatefulSet,
                        DefaultDaemonSet, DefaultJob, DefaultCronJob, DefaultService,
                        DefaultEndpoints, DefaultPersistentVolume, DefaultReplicationController}) {
      Json object = Parse(text);
      apply(object);
    }
  }
}

TEST(PrepareTest, QosClass) {
  struct Case {
    const char* resources;
    const char* qos;
  };
  const Case cases[] = {
      {"{}", "BestEffort"},
      {R"({"requests":{"cpu":"0"}})", "BestEffort"},
      {R"({"requests":{"nvidia.com/gpu":"1"}})", "BestEffort"},
      {R"({"requests":{"cpu":"1"}})", "Burstable"},
      {R"({"limits":{"cpu":"1"},"requests":{"cpu":"1"}})", "Burstable"},
      {R"({"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"1","memory":"1Gi"}})",
       "Guaranteed"},
      {R"({"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"500m","memory":"1Gi"}})",
       "Burstable"},
  };
  for (const Case& c : cases) {
    Json pod = Parse(R"({"spec":{"containers":[{"name":"c"}]}})");
    pod.at("spec").at("containers").at(0).as_object()["resources"] = Parse(c.resources);
    EXPECT_EQ(PodQosClass(pod), c.qos) << c.resources;
  }
}

}  // namespace
}  // namespace koord::apiserver::defaults_test
