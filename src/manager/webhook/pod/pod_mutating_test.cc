#include "manager/webhook/pod/pod_mutating.h"

#include <gtest/gtest.h>

#include "kube/patch/json_patch.h"
#include "manager/webhook/review/fake_view_testing.h"

namespace koord::manager::webhook::pod_mutating_test {
namespace {

using kube::Json;

class PodMutatingTest : public testing::Test {
 protected:
  Response Mutate(const Request& request) {
    return MutatePod(request, {view_, features_, random_, view_.loop.clock(), nullptr});
  }
  // The pod as the API server will see it.
  Json Mutated(std::string_view pod) {
    const Request request = PodRequest(Operation::kCreate, pod);
    const Response response = Mutate(request);
    EXPECT_TRUE(response.allowed) << response.message;
    if (response.patch.is_null()) return request.object;
    auto mutated = kube::ApplyJsonPatch(request.object, response.patch);
    EXPECT_TRUE(mutated.ok()) << Message(mutated.status());
    return *mutated;
  }
  void Expect(const Json& actual, std::string_view expected) {
    EXPECT_TRUE(kube::Equal(actual, Yaml(expected))) << kube::Serialize(actual);
  }

  FakeView view_;
  Features features_;
  Random random_{1};
};

// V20
TEST_F(PodMutatingTest, AProfileAndWhatFollowsFromIt) {
  view_.profile_set.Set(Read<api::ClusterColocationProfile>(
      "{metadata: {name: p}, spec: {qosClass: BE, priorityClassName: koordinator-batch}}"));
  view_.priority_classes["koordinator-batch"] =
      Read<kube::PriorityClass>("{metadata: {name: koordinator-batch}, value: 5999}");
  const Json pod = Mutated(
      "{metadata: {name: p}, spec: {containers: [{name: main, image: i, env: [{name: A}],"
      " resources: {limits: {cpu: 1, memory: 4Gi}}}]}}");
  EXPECT_EQ(kube::FindString(
                pod, {"metadata", "annotations", "node.koordinator.sh/extended-resource-spec"}),
            R"({"containers":{"main":{"limits":{"kubernetes.io/batch-cpu":"1k",)"
            R"("kubernetes.io/batch-memory":"4Gi"},"requests":{"kubernetes.io/batch-cpu":"1k",)"
            R"("kubernetes.io/batch-memory":"4Gi"}}}})");
  EXPECT_EQ(kube::FindInt(pod, {"spec", "priority"}), 5999);
  EXPECT_EQ(kube::Find(pod, {"metadata", "namespace"}), nullptr);
  Expect(kube::FindArray(pod, {"spec", "containers"})->at(0).at("env"), "[{name: A}]");
}

TEST_F(PodMutatingTest, NothingToDoIsNoPatch) {
  const Response response =
      Mutate(PodRequest(Operation::kCreate,
                        "{spec: {containers: [{name: c, resources: {requests: {cpu: '0.5'}}}]}}"));
  EXPECT_TRUE(response.allowed);
  EXPECT_TRUE(response.patch.is_null());
}

TEST_F(PodMutatingTest, OnlyPodsThatAreCreatedChange) {
  view_.profile_set.Set(
      Read<api::ClusterColocationProfile>("{metadata: {name: p}, spec: {qosClass: BE}}"));
  for (auto change : std::vector<std::function<void(Request&)>>{
           [](Request& request) { request.operation = Operation::kUpdate; },
           [](Request& request) { request.subresource = "status"; },
           [](Request& request) { request.resource = "nodes"; },
           [](Request& request) { request.group = "apps"; }}) {
    Request request = PodRequest(Operation::kCreate, "{metadata: {name: p}, spec: {}}");
    change(request);
    const Response response = Mutate(request);
    EXPECT_TRUE(response.allowed);
    EXPECT_TRUE(response.patch.is_null());
  }
}

TEST_F(PodMutatingTest, SaysWhatItCannotRead) {
  Response response = Mutate(PodRequest(Operation::kCreate, ""));
  EXPECT_EQ(response.code, 400);
  EXPECT_EQ(response.message, "there is no content to decode");
  response = Mutate(PodRequest(Operation::kCreate, "{spec: {containers: [{name: 5}]}}"));
  EXPECT_EQ(response.code, 400);
  EXPECT_EQ(response.message, "spec.containers[0].name: expected a string, found a number");
}

TEST_F(PodMutatingTest, AMissingPriorityClassRejects) {
  view_.profile_set.Set(
      Read<api::ClusterColocationProfile>("{metadata: {name: p}, spec: {priorityClassName: x}}"));
  const Response response = Mutate(PodRequest(Operation::kCreate, "{spec: {}}"));
  EXPECT_EQ(response.code, 500);
  EXPECT_EQ(response.message, "priorityclasses.scheduling.k8s.io \"x\" not found");
}

struct ExtendedCase {
  const char* name;
  const char* pod;
  const char* annotation;  // null: none
};

class ExtendedResourceSpecTest : public PodMutatingTest,
                                 public testing::WithParamInterface<ExtendedCase> {};

TEST_P(ExtendedResourceSpecTest, IsWritten) {
  const Json pod = Mutated(GetParam().pod);
  const Json* annotation =
      kube::Find(pod, {"metadata", "annotations", "node.koordinator.sh/extended-resource-spec"});
  if (GetParam().annotation == nullptr) {
    EXPECT_EQ(annotation, nullptr);
  } else {
    ASSERT_NE(annotation, nullptr);
    EXPECT_EQ(std::string_view(annotation->as_string()), GetParam().annotation);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, ExtendedResourceSpecTest,
    testing::Values(
        ExtendedCase{"only_batch_and_only_app_containers",
                     "{spec: {overhead: {kubernetes.io/batch-cpu: 5}, initContainers: [{name: i,"
                     " resources: {requests: {kubernetes.io/batch-cpu: 5}}}], containers: ["
                     "{name: a, resources: {requests: {kubernetes.io/batch-cpu: 1000,"
                     " kubernetes.io/mid-cpu: 7, cpu: 1}}}, {name: b}]}}",
                     R"({"containers":{"a":{"requests":{"kubernetes.io/batch-cpu":"1k"}}}})"},
        ExtendedCase{"none", "{spec: {containers: [{name: a}]}}", nullptr},
        ExtendedCase{"outdated",
                     "{metadata: {annotations: {node.koordinator.sh/extended-resource-spec:"
                     " '{\"containers\":{\"x\":{\"limits\":{\"kubernetes.io/batch-cpu\":1}}}}'}},"
                     " spec: {containers: [{name: a}]}}",
                     "{}"},
        ExtendedCase{"same_in_other_words",
                     "{metadata: {annotations: {node.koordinator.sh/extended-resource-spec:"
                     " '{ \"containers\":{\"a\":{\"limits\":{\"kubernetes.io/batch-cpu\":1000}}}}'"
                     "}}, spec: {containers: [{name: a, resources: {limits:"
                     " {kubernetes.io/batch-cpu: 1k}}}]}}",
                     "{ \"containers\":{\"a\":{\"limits\":{\"kubernetes.io/batch-cpu\":1000}}}}"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(PodMutatingTest, ABadExtendedResourceSpecRejects) {
  const Response response = Mutate(PodRequest(
      Operation::kCreate,
      "{metadata: {annotations: {node.koordinator.sh/extended-resource-spec: '['}}, spec: {}}"));
  EXPECT_EQ(response.code, 500);
  EXPECT_TRUE(response.message.starts_with("failed to get current extended resource spec, err: "));
}

struct DeviceCase {
  const char* name;
  const char* resources;
  const char* expected;
};

class DeviceResourcesTest : public PodMutatingTest,
                            public testing::WithParamInterface<DeviceCase> {};

TEST_P(DeviceResourcesTest, AreSpelledOut) {
  const Json pod = Mutated(
      fmt::format("{{spec: {{containers: [{{name: c, resources: {}}}]}}}}", GetParam().resources));
  Expect(kube::FindArray(pod, {"spec", "containers"})->at(0).at("resources"), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, DeviceResourcesTest,
    testing::Values(
        // V23
        DeviceCase{"two_cards",
                   "{requests: {koordinator.sh/gpu: 200}, limits: {koordinator.sh/gpu: 200}}",
                   "{requests: {koordinator.sh/gpu-core: '200', koordinator.sh/gpu-memory-ratio: "
                   "'200', koordinator.sh/gpu.shared: '2'}, limits: {koordinator.sh/gpu-core: "
                   "'200', koordinator.sh/gpu-memory-ratio: '200', koordinator.sh/gpu.shared: "
                   "'2'}}"},
        DeviceCase{"half_a_card",
                   "{requests: {koordinator.sh/gpu-core: '50', koordinator.sh/gpu-memory-ratio: "
                   "'50'}, limits: {koordinator.sh/gpu-core: '50', "
                   "koordinator.sh/gpu-memory-ratio: '50'}}",
                   "{requests: {koordinator.sh/gpu-core: '50', koordinator.sh/gpu-memory-ratio: "
                   "'50', koordinator.sh/gpu.shared: '1'}, limits: {koordinator.sh/gpu-core: '50',"
                   " koordinator.sh/gpu-memory-ratio: '50', koordinator.sh/gpu.shared: '1'}}"},
        DeviceCase{"core_alone_and_no_limits", "{requests: {koordinator.sh/gpu-core: '300'}}",
                   "{requests: {koordinator.sh/gpu-core: '300', koordinator.sh/gpu.shared: '3'}, "
                   "limits: {koordinator.sh/gpu.shared: '3'}}"},
        DeviceCase{"shared_is_given",
                   "{requests: {koordinator.sh/gpu.shared: '2', koordinator.sh/gpu-core: '100'}}",
                   "{requests: {koordinator.sh/gpu.shared: '2', koordinator.sh/gpu-core: '100'}, "
                   "limits: {}}"},
        DeviceCase{"nvidia_stays", "{limits: {nvidia.com/gpu: '1'}}",
                   "{limits: {nvidia.com/gpu: '1'}}"}),
    [](const auto& info) { return std::string(info.param.name); });

class QuotaTreeTest : public PodMutatingTest {
 protected:
  void SetUp() override {
    features_.multi_quota_tree = true;
    view_.topology.Set(*Read<api::ElasticQuota>(
        "{metadata: {name: q, labels: {quota.scheduling.koordinator.sh/tree-id: t}, annotations: "
        "{quota.scheduling.koordinator.sh/namespaces: '[\"default\"]'}}, spec: {}}"));
    view_.quota_profiles.push_back(Read<api::ElasticQuotaProfile>(
        "{metadata: {name: e, labels: {quota.scheduling.koordinator.sh/tree-id: t}}, spec: "
        "{quotaName: q, nodeSelector: {matchLabels: {b: v, a: w}, matchExpressions: [{key: c, "
        "operator: Exists}]}}}"));
  }
  static constexpr char kAdded[] =
      "{key: a, operator: In, values: [w]}, {key: b, operator: In, values: [v]}, {key: c, "
      "operator: Exists}";
};

TEST_F(QuotaTreeTest, GivesThePodTheNodesOfItsTree) {
  const Json pod = Mutated("{spec: {}}");
  Expect(*kube::Find(pod, {"spec", "affinity", "nodeAffinity",
                           "requiredDuringSchedulingIgnoredDuringExecution"}),
         fmt::format("{{nodeSelectorTerms: [{{matchExpressions: [{}]}}]}}", kAdded));
}

TEST_F(QuotaTreeTest, AddsToEveryTerm) {
  const Json pod = Mutated(
      "{metadata: {labels: {quota.scheduling.koordinator.sh/name: q}}, spec: {affinity: "
      "{nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
      "[{matchExpressions: [{key: z, operator: Exists}]}, {matchFields: [{key: metadata.name, "
      "operator: In, values: [n]}]}]}}}}}");
  Expect(*kube::Find(pod, {"spec", "affinity", "nodeAffinity",
                           "requiredDuringSchedulingIgnoredDuringExecution"}),
         fmt::format("{{nodeSelectorTerms: [{{matchExpressions: [{{key: z, operator: Exists}}, "
                     "{}]}}, {{matchFields: [{{key: metadata.name, operator: In, values: [n]}}], "
                     "matchExpressions: [{}]}}]}}",
                     kAdded, kAdded));
}

TEST_F(QuotaTreeTest, LeavesPodsOfNoTreeAlone) {
  Request request = PodRequest(Operation::kCreate, "{spec: {}}");
  request.ns = "elsewhere";
  EXPECT_TRUE(Mutate(request).patch.is_null());
}

}  // namespace
}  // namespace koord::manager::webhook::pod_mutating_test
