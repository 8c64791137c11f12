#include "manager/webhook/pod/pod_validating.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/unsupported.h"
#include "manager/webhook/pod/pod_binding.h"
#include "manager/webhook/pod/pod_keys.h"
#include "manager/webhook/review/fake_view_testing.h"

namespace koord::manager::webhook::pod_validating_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class PodValidatingTest : public testing::Test {
 protected:
  Response Validate(const Request& request) {
    std::optional<Response> answer;
    ValidatePod(request,
                {view_, features_, trust_, view_.loop.clock(), enhanced_, nullptr, &metrics_},
                [&](Response response) { answer = std::move(response); });
    EXPECT_TRUE(answer.has_value());
    return answer.value_or(Response());
  }
  // "" if the pod is allowed.
  std::string Create(std::string_view pod) {
    return Text(Validate(PodRequest(Operation::kCreate, pod)));
  }
  std::string Update(std::string_view old, std::string_view pod) {
    return Text(Validate(PodRequest(Operation::kUpdate, pod, old)));
  }
  static std::string Text(const Response& response) {
    EXPECT_EQ(response.code, response.allowed ? 200 : 400);
    EXPECT_EQ(response.allowed, response.message.empty());
    return response.message;
  }

  FakeView view_;
  Features features_;
  TrustOptions trust_;
  EnhancedValidator enhanced_;
  metrics::Registry registry_;
  WebhookMetrics metrics_{registry_};
};

struct CreateCase {
  const char* name;
  const char* pod;
  const char* error;
};

class CreatePodTest : public PodValidatingTest, public testing::WithParamInterface<CreateCase> {};

TEST_P(CreatePodTest, IsJudged) { EXPECT_EQ(Create(GetParam().pod), GetParam().error); }

