#include "manager/webhook/pod/plain_pod.h"

#include <gtest/gtest.h>

#include <optional>

#include "manager/webhook/pod/pod_mutating.h"
#include "manager/webhook/pod/pod_validating.h"
#include "manager/webhook/review/fake_view_testing.h"

namespace koord::manager::webhook::plain_pod_test {
namespace {

class PlainPodTest : public testing::Test {
 protected:
  bool Mutates(const std::string& pod) {
    const Request request = PodRequest(Operation::kCreate, pod);
    const Response answer =
        MutatePod(request, {view_, features_, random_, view_.loop.clock(), nullptr});
    return !answer.allowed || !answer.patch.is_null();
  }
  bool Objects(const std::string& pod) {
    const Request request = PodRequest(Operation::kCreate, pod);
    std::optional<Response> answer;
    ValidatePod(request, {view_, features_, trust_, view_.loop.clock(), enhanced_},
                [&](Response response) { answer = std::move(response); });
    return !answer || !answer->allowed || !answer->warnings.empty();
  }

  FakeView view_;
  Features features_;
  TrustOptions trust_;
  EnhancedValidator enhanced_;
  Random random_{1};
};

TEST_F(PlainPodTest, WhatMayMatterIsAskedAbout) {
  view_.profile_set.Set(Read<api::ClusterColocationProfile>(
      "{metadata: {name: p}, spec: {selector: {matchLabels: {app: etl}}, labels: {x: y}}}"));
  const struct {
    const char* pod;
    bool mutate, validate;  // whether it has to be asked about
  } cases[] = {
      {"{spec: {containers: [{name: a, resources: {requests: {cpu: 1, memory: 1Gi}}}]}}", false,
       false},
      {"{metadata: {labels: {app: web}, annotations: {note: n}}}", false, false},
      {"{metadata: {labels: {app: etl}}}", true, false},
      {"{metadata: {labels: {koordinator.sh/qosClass: BE}}}", true, true},
      {"{metadata: {annotations: {scheduling.koordinator.sh/resource-status: '{}'}}}", true, true},
      {"{metadata: {annotations: {internal.scheduling.koordinator.sh/bind-gang-group-id: g}}}",
       true, true},
      {"{metadata: {annotations: {node.koordinator.sh/extended-resource-spec: '{'}}}", true, true},
      {"{spec: {containers: [{name: a, resources: {requests: {kubernetes.io/batch-cpu: 1}}}]}}",
       true, true},
      {"{spec: {containers: [{name: a, resources: {limits: {koordinator.sh/gpu: 100}}}]}}", true,
       true},
      {"{spec: {initContainers: [{name: a, resources: {limits: {kubernetes.io/mid-cpu: 1}}}]}}",
       true, true},
      {"{spec: {overhead: {kubernetes.io/batch-cpu: 1}}}", true, true},
  };
  for (const auto& each : cases) {
    const Request request = PodRequest(Operation::kCreate, each.pod);
    EXPECT_EQ(!NothingToMutate(request.object, request.ns, view_, features_), each.mutate)
        << each.pod;
    EXPECT_EQ(!NothingToValidate(request.object, {}, request.ns, view_, features_), each.validate)
        << each.pod;
    EXPECT_TRUE(each.mutate || !Mutates(each.pod)) << each.pod;
    EXPECT_TRUE(each.validate || !Objects(each.pod)) << each.pod;
  }
}

TEST_F(PlainPodTest, WhatIsWarnedOfIsAskedAbout) {
  for (const char* key :
       {"pod-group.scheduling.sigs.k8s.io/name", "pod-group.scheduling.sigs.k8s.io",
        "gang.scheduling.koordinator.sh/name"}) {
    const kube::Json pod =
        Yaml(fmt::format("{{metadata: {{labels: {{{0}: g}}, annotations: "
                         "{{{0}: g}}}}}}",
                         key));
    EXPECT_FALSE(NothingToValidate(pod, {}, "default", view_, features_)) << key;
  }
}

TEST_F(PlainPodTest, WhatAPodWasCountsToo) {
  const kube::Json plain = Yaml("{metadata: {name: p}}");
  const kube::Json ours = Yaml("{metadata: {labels: {koordinator.sh/qosClass: BE}}}");
  EXPECT_FALSE(NothingToValidate(plain, ours, "default", view_, features_));
  EXPECT_TRUE(NothingToValidate(plain, plain, "default", view_, features_));
}

TEST_F(PlainPodTest, AQuotaOfTheNamespaceIsAskedFor) {
  const kube::Json plain = Yaml("{metadata: {name: p}}");
  view_.topology.Set(*Read<api::ElasticQuota>(
      "{metadata: {name: q, namespace: x, labels: {quota.scheduling.koordinator.sh/is-parent: "
      "'true'}, annotations: {quota.scheduling.koordinator.sh/namespaces: '[\"team\"]'}}, spec: "
      "{max: {cpu: 1}}}"));
  EXPECT_TRUE(NothingToValidate(plain, {}, "default", view_, features_));
  EXPECT_FALSE(NothingToValidate(plain, {}, "team", view_, features_));
}

TEST_F(PlainPodTest, FeaturesThatLookAtEveryPodAreAsked) {
  const kube::Json plain = Yaml("{metadata: {name: p}}");
  features_.multi_quota_tree = true;
  EXPECT_FALSE(NothingToMutate(plain, "default", view_, features_));
  features_.enable_pod_enhanced_validator = true;
  EXPECT_FALSE(NothingToValidate(plain, {}, "default", view_, features_));
}

// A namespace that nobody knows yet may be one that a profile is for.
TEST_F(PlainPodTest, KeysThatDoNotChangeNeedNoGuard) {
  const kube::Json plain = Yaml("{metadata: {labels: {app: a}}}");
  const kube::Json ours = Yaml("{metadata: {labels: {koordinator.sh/qosClass: BE}}}");
  const kube::Json noted = Yaml("{metadata: {annotations: {koordinator.sh/x: y}}}");
  EXPECT_TRUE(NothingToGuard(plain, Yaml("{metadata: {labels: {app: b}}}")));
  EXPECT_TRUE(NothingToGuard(ours, ours));
  EXPECT_TRUE(NothingToGuard(plain, kube::Json())) << "a Binding";
  EXPECT_FALSE(NothingToGuard(ours, plain));
  EXPECT_FALSE(NothingToGuard(plain, ours));
  EXPECT_FALSE(NothingToGuard(noted, plain));
  EXPECT_FALSE(NothingToGuard(noted, kube::Json()));
  EXPECT_FALSE(NothingToGuard(kube::Json(), kube::Json()));
}

TEST_F(PlainPodTest, DoubtIsAskedAbout) {
  view_.profile_set.Set(Read<api::ClusterColocationProfile>(
      "{metadata: {name: p}, spec: {namespaceSelector: {matchLabels: {a: b}}}}"));
  EXPECT_FALSE(NothingToMutate(Yaml("{metadata: {name: p}}"), "unheard-of", view_, features_));
}

}  // namespace
}  // namespace koord::manager::webhook::plain_pod_test
