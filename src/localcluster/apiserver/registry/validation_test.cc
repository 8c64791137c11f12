#include "localcluster/apiserver/registry/validation.h"

#include <gmock/gmock.h>

#include "localcluster/apiserver/registry/resources_validation.h"

namespace koord::apiserver::validation_test {
namespace {

using kube::Json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Json Parse(std::string_view text) {
  auto parsed = kube::ParseJson(text);
  EXPECT_TRUE(parsed.ok()) << text;
  return *parsed;
}

std::vector<std::string> Texts(const FieldErrors& errors) {
  std::vector<std::string> texts;
  for (const FieldError& error : errors) texts.push_back(error.ToString());
  return texts;
}

std::vector<std::string> Check(void (*validate)(const Json&, FieldErrors&), std::string_view text) {
  FieldErrors errors;
  validate(Parse(text), errors);
  return Texts(errors);
}

std::vector<std::string> CheckChange(void (*validate)(const Json&, const Json&, FieldErrors&),
                                     std::string_view before, std::string_view after) {
  FieldErrors errors;
  validate(Parse(after), Parse(before), errors);
  return Texts(errors);
}

std::vector<std::string> CheckMeta(std::string_view metadata,
                                   NameRule rule = NameRule::kSubdomain) {
  FieldErrors errors;
  ValidateObjectMeta(kube::json::object{{"metadata", Parse(metadata)}}, true, rule, errors);
  return Texts(errors);
}

TEST(MetaValidationTest, NamesLabelsOwnersFinalizers) {
  EXPECT_THAT(CheckMeta(R"({"name":"a.b-c","namespace":"n"})"), IsEmpty());
  EXPECT_THAT(CheckMeta(R"({"name":"A","namespace":"n"})"),
              ElementsAre(HasSubstr("metadata.name: Invalid value: \"A\": a lowercase RFC 1123 "
                                    "subdomain must consist of")));
  EXPECT_THAT(CheckMeta(R"({"name":"a.b","namespace":"n"})", NameRule::kLabel),
              ElementsAre(HasSubstr("a lowercase RFC 1123 label")));
  EXPECT_THAT(CheckMeta(R"({"name":"a/b","namespace":"n"})", NameRule::kPathSegment),
              ElementsAre("metadata.name: Invalid value: \"a/b\": may not contain '/'"));
  EXPECT_THAT(
      CheckMeta(R"({"name":"a","namespace":"n","labels":{"a b":"x"}})"),
      ElementsAre(HasSubstr("metadata.labels: Invalid value: \"a b\": name part must consist "
                            "of")));
  EXPECT_THAT(
      CheckMeta(R"({"name":"a","namespace":"n","labels":{"a":"-"}})"),
      ElementsAre(HasSubstr("metadata.labels: Invalid value: \"-\": a valid label must be an "
                            "empty string or")));
  EXPECT_THAT(CheckMeta(R"({"name":"a","namespace":"n","ownerReferences":[{"kind":"K"}]})"),
              ElementsAre("metadata.ownerReferences[0].apiVersion: Invalid value: \"\": apiVersion "
                          "must not be empty",
                          "metadata.ownerReferences[0].name: Invalid value: \"\": name must not be "
                          "empty",
                          "metadata.ownerReferences[0].uid: Invalid value: \"\": uid must not be "
                          "empty"));
  EXPECT_THAT(
      CheckMeta(R"({"name":"a","namespace":"n","finalizers":["orphan","foregroundDeletion"]})"),
      ElementsAre(HasSubstr("cannot be both set")));
  const std::string big(257 * 1024, 'x');
  EXPECT_THAT(CheckMeta(R"({"name":"a","namespace":"n","annotations":{"k":")" + big + "\"}}"),
              ElementsAre("metadata.annotations: Too long: may not be more than 262144 bytes"));
}

constexpr char kContainer[] = R"({"name":"c","image":"i"})";

std::vector<std::string> CheckPodSpec(std::string_view spec) {
  return Check(ValidatePod, fmt::format(R"({{"spec":{}}})", spec));
}

TEST(PodValidationTest, ContainersAreRequired) {
  EXPECT_THAT(Check(ValidatePod, "{}"), ElementsAre("spec.containers: Required value"));
  EXPECT_THAT(CheckPodSpec(R"({"containers":[]})"), ElementsAre("spec.containers: Required value"));
  EXPECT_THAT(CheckPodSpec(R"({"containers":[{}]})"),
              ElementsAre("spec.containers[0].name: Required value",
                          "spec.containers[0].image: Required value"));
  EXPECT_THAT(CheckPodSpec(fmt::format(R"({{"containers":[{0},{0}]}})", kContainer)),
              ElementsAre("spec.containers[1].name: Duplicate value: \"c\""));
  EXPECT_THAT(
      CheckPodSpec(
          R"({"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"v","mountPath":"/x"}]}]})"),
      ElementsAre("spec.containers[0].volumeMounts[0].name: Not found: \"v\""));
  EXPECT_THAT(
      CheckPodSpec(fmt::format(R"({{"containers":[{}],"restartPolicy":"x"}})", kContainer)),
      ElementsAre("spec.restartPolicy: Unsupported value: \"x\": supported values: \"Always\", "
                  "\"OnFailure\", \"Never\""));
}

