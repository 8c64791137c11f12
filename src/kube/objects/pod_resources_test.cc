#include "kube/objects/pod_resources.h"

#include <gtest/gtest.h>

namespace koord::kube::pod_resources_test {
namespace {

Pod MakePod(std::string_view text) {
  const StatusOr<Pod> pod = Decode<Pod>(ParseJson(text).value());
  EXPECT_TRUE(pod.ok()) << pod.status();
  return *pod;
}

ResourceList MakeList(std::string_view text) {
  return Decode<ResourceList>(ParseJson(text).value()).value();
}

struct Case {
  std::string what;
  std::string_view pod;
  std::string_view expected;
};

std::string NameOf(const testing::TestParamInfo<Case>& info) { return info.param.what; }

class PodRequestsTest : public testing::TestWithParam<Case> {};

TEST_P(PodRequestsTest, FromSpec) {
  const ResourceList requests = PodRequests(MakePod(GetParam().pod));
  EXPECT_EQ(requests, MakeList(GetParam().expected)) << Serialize(Encode(requests));
}

INSTANTIATE_TEST_SUITE_P(
    , PodRequestsTest,
    testing::Values(Case{"Nothing", R"({"spec":{"containers":[{"name":"a"}]}})", "{}"},
                    Case{"ContainersAddUp", R"({"spec":{"containers":[
               {"name":"a","resources":{"requests":{"cpu":"1","memory":"1Gi"}}},
               {"name":"b","resources":{"requests":{"cpu":"500m","x.io/y":2}}}]}})",
                         R"({"cpu":"1500m","memory":"1Gi","x.io/y":"2"})"},
                    Case{"LargestInitContainer", R"({"spec":{
               "initContainers":[{"name":"i","resources":{"requests":{"cpu":"3"}}},
                                 {"name":"j","resources":{"requests":{"memory":"1Gi"}}}],
               "containers":[{"name":"a","resources":{"requests":{"cpu":"1","memory":"2Gi"}}}]}})",
                         R"({"cpu":"3","memory":"2Gi"})"},
                    Case{"SidecarCountsWithContainers", R"({"spec":{
               "initContainers":[{"name":"s","restartPolicy":"Always",
                                  "resources":{"requests":{"cpu":"1"}}}],
               "containers":[{"name":"a","resources":{"requests":{"cpu":"2"}}}]}})",
                         R"({"cpu":"3"})"},
                    Case{"SidecarsBeforeAnInitContainerCountWithIt", R"({"spec":{
               "initContainers":[
                 {"name":"s","restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}},
                 {"name":"i","resources":{"requests":{"cpu":"5"}}},
                 {"name":"t","restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}}],
               "containers":[{"name":"a","resources":{"requests":{"cpu":"2"}}}]}})",
                         R"({"cpu":"6"})"},
                    Case{"SidecarsAfterAnInitContainerDoNot", R"({"spec":{
               "initContainers":[
                 {"name":"i","resources":{"requests":{"cpu":"3"}}},
                 {"name":"s","restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}}],
               "containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]}})",
                         R"({"cpu":"3"})"},
                    Case{"OverheadComesOnTop",
                         R"({"spec":{"overhead":{"cpu":"250m","memory":"120Mi"},
               "containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]}})",
                         R"({"cpu":"1250m","memory":"120Mi"})"},
                    Case{"PodLevelReplacesCpuMemoryAndHugePagesOnly", R"({"spec":{
               "resources":{"requests":{"cpu":"5","hugepages-2Mi":"4Mi","x.io/y":"9"}},
               "overhead":{"cpu":"1"},
               "containers":[{"name":"a","resources":{
                  "requests":{"cpu":"1","memory":"1Gi","x.io/y":"2"}}}]}})",
                         R"({"cpu":"6","memory":"1Gi","hugepages-2Mi":"4Mi","x.io/y":"2"})"}),
    NameOf);

constexpr std::string_view kResizing = R"({"spec":{"containers":[
    {"name":"a","resources":{"requests":{"cpu":"3","memory":"1Gi"}}}]},
  "status":{"containerStatuses":[{"name":"a","allocatedResources":{"cpu":"1","memory":"2Gi"},
    "resources":{"requests":{"cpu":"2","memory":"1Gi"}}}]}})";

TEST(RunningPodRequestsTest, OfARunningPodTakeTheMostOfSpecAndStatus) {
  EXPECT_EQ(PodRequests(MakePod(kResizing)), MakeList(R"({"cpu":"3","memory":"1Gi"})"));
  EXPECT_EQ(PodRequests(MakePod(kResizing), RequestsFrom::kSpecAndStatus),
            MakeList(R"({"cpu":"3","memory":"2Gi"})"));
}