INSTANTIATE_TEST_SUITE_P(
    Cases, CreatePodTest,
    testing::Values(
        CreateCase{"plain", "{spec: {containers: [{name: c}]}}", ""},
        CreateCase{"reserve_pod",
                   "{metadata: {annotations: {scheduling.koordinator.sh/reserve-pod: ''}}}",
                   "annotations.scheduling.koordinator.sh/reserve-pod: Forbidden: cannot set in "
                   "annotations"},
        // V22
        CreateCase{"lsr_fraction",
                   "{metadata: {labels: {koordinator.sh/qosClass: LSR}}, spec: {priority: 9500, "
                   "containers: [{name: c, resources: {requests: {cpu: 1500m}}}]}}",
                   "pod.spec.containers[*].resources.requests: Invalid value: \"1500m\": the "
                   "requested CPUs of LSR Pod must be integer"},
        CreateCase{"be_and_prod",
                   "{metadata: {labels: {koordinator.sh/qosClass: BE}}, spec: {priority: 9999}}",
                   "Pod: Forbidden: koordinator.sh/qosClass=BE and priorityClass=koord-prod cannot "
                   "be used in combination"},
        CreateCase{"be_and_none", "{metadata: {labels: {koordinator.sh/qosClass: BE}}}",
                   "Pod: Forbidden: koordinator.sh/qosClass=BE and priorityClass= cannot be used "
                   "in combination"},
        CreateCase{
            "be_and_batch",
            "{metadata: {labels: {koordinator.sh/qosClass: BE}}, spec: {priority: 5500, "
            "containers: [{name: c, resources: {requests: {kubernetes.io/batch-cpu: 1k}}}]}}",
            ""},
        CreateCase{"lse_without_cpu",
                   "{metadata: {labels: {koordinator.sh/qosClass: LSE}}, spec: {priority: 9500}}",
                   "pod.spec.containers[*].resources.requests: Required value: LSR Pod must "
                   "declare the requested CPUs"},
        CreateCase{"several_at_once",
                   "{metadata: {labels: {koordinator.sh/qosClass: LSR}}, spec: {priority: 5500, "
                   "containers: [{name: c, resources: {requests: {cpu: 1, "
                   "kubernetes.io/batch-memory: 1Gi}}}]}}",
                   "[labels.koordinator.sh/qosClass: Required value: must specify koordinator QoS "
                   "BE with koordinator colocation resources, Pod: Forbidden: "
                   "koordinator.sh/qosClass=LSR and priorityClass=koord-batch cannot be used in "
                   "combination]"},
        CreateCase{"mid_needs_no_class",
                   "{spec: {containers: [{name: c, resources: {requests: {kubernetes.io/mid-cpu: "
                   "1k}}}]}}",
                   ""},
        CreateCase{"ls_with_anything",
                   "{metadata: {labels: {koordinator.sh/qosClass: LS}}, spec: {priority: 5500}}",
                   ""}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(PodValidatingTest, WhatMayNotChange) {
  // V22
  EXPECT_EQ(Update("{metadata: {labels: {koordinator.sh/qosClass: BE}}, spec: {priority: 5500}}",
                   "{metadata: {labels: {koordinator.sh/qosClass: LS}}, spec: {priority: 5500}}"),
            "labels.koordinator.sh/qosClass: Invalid value: \"LS\": field is immutable");
  EXPECT_EQ(Update("{spec: {priority: 5500}}", "{spec: {priority: 9500}}"),
            "spec.priority: Invalid value: \"koord-prod\": field is immutable");
  EXPECT_EQ(Update("{spec: {priority: 5500}}", "{spec: {priority: 5600}}"), "");
  constexpr char kOld[] = "{metadata: {labels: {koordinator.sh/priority: '1'}}}";
  constexpr char kNew[] = "{metadata: {labels: {koordinator.sh/priority: '2'}}}";
  EXPECT_EQ(Update(kOld, kNew),
            "labels.koordinator.sh/priority: Invalid value: \"2\": field is immutable");
  features_.colocation_profile_skip_validating_priority = true;
  EXPECT_EQ(Update(kOld, kNew), "");
  EXPECT_EQ(Update("{metadata: {name: p}}",
                   "{metadata: {labels: {quota.scheduling.koordinator.sh/preemptible: 'false'}}}"),
            "Preemptible label is forbidden modify now.");
}

TEST_F(PodValidatingTest, PodsDoNotBelongToParentQuotas) {
  view_.topology.Set(*Read<api::ElasticQuota>(
      "{metadata: {name: par, labels: {quota.scheduling.koordinator.sh/is-parent: 'true'}}}"));
  constexpr char kPod[] =
      "{metadata: {name: p, labels: {quota.scheduling.koordinator.sh/name: par}}}";
  EXPECT_EQ(Create(kPod), "pod can not be linked to a parentQuotaGroup,quota:par, pod:p");
  EXPECT_EQ(Create("{metadata: {labels: {quota.scheduling.koordinator.sh/name: unknown}}}"), "");
  features_.support_parent_quota_submit_pod = true;
  EXPECT_EQ(Create(kPod), "");
}

TEST_F(PodValidatingTest, DeletesAreNotJudged) {
  EXPECT_TRUE(Validate(PodRequest(Operation::kDelete, "")).allowed);
}

TEST_F(PodValidatingTest, WithoutAnObjectThereIsNothingToDecode) {
  EXPECT_EQ(Text(Validate(PodRequest(Operation::kCreate, ""))), "there is no content to decode");
}

struct DeviceCase {
  const char* name;
  const char* requests;
  const char* error;
};

class PodDevicesTest : public PodValidatingTest, public testing::WithParamInterface<DeviceCase> {};

TEST_P(PodDevicesTest, AreJudged) {
  features_.validate_pod_device_resource = true;
  EXPECT_EQ(
      Create(fmt::format("{{spec: {{containers: [{{name: c, resources: {{requests: {}}}}}]}}}}",
                         GetParam().requests)),
      GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, PodDevicesTest,
    testing::Values(
        DeviceCase{"good", "{koordinator.sh/gpu: 200}", ""},
        DeviceCase{"both", "{koordinator.sh/gpu: 0, koordinator.sh/gpu.shared: 0}",
                   "pod.spec.containers[*].resources.requests: Forbidden: Forbidden declare GPU and"
                   " GPU share at same time"},
        DeviceCase{"zero", "{koordinator.sh/gpu: 0}",
                   "pod.spec.containers[*].resources.requests: Invalid value: \"0\": the requested"
                   " GPU must be greater than zero"},
        DeviceCase{"one_and_a_half", "{koordinator.sh/gpu: 150}",
                   "pod.spec.containers[*].resources.requests: Invalid value: \"150\": the "
                   "requested GPU must be percentage of 100"},
        DeviceCase{"no_memory", "{koordinator.sh/gpu.shared: 1, koordinator.sh/gpu-core: 50}",
                   "pod.spec.containers[*].resources.requests: Forbidden: GPU memory and GPU memory"
                   " ratio all is zero"},
        DeviceCase{"memory_twice",
                   "{koordinator.sh/gpu.shared: 1, koordinator.sh/gpu-memory: 1, "
                   "koordinator.sh/gpu-memory-ratio: 1}",
                   "pod.spec.containers[*].resources.requests: Forbidden: declare GPU memory and "
                   "GPU memory ratio at same time"},
        DeviceCase{"npu", "{koordinator.sh/gpu.shared: 1, huawei.com/npu-core: 1}", ""},
        DeviceCase{"core_not_divisible",
                   "{koordinator.sh/gpu.shared: 2, koordinator.sh/gpu-core: 51, "
                   "koordinator.sh/gpu-memory-ratio: 100}",
                   "pod.spec.containers[*].resources.requests: Invalid value: \"51\": the requested"
                   " gpuCore must multiple of shared"},
        DeviceCase{"ratio_not_divisible",
                   "{koordinator.sh/gpu.shared: 2, koordinator.sh/gpu-memory-ratio: 51}",
                   "pod.spec.containers[*].resources.requests: Invalid value: \"51\": the requested"
                   " gpuMemoryRatio must multiple of shared"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(PodValidatingTest, LabelsThatAnAdministratorAsksFor) {
  features_.enable_pod_enhanced_validator = true;
  EXPECT_EQ(Create("{}"), "");
  view_.enhanced_config = Read<kube::ConfigMap>(
      "{data: {enable: ' True ', rules: '[{\"name\":\"r\",\"requiredLabels\":[\"a\",\"b\"],"
      "\"namespaceWhitelist\":[\"free\"]}]'}}");
  EXPECT_EQ(Create("{metadata: {labels: {a: x}}}"), "required label 'b' is missing");
  EXPECT_EQ(Create("{}"), "required labels are missing: [a b]");
  EXPECT_EQ(Create("{metadata: {namespace: free}}"), "");
  EXPECT_EQ(Create("{metadata: {labels: {pod.koordinator.sh/skip-enhanced-validation: 'true'}}}"),
            "");
  view_.enhanced_config = Read<kube::ConfigMap>("{data: {enable: 'true', rules: '['}}");
  EXPECT_EQ(Create("{}"), "required labels are missing: [a b]") << "bad rules replaced good ones";
  view_.enhanced_config = nullptr;
  EXPECT_EQ(Create("{}"), "");
}

TEST_F(PodValidatingTest, OnlyTheSchedulerWritesItsKeys) {
  constexpr char kPinned[] =
      "{metadata: {annotations: {scheduling.koordinator.sh/resource-status: '{}'}}}";
  constexpr char kPlain[] = "{metadata: {name: p}}";
  constexpr char kError[] =
      "annotations.scheduling.koordinator.sh/resource-status: Forbidden: only the scheduler may "
      "set it, not user \"alice\"";
  EXPECT_EQ(Create(kPinned), kError);
  EXPECT_EQ(Update(kPlain, kPinned), kError);
  EXPECT_EQ(Update(kPinned, kPlain), kError);
  EXPECT_EQ(Update(kPinned, kPinned), "");
  EXPECT_THAT(Create("{metadata: {annotations: {scheduling.koordinator.sh/device-allocated: '{}', "
                     "scheduling.koordinator.sh/reservation-allocated: '{}'}}}"),
              HasSubstr("device-allocated: Forbidden"));
  Request scheduler = PodRequest(Operation::kUpdate, kPinned, kPlain);
  scheduler.user.name = "system:serviceaccount:koordinator-system:koord-scheduler";
  EXPECT_TRUE(Validate(scheduler).allowed);
  trust_.trust_everyone = true;
  EXPECT_EQ(Create(kPinned), "");
  EXPECT_EQ(metrics_.untrusted_keys.With({"scheduling.koordinator.sh/resource-status", "refused"})
                .value(),
            3);
}

TEST_F(PodValidatingTest, WhatNodesAreToldOfBatchResourcesStays) {
  constexpr char kNoted[] =
      "{metadata: {annotations: {node.koordinator.sh/extended-resource-spec: '{}'}}}";
  constexpr char kForged[] =
      "{metadata: {annotations: {node.koordinator.sh/extended-resource-spec: "
      "'{\"containers\":{}}'}}}";
  constexpr char kError[] =
      "annotations.node.koordinator.sh/extended-resource-spec: Forbidden: it is set when the pod "
      "is created, and only the scheduler may change it, not user \"alice\"";
  EXPECT_EQ(Create(kNoted), "") << "as the mutating webhook has left it";
  EXPECT_EQ(Update(kNoted, kForged), kError);
  EXPECT_EQ(Update(kNoted, "{}"), kError);
  EXPECT_EQ(Update("{}", kForged), kError);
  EXPECT_EQ(Update(kNoted, kNoted), "");
  Request scheduler = PodRequest(Operation::kUpdate, kForged, kNoted);
  scheduler.user.name = "system:kube-scheduler";
  EXPECT_TRUE(Validate(scheduler).allowed);
}

class PodKeysTest : public PodValidatingTest {
 protected:
  PodKeysTest() {
    view_.pods.push_back(
        Read<kube::Pod>("{metadata: {name: p, namespace: default, annotations: "
                        "{scheduling.koordinator.sh/resource-status: old}}}"));
  }
  std::string Judge(const Request& request) {
    return Text(ValidatePodKeys(request, {view_, features_, trust_, &metrics_}));
  }
  std::string UpdatePart(std::string_view part, std::string_view old, std::string_view pod) {
    Request request = PodRequest(Operation::kUpdate, pod, old);
    request.subresource = part;
    return Judge(request);
  }
  std::string Bind(std::string_view annotations, std::string_view user = "alice") {
    Request request =
        PodRequest(Operation::kCreate,
                   fmt::format("{{metadata: {{name: p, annotations: {}}}, target: {{name: n}}}}",
                               annotations));
    request.user.name = user;
    request.subresource = "binding";
    request.name = "p";
    const std::string by_part = Judge(request);
    request.resource = "bindings";
    request.subresource = "";
    request.name = "";
    EXPECT_EQ(Judge(request), by_part) << "the old way must not be another one";
    return by_part;
  }
};

TEST_F(PodKeysTest, PartsOfAPodAreNoWayAround) {
  constexpr char kPlain[] = "{metadata: {name: p}}";
  constexpr char kPinned[] =
      "{metadata: {name: p, annotations: {scheduling.koordinator.sh/resource-status: '{}'}}}";
  for (const std::string_view part : {"status", "resize", "ephemeralcontainers"}) {
    EXPECT_THAT(UpdatePart(part, kPlain, kPinned),
                HasSubstr("resource-status: Forbidden: only the scheduler may set it"));
    EXPECT_THAT(UpdatePart(part, kPinned, kPlain), HasSubstr("resource-status: Forbidden"));
    EXPECT_EQ(UpdatePart(part, kPinned, kPinned), "");
    EXPECT_THAT(UpdatePart(part, "{metadata: {labels: {koordinator.sh/qosClass: BE}}}", "{}"),
                HasSubstr("labels.koordinator.sh/qosClass: Invalid value"));
    EXPECT_THAT(UpdatePart(part, "{}",
                           "{metadata: {annotations: "
                           "{node.koordinator.sh/extended-resource-spec: '{}'}}}"),
                HasSubstr("extended-resource-spec: Forbidden"));
  }
}

// A node that reports on a pod which was created while nobody checked must not be refused for that.
TEST_F(PodKeysTest, WhatWasThereBeforeIsNobodysFault) {
  constexpr char kOdd[] =
      "{metadata: {labels: {koordinator.sh/qosClass: BE}, annotations: "
      "{scheduling.koordinator.sh/reserve-pod: 'true'}}, spec: {priority: 9500}}";
  EXPECT_EQ(UpdatePart("status", kOdd, kOdd), "");
  EXPECT_THAT(UpdatePart("status", "{}",
                         "{metadata: {annotations: {scheduling.koordinator.sh/reserve-pod: ''}}}"),
              HasSubstr("reserve-pod: Forbidden"));
}

TEST_F(PodKeysTest, ABindingIsNoWayAround) {
  EXPECT_EQ(Bind("{}"), "");
  EXPECT_EQ(Bind("{mine: x}"), "");
  EXPECT_THAT(Bind("{scheduling.koordinator.sh/device-allocated: '{}'}"),
              HasSubstr("device-allocated: Forbidden: only the scheduler may set it"));
  EXPECT_THAT(Bind("{scheduling.koordinator.sh/resource-status: new}"),
              HasSubstr("resource-status: Forbidden"));
  EXPECT_EQ(Bind("{scheduling.koordinator.sh/resource-status: old}"), "") << "changes nothing";
  EXPECT_THAT(Bind("{node.koordinator.sh/extended-resource-spec: '{}'}"),
              HasSubstr("extended-resource-spec: Forbidden"));
  EXPECT_THAT(Bind("{mine: [x]}"), HasSubstr("metadata.annotations: "));
  for (const std::string_view scheduler :
       {"system:kube-scheduler", "system:serviceaccount:koordinator-system:koord-scheduler"}) {
    EXPECT_EQ(Bind("{scheduling.koordinator.sh/device-allocated: '{}'}", scheduler), "");
  }
}

TEST_F(PodValidatingTest, PointsOutWhatCanBeAbused) {
  view_.topology.Set(*Read<api::ElasticQuota>(
      "{metadata: {name: q, annotations: {quota.scheduling.koordinator.sh/namespaces: "
      "'[\"team-b\"]'}}}"));
  const auto warnings = [&](std::string_view pod) {
    return Validate(PodRequest(Operation::kCreate, pod)).warnings;
  };
  EXPECT_THAT(warnings("{metadata: {labels: {koordinator.sh/qosClass: LS}}}"), IsEmpty());
  EXPECT_THAT(warnings("{metadata: {annotations: {koordinator.sh/oom-score-adj: '-1000'}}}"),
              ElementsAre(HasSubstr("koordinator.sh/oom-score-adj: ")));
  EXPECT_THAT(warnings("{metadata: {labels: {quota.scheduling.koordinator.sh/name: q}}}"),
              Contains("quota.scheduling.koordinator.sh/name: quota \"q\" is meant for other "
                       "namespaces"));
  EXPECT_THAT(warnings("{metadata: {annotations: {gang.scheduling.koordinator.sh/groups: "
                       "'[\"default/a\",\"other/b\"]'}}}"),
              ElementsAre("gang.scheduling.koordinator.sh/groups: gang \"other/b\" is in another "
                          "namespace"));
  EXPECT_THAT(warnings("{metadata: {labels: {runtimeproxy.koordinator.sh/skip-hookserver: "
                       "'true'}}}"),
              ElementsAre(HasSubstr("skip-hookserver")));
  EXPECT_THAT(warnings(fmt::format("{{metadata: {{annotations: {{koordinator.sh/x: '{}'}}}}}}",
                                   std::string(17 << 10, 'x'))),
              ElementsAre(HasSubstr("longer than 16384 bytes")));
  trust_.trust_everyone = true;
  EXPECT_THAT(warnings("{metadata: {annotations: {koordinator.sh/oom-score-adj: '-1000'}}}"),
              IsEmpty());
}

TEST_F(PodValidatingTest, TellsOfWhatHasNoEffectYetOnce) {
  constexpr char kPlain[] = "{metadata: {name: p}}";
  constexpr char kGang[] = "{metadata: {labels: {pod-group.scheduling.sigs.k8s.io/name: g}}}";
  constexpr char kMore[] =
      "{metadata: {labels: {pod-group.scheduling.sigs.k8s.io/name: g}}, spec: {containers: [{name: "
      "c, resources: {limits: {koordinator.sh/gpu: 100}}}]}}";
  const auto unsupported = [](std::string_view pod) {
    return api::UnsupportedRequestsOf(*Read<kube::Pod>(pod));
  };
  const auto warnings = [&](std::string_view pod, std::string_view old = "") {
    return Validate(PodRequest(old.empty() ? Operation::kCreate : Operation::kUpdate, pod, old))
        .warnings;
  };
  EXPECT_EQ(warnings(kMore), unsupported(kMore));
  EXPECT_EQ(warnings(kMore, kPlain), unsupported(kMore));
  EXPECT_EQ(warnings(kMore, kGang).size() + unsupported(kGang).size(), unsupported(kMore).size());
  EXPECT_THAT(warnings(kMore, kMore), IsEmpty());
  EXPECT_THAT(warnings(kPlain, kMore), IsEmpty());
  trust_.trust_everyone = true;
  EXPECT_EQ(warnings(kMore), unsupported(kMore)) << "that is about trust, not about features";
}

class PodBindingTest : public testing::Test {
 protected:
  PodBindingTest() {
    options_.user_names = {"koord-scheduler"};
    options_.namespaces = {"default"};
    view_.pods.push_back(Read<kube::Pod>("{metadata: {name: p, namespace: default}}"));
    view_.pods.push_back(
        Read<kube::Pod>("{metadata: {name: free, namespace: default, labels: "
                        "{koordinator.sh/binding-admission-bypass: ''}}}"));
  }
  Response Bind(std::string_view user, std::string_view ns, std::string_view pod) {
    Request request;
    request.resource = "pods";
    request.subresource = "binding";
    request.user.name = user;
    request.ns = ns;
    request.name = pod;
    return ValidateBinding(request, view_, options_, &metrics_);
  }
  double Decisions(std::string_view decision) {
    return metrics_.binding_decisions.With({decision}).value();
  }

  FakeView view_;
  BindingOptions options_;
  metrics::Registry registry_;
  WebhookMetrics metrics_{registry_};
};

TEST_F(PodBindingTest, OnlyTheNamedMayBind) {
  const Response denied = Bind("system:kube-scheduler", "default", "p");
  EXPECT_FALSE(denied.allowed);
  EXPECT_EQ(denied.code, 403);
  EXPECT_EQ(denied.reason, "Forbidden");
  EXPECT_EQ(denied.message, "binding denied: username is not in the allowed list");
  EXPECT_EQ(Decisions("denied"), 1);
  EXPECT_TRUE(Bind("system:serviceaccount:x:koord-scheduler", "default", "p").allowed);
  EXPECT_EQ(Decisions("allowed_username"), 1);
  EXPECT_TRUE(Bind("other", "kube-system", "p").allowed);
  EXPECT_EQ(Decisions("excluded_ns"), 1);
  EXPECT_TRUE(Bind("other", "elsewhere", "p").allowed);
  EXPECT_EQ(Decisions("out_of_scope"), 1);
  EXPECT_TRUE(Bind("other", "default", "free").allowed);
  EXPECT_EQ(Decisions("bypass_label"), 1);
  EXPECT_TRUE(Bind("other", "default", "unknown").allowed);
  options_.dry_run = true;
  EXPECT_TRUE(Bind("other", "default", "p").allowed);
  EXPECT_EQ(Decisions("dry_run"), 1);
}

TEST_F(PodBindingTest, IsEnforcedEverywhereOrNowhere) {
  options_.namespaces = {"*"};
  view_.pods.push_back(Read<kube::Pod>("{metadata: {name: p, namespace: elsewhere}}"));
  EXPECT_FALSE(Bind("other", "elsewhere", "p").allowed);
  options_.namespaces = {};
  EXPECT_TRUE(Bind("other", "elsewhere", "p").allowed);
  options_.user_names = {};
  options_.namespaces = {"*"};
  EXPECT_TRUE(Bind("other", "elsewhere", "p").allowed);
}

}  // namespace
}  // namespace koord::manager::webhook::pod_validating_test