std::vector<std::string> CheckResources(std::string_view resources) {
  FieldErrors errors;
  const FieldPath path("r");
  ValidateResources(Parse(resources).as_object(), path, errors);
  return Texts(errors);
}

TEST(ResourcesValidationTest, RequestsStayWithinLimits) {
  EXPECT_THAT(CheckResources(R"({"limits":{"cpu":"1"},"requests":{"cpu":"1000m"}})"), IsEmpty());
  EXPECT_THAT(
      CheckResources(R"({"limits":{"cpu":"1"},"requests":{"cpu":"2"}})"),
      ElementsAre("r.requests: Invalid value: \"2\": must be less than or equal to cpu limit "
                  "of 1"));
  EXPECT_THAT(
      CheckResources(R"({"requests":{"cpu":"-1"}})"),
      ElementsAre("r.requests[cpu]: Invalid value: \"-1\": must be greater than or equal to "
                  "0"));
  EXPECT_THAT(CheckResources(R"({"requests":{"cpu":"x"}})"),
              ElementsAre(HasSubstr("r.requests[cpu]: Invalid value: \"x\"")));
}

TEST(ResourcesValidationTest, ExtendedResourcesAreWholeAndExact) {
  EXPECT_THAT(
      CheckResources(R"({"limits":{"nvidia.com/gpu":"1"},"requests":{"nvidia.com/gpu":"1"}})"),
      IsEmpty());
  EXPECT_THAT(CheckResources(R"({"limits":{"nvidia.com/gpu":"500m"}})"),
              ElementsAre("r.limits[nvidia.com/gpu]: Invalid value: \"500m\": must be an integer"));
  EXPECT_THAT(
      CheckResources(R"({"limits":{"nvidia.com/gpu":"2"},"requests":{"nvidia.com/gpu":"1"}})"),
      ElementsAre("r.requests: Invalid value: \"1\": must be equal to nvidia.com/gpu limit of "
                  "2"));
  EXPECT_THAT(CheckResources(R"({"requests":{"nvidia.com/gpu":"1"}})"),
              ElementsAre("r.requests: Required value: Limit must be set for non overcommitable "
                          "resources"));
  // Names in Kubernetes' own domain follow the rules of cpu and memory.
  EXPECT_THAT(CheckResources(R"({"limits":{"kubernetes.io/batch-cpu":"2000"},
                                 "requests":{"kubernetes.io/batch-cpu":"1000"}})"),
              IsEmpty());
}

TEST(WorkloadValidationTest, SelectorMustMatchTheTemplate) {
  const char* form =
      R"({{"spec":{{{}"template":{{"metadata":{{"labels":{{"app":"x"}}}},)"
      R"("spec":{{"containers":[{{"name":"c","image":"i"}}],"restartPolicy":"Always"}}}}}}}})";
  EXPECT_THAT(Check(ValidateDeployment,
                    fmt::format(fmt::runtime(form), R"("selector":{"matchLabels":{"app":"x"}},)")),
              IsEmpty());
  EXPECT_THAT(
      Check(ValidateDeployment,
            fmt::format(fmt::runtime(form), R"("selector":{"matchLabels":{"app":"y"}},)")),
      ElementsAre("spec.template.metadata.labels: Invalid value: {\"app\":\"x\"}: `selector` "
                  "does not match template `labels`"));
  EXPECT_THAT(Check(ValidateDeployment, fmt::format(fmt::runtime(form), "")),
              ElementsAre("spec.selector: Required value"));
}

TEST(WorkloadValidationTest, SomeFieldsNeverChange) {
  EXPECT_THAT(
      CheckChange(ValidateSelectorUnchanged, R"({"spec":{"selector":{"matchLabels":{"a":"b"}}}})",
                  R"({"spec":{"selector":{"matchLabels":{"a":"c"}}}})"),
      ElementsAre("spec.selector: Invalid value: {\"matchLabels\":{\"a\":\"c\"}}: field is "
                  "immutable"));
  EXPECT_THAT(CheckChange(ValidateStatefulSetUpdate, R"({"spec":{"serviceName":"a","replicas":1}})",
                          R"({"spec":{"serviceName":"a","replicas":2}})"),
              IsEmpty());
  EXPECT_THAT(CheckChange(ValidateStatefulSetUpdate, R"({"spec":{"serviceName":"a"}})",
                          R"({"spec":{"serviceName":"b"}})"),
              ElementsAre(HasSubstr("spec: Forbidden: updates to statefulset spec for fields other "
                                    "than 'replicas'")));
}