TEST(RunningPodRequestsTest, AnInfeasibleResizeDoesNotCount) {
  Pod pod = MakePod(kResizing);
  PodCondition condition;
  condition.type = "PodResizePending";
  condition.reason = "Infeasible";
  pod.status.conditions.push_back(condition);
  EXPECT_EQ(PodRequests(pod, RequestsFrom::kSpecAndStatus),
            MakeList(R"({"cpu":"2","memory":"2Gi"})"));
}

TEST(NonZeroPodRequestsTest, FillsWhatAContainerLeavesOut) {
  const Pod pod = MakePod(R"({"spec":{"containers":[
      {"name":"a","resources":{"requests":{"cpu":"1"}}},
      {"name":"b","resources":{"requests":{"memory":"0"}}}]}})");
  EXPECT_EQ(NonZeroPodRequests(pod), MakeList(R"({"cpu":"1100m","memory":"200Mi"})"));
}

TEST(NonZeroPodRequestsTest, WithPodLevelRequestsOnlyWhatNobodyStates) {
  const Pod pod = MakePod(R"({"spec":{"resources":{"requests":{"cpu":"2"}},"containers":[
      {"name":"a","resources":{"requests":{"cpu":"1"}}}, {"name":"b"}]}})");
  EXPECT_EQ(NonZeroPodRequests(pod), MakeList(R"({"cpu":"2","memory":"400Mi"})"));
  const Pod half = MakePod(R"({"spec":{"resources":{"requests":{"cpu":"2"}},"containers":[
      {"name":"a","resources":{"requests":{"memory":"1Gi"}}}, {"name":"b"}]}})");
  EXPECT_EQ(NonZeroPodRequests(half), MakeList(R"({"cpu":"2","memory":"1Gi"})"));
}

TEST(PodLimitsTest, OverheadOnlyWhereThereIsALimit) {
  const Pod pod = MakePod(R"({"spec":{"overhead":{"cpu":"1","memory":"1Gi"},"containers":[
      {"name":"a","resources":{"limits":{"cpu":"2"}}},
      {"name":"b","resources":{"limits":{"cpu":"1"}}}]}})");
  EXPECT_EQ(PodLimits(pod), MakeList(R"({"cpu":"4"})"));
}

class PodQosTest : public testing::TestWithParam<Case> {};

TEST_P(PodQosTest, Class) {
  EXPECT_EQ(ToString(PodQosOf(MakePod(GetParam().pod))), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    , PodQosTest,
    testing::Values(Case{"NoResources", R"({"spec":{"containers":[{"name":"a"}]}})", "BestEffort"},
                    Case{"OnlyExtended", R"({"spec":{"containers":[{"name":"a","resources":{
               "requests":{"kubernetes.io/batch-cpu":"100"}}}]}})",
                         "BestEffort"},
                    Case{"ZeroRequest", R"({"spec":{"containers":[{"name":"a","resources":{
               "requests":{"cpu":"0"}}}]}})",
                         "BestEffort"},
                    Case{"RequestOnly", R"({"spec":{"containers":[{"name":"a","resources":{
               "requests":{"cpu":"1"}}}]}})",
                         "Burstable"},
                    Case{"OneResourceLimited", R"({"spec":{"containers":[{"name":"a","resources":{
               "requests":{"cpu":"1"},"limits":{"cpu":"1"}}}]}})",
                         "Burstable"},
                    Case{"LimitsAreRequests", R"({"spec":{"containers":[{"name":"a","resources":{
               "requests":{"cpu":"1000m","memory":"1Gi"},
               "limits":{"cpu":"1","memory":"1024Mi"}}}]}})",
                         "Guaranteed"},
                    Case{"LimitAboveRequest", R"({"spec":{"containers":[{"name":"a","resources":{
               "requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"2","memory":"1Gi"}}}]}})",
                         "Burstable"},
                    Case{"AnInitContainerWithoutLimits",
                         R"({"spec":{"initContainers":[{"name":"i"}],
               "containers":[{"name":"a","resources":{
               "requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"1","memory":"1Gi"}}}]}})",
                         "Burstable"},
                    Case{"PodLevelDecidesAlone", R"({"spec":{
               "resources":{"requests":{"cpu":"1","memory":"1Gi"},
                            "limits":{"cpu":"1","memory":"1Gi"}},
               "containers":[{"name":"a"}]}})",
                         "Guaranteed"},
                    Case{"StatusWins", R"({"spec":{"containers":[{"name":"a"}]},
               "status":{"qosClass":"Guaranteed"}})",
                         "Guaranteed"}),
    NameOf);

}  // namespace
}  // namespace koord::kube::pod_resources_test
