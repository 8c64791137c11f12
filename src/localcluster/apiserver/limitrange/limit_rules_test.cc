#include "localcluster/apiserver/limitrange/limit_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/yaml.h"

namespace koord::apiserver::limit_rules_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

template <class T>
T From(const std::string& yaml) {
  const auto decoded = kube::Decode<T>(*kube::ParseYaml(yaml));
  EXPECT_TRUE(decoded.ok()) << decoded.status();
  return *decoded;
}

std::vector<std::string> Broken(const std::string& limits, const std::string& resources) {
  return BrokenLimits(
      From<kube::LimitRange>("{spec: {limits: [" + limits + "]}}"),
      From<kube::Pod>("{spec: {containers: [{name: c, resources: " + resources + "}]}}"));
}

TEST(LimitRules, ContainersGetWhatTheyDoNotSay) {
  const auto limits = From<kube::LimitRange>(
      "{spec: {limits: [{type: Container, default: {cpu: 500m, memory: 1Gi}, "
      "defaultRequest: {cpu: 100m, memory: 512Mi}}, {type: Pod, default: {cpu: 9}}]}}");
  kube::Json pod = *kube::ParseYaml(
      "{metadata: {name: p}, spec: {containers: [{name: a}, {name: b, resources: {requests: {cpu: "
      "1},"
      " limits: {cpu: 1, memory: 2Gi}}}], initContainers: [{name: i, resources: null}]}}");
  FillInLimits(limits, pod);
  EXPECT_EQ(
      kube::Serialize(pod.at("spec").at("containers").at(0).at("resources")),
      R"({"requests":{"cpu":"100m","memory":"512Mi"},"limits":{"cpu":"500m","memory":"1Gi"}})");
  EXPECT_EQ(kube::Serialize(pod.at("spec").at("containers").at(1).at("resources")),
            R"({"requests":{"cpu":1,"memory":"512Mi"},"limits":{"cpu":1,"memory":"2Gi"}})");
  EXPECT_EQ(kube::FindString(pod, {"metadata", "annotations", "kubernetes.io/limit-ranger"}),
            "LimitRanger plugin set: cpu, memory request for container a; cpu, memory limit for "
            "container a; memory request for container b; cpu, memory request for init container "
            "i; cpu, memory limit for init container i");
}

TEST(LimitRules, PodsThatSayEverythingStayAsTheyAre) {
  const auto limits =
      From<kube::LimitRange>("{spec: {limits: [{type: Container, default: {cpu: 500m}}]}}");
  const std::string text =
      R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"a","resources":{"limits":{"cpu":"1"}}}]}})";
  kube::Json pod = *kube::ParseJson(text);
  FillInLimits(limits, pod);
  EXPECT_EQ(kube::Serialize(pod), text);
}

TEST(LimitRules, SaysWhichBoundIsBroken) {
  const struct {
    const char *name, *limits, *resources, *complaint;
  } kCases[] = {
      {"no request", "{type: Container, min: {cpu: 100m}}", "{}",
       "minimum cpu usage per Container is 100m.  No request is specified"},
      {"small request", "{type: Container, min: {cpu: 100m}}", "{requests: {cpu: 50m}}",
       "minimum cpu usage per Container is 100m, but request is 50m"},
      {"small limit", "{type: Container, min: {cpu: 100m}}",
       "{requests: {cpu: 200m}, limits: {cpu: 50m}}",
       "minimum cpu usage per Container is 100m, but limit is 50m"},
      {"no limit", "{type: Container, max: {memory: 1Gi}}", "{}",
       "maximum memory usage per Container is 1Gi.  No limit is specified"},
      {"large limit", "{type: Container, max: {memory: 1Gi}}", "{limits: {memory: 2Gi}}",
       "maximum memory usage per Container is 1Gi, but limit is 2Gi"},
      {"large request", "{type: Container, max: {memory: 1Gi}}",
       "{requests: {memory: 2Gi}, limits: {memory: 1Gi}}",
       "maximum memory usage per Container is 1Gi, but request is 2Gi"},
      {"ratio", "{type: Container, maxLimitRequestRatio: {cpu: 2}}",
       "{requests: {cpu: 100m}, limits: {cpu: 300m}}",
       "cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000"},
      {"ratio without request", "{type: Container, maxLimitRequestRatio: {cpu: 2}}",
       "{limits: {cpu: 300m}}",
       "cpu max limit to request ratio per Container is 2, but no request is specified or request "
       "is 0"},
      {"ratio without limit", "{type: Container, maxLimitRequestRatio: {cpu: 2}}",
       "{requests: {cpu: 300m}}",
       "cpu max limit to request ratio per Container is 2, but no limit is specified or limit is "
       "0"},
      {"of the pod", "{type: Pod, max: {cpu: 1}}", "{requests: {cpu: 2}, limits: {cpu: 2}}",
       "maximum cpu usage per Pod is 1, but limit is 2"},
  };
  for (const auto& test : kCases) {
    EXPECT_THAT(Broken(test.limits, test.resources), ElementsAre(test.complaint)) << test.name;
  }
  EXPECT_THAT(
      Broken("{type: Container, min: {cpu: 1}, max: {cpu: 2}, maxLimitRequestRatio: {cpu: "
             "2}}, {type: Pod, max: {cpu: 2}}, {type: PersistentVolumeClaim, min: {cpu: 9}}",
             "{requests: {cpu: 1}, limits: {cpu: 2}}"),
      IsEmpty());
}

TEST(LimitRules, PodsAreTheSumOfTheirContainers) {
  EXPECT_THAT(
      BrokenLimits(From<kube::LimitRange>("{spec: {limits: [{type: Pod, min: {cpu: 2}}]}}"),
                   From<kube::Pod>("{spec: {containers: [{name: a, resources: {requests: {cpu: "
                                   "1500m}}}, {name: b, resources: {requests: {cpu: 500m}}}]}}")),
      IsEmpty());
}

TEST(LimitRules, BoundsClaimsByWhatTheyRequest) {
  const auto broken = [](const std::string& storage) {
    return BrokenLimits(From<kube::LimitRange>("{spec: {limits: [{type: PersistentVolumeClaim, "
                                               "min: {storage: 1Gi}, max: {storage: 10Gi}}]}}"),
                        From<kube::PersistentVolumeClaim>(
                            "{spec: {resources: {requests: {storage: " + storage + "}}}}"));
  };
  EXPECT_THAT(broken("1Gi"), IsEmpty());
  EXPECT_THAT(broken("512Mi"),
              ElementsAre("minimum storage usage per PersistentVolumeClaim is 1Gi, but request is "
                          "512Mi"));
  EXPECT_THAT(broken("11Gi"),
              ElementsAre("maximum storage usage per PersistentVolumeClaim is 10Gi, but request is "
                          "11Gi"));
}

}  // namespace
}  // namespace koord::apiserver::limit_rules_test