TEST(PodUpdateValidationTest, WhatMayChange) {
  const char* before =
      R"({"spec":{"containers":[{"name":"c","image":"i"}],"tolerations":[{"key":"a"}],
      "schedulingGates":[{"name":"g"}],"activeDeadlineSeconds":10,"nodeSelector":{"x":"y"}}})";
  struct Case {
    const char* path;
    const char* value;
    const char* error;  // null: allowed
  };
  const Case cases[] = {
      {"containers", R"([{"name":"c","image":"j"}])", nullptr},
      {"containers", R"([{"name":"d","image":"i"}])", "spec: Forbidden: pod updates may not"},
      {"tolerations", R"([{"key":"a"},{"key":"b"}])", nullptr},
      {"tolerations", R"([{"key":"a","tolerationSeconds":5}])", nullptr},
      {"tolerations", R"([])", "existing toleration can not be modified"},
      {"activeDeadlineSeconds", "5", nullptr},
      {"activeDeadlineSeconds", "20", "must be less than or equal to previous value of 10"},
      {"schedulingGates", "[]", nullptr},
      {"schedulingGates", R"([{"name":"g"},{"name":"h"}])", "only deletion is allowed"},
      {"nodeSelector", R"({"x":"y","z":"1"})", nullptr},
      {"nodeSelector", R"({"x":"z"})", "spec: Forbidden"},
      {"nodeName", R"("n")", "spec: Forbidden"},
      {"priority", "5", "spec: Forbidden"},
  };
  for (const Case& c : cases) {
    Json after = Parse(before);
    kube::At(after, {"spec", c.path}) = Parse(c.value);
    const auto errors = CheckChange(ValidatePodUpdate, before, kube::Serialize(after));
    if (c.error == nullptr) {
      EXPECT_THAT(errors, IsEmpty()) << c.path << c.value;
    } else {
      EXPECT_THAT(errors, ElementsAre(HasSubstr(c.error))) << c.path << c.value;
    }
  }
}

TEST(PodUpdateValidationTest, AResizeChangesCpuAndMemoryAlone) {
  const char* before = R"({"spec":{
      "containers":[{"name":"c","image":"i","resources":{
          "requests":{"cpu":"1","kubernetes.io/batch-cpu":"1k"},"limits":{"memory":"1Gi"}}}],
      "initContainers":[{"name":"once","image":"i"},
                        {"name":"sidecar","image":"i","restartPolicy":"Always"}]}})";
  const struct {
    const char *parent, *member, *value;
    const char* error;  // null: allowed
  } kCases[] = {
      {"/spec/containers/0/resources/requests", "cpu", R"("2")", nullptr},
      {"/spec/containers/0/resources/limits", "memory", R"("2Gi")", nullptr},
      {"/spec/containers/0/resources/limits", "cpu", R"("2")", nullptr},
      {"/spec/initContainers/1", "resources", R"({"requests":{"cpu":"1"}})", nullptr},
      {"/spec/containers/0/resources/requests", "kubernetes.io/batch-cpu", R"("64k")",
       "spec: Forbidden: only cpu and memory resources are mutable"},
      {"/spec/containers/0/resources/requests", "example.com/card", R"("1")",
       "spec: Forbidden: only cpu and memory resources are mutable"},
      {"/spec/containers/0", "resizePolicy", R"([{"resourceName":"cpu"}])",
       "spec: Forbidden: only cpu and memory resources are mutable"},
      {"/spec/containers/0/resources", "limits", "{}",
       "spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed"},
      {"/spec/containers/0", "image", R"("j")",
       "spec: Forbidden: only cpu and memory resources are mutable"},
      {"/spec/containers/0", "name", R"("d")",
       "spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize"},
      {"/spec/containers", "", R"({"name":"d","image":"i"})",
       "spec.containers: Forbidden: containers may not be added or removed on resize"},
      {"/spec/initContainers/0", "resources", R"({"requests":{"cpu":"1"}})",
       "spec: Forbidden: resources for non-sidecar init containers are immutable"},
      {"/spec/initContainers/1", "resources", R"({"requests":{"example.com/card":"1"}})",
       "spec: Forbidden: only cpu and memory resources for sidecar containers are mutable"},
      {"/spec", "nodeName", R"("n")", "spec: Forbidden: only cpu and memory resources are mutable"},
  };
  for (const auto& c : kCases) {
    Json after = Parse(before);
    Json& parent = after.at_pointer(c.parent);
    if (parent.is_array()) {
      parent.get_array().push_back(Parse(c.value));
    } else {
      parent.as_object()[c.member] = Parse(c.value);
    }
    const auto errors = CheckChange(ValidatePodResize, before, kube::Serialize(after));
    if (c.error == nullptr) {
      EXPECT_THAT(errors, IsEmpty()) << c.parent << c.member << c.value;
    } else {
      EXPECT_THAT(errors, ElementsAre(c.error)) << c.parent << c.member << c.value;
    }
  }
}

TEST(PodUpdateValidationTest, AResizeKeepsTheQosClass) {
  const char* best_effort = R"({"spec":{"containers":[{"name":"c","image":"i"}]}})";
  EXPECT_THAT(CheckChange(ValidatePodResize, best_effort,
                          R"({"spec":{"containers":[{"name":"c","image":"i",
                              "resources":{"requests":{"cpu":"1"}}}]}})"),
              ElementsAre("spec: Invalid value: \"Burstable\": Pod QOS Class may not change as a "
                          "result of resizing"));
  EXPECT_THAT(CheckChange(ValidatePodResize, R"({"spec":{"resources":{"limits":{"cpu":"1"}}}})",
                          R"({"spec":{"resources":{"limits":{"cpu":"2"}}}})"),
              ElementsAre("spec: Forbidden: pods with pod-level resources cannot be resized"));
}

TEST(PodUpdateValidationTest, EphemeralContainersAreOnlyAdded) {
  const auto errors = [](const char* after) {
    return CheckChange(ValidateEphemeralContainers,
                       R"({"spec":{"ephemeralContainers":[{"name":"a","image":"i"}]}})",
                       fmt::format(R"({{"spec":{{"ephemeralContainers":{}}}}})", after));
  };
  EXPECT_THAT(errors(R"([{"name":"b","image":"i"},{"name":"a","image":"i"}])"), IsEmpty());
  EXPECT_THAT(errors("[]"), ElementsAre("spec.ephemeralContainers: Forbidden: existing ephemeral "
                                        "containers \"a\" may not be removed"));
  EXPECT_THAT(errors(R"([{"name":"a","image":"j"}])"),
              ElementsAre("spec.ephemeralContainers: Forbidden: existing ephemeral containers "
                          "\"a\" may not be changed"));
}

TEST(OtherValidationTest, ImmutableMapsAndClasses) {
  EXPECT_THAT(CheckChange(ValidateImmutableData, R"({"immutable":true,"data":{"a":"1"}})",
                          R"({"immutable":true,"data":{"a":"2"}})"),
              ElementsAre("data: Forbidden: field is immutable when `immutable` is set"));
  EXPECT_THAT(CheckChange(ValidatePriorityClassUpdate, R"({"value":1})", R"({"value":2})"),
              ElementsAre("value: Forbidden: may not be changed in an update."));
  EXPECT_THAT(CheckChange(ValidatePersistentVolumeClaimUpdate,
                          R"({"spec":{"accessModes":["ReadWriteOnce"]}})",
                          R"({"spec":{"accessModes":["ReadWriteMany"]}})"),
              ElementsAre(HasSubstr("spec: Forbidden: spec is immutable after creation")));
  EXPECT_THAT(CheckChange(ValidatePersistentVolumeClaimUpdate, R"({"spec":{"accessModes":[]}})",
                          R"({"spec":{"accessModes":[],"volumeName":"v"}})"),
              IsEmpty());
  EXPECT_THAT(Check(ValidatePriorityClass, R"({"metadata":{"name":"x"},"value":2000000000})"),
              ElementsAre(HasSubstr("maximum allowed value of a user defined priority is "
                                    "1000000000")));
  EXPECT_THAT(Check(ValidatePriorityClass, R"({"metadata":{"name":"system-x"},"value":1})"),
              ElementsAre(HasSubstr("reserved for system use only")));
  EXPECT_THAT(Check(ValidateLease, R"({"spec":{"leaseDurationSeconds":0}})"),
              ElementsAre("spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"));
  EXPECT_THAT(
      Check(ValidatePodDisruptionBudget, R"({"spec":{"minAvailable":1,"maxUnavailable":1}})"),
      ElementsAre(HasSubstr("cannot be both set")));
  EXPECT_THAT(Check(ValidateNode,
                    R"({"spec":{"taints":[{"key":"a","effect":"NoSchedule"},
                                          {"key":"a","effect":"NoSchedule","value":"x"}]}})"),
              ElementsAre(HasSubstr("taints must be unique by key and effect pair")));
}

}  // namespace
}  // namespace koord::apiserver::validation_test
