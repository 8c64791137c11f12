#include "api/unsupported.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/keys.h"

namespace koord::api::unsupported_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Unsupported, APlainPodAsksForNothingSpecial) {
  kube::Pod pod;
  pod.metadata.labels.Mutable()["app"] = "web";
  pod.metadata.labels.Mutable()[std::string(kLabelQosClass)] = "LS";
  pod.spec.containers.Mutable().emplace_back().resources.requests["cpu"] = kube::Quantity(1);
  EXPECT_THAT(UnsupportedRequestsOf(pod), IsEmpty());
}

TEST(Unsupported, NamesEachKey) {
  kube::Pod pod;
  pod.metadata.labels.Mutable()[std::string(kLabelPodGroup)] = "trainers";
  pod.metadata.annotations[std::string(kAnnotationGangName)] = "g";
  EXPECT_THAT(UnsupportedRequestsOf(pod),
              ElementsAre(HasSubstr("label pod-group.scheduling.sigs.k8s.io has no effect"),
                          HasSubstr("annotation gang.scheduling.koordinator.sh/name")));
}

TEST(Unsupported, KindsAreToldApartByGroup) {
  EXPECT_TRUE(UnsupportedKind("scheduling.sigs.k8s.io", "PodGroup"));
  EXPECT_FALSE(UnsupportedKind("example.com", "PodGroup"));
  EXPECT_FALSE(UnsupportedKind("slo.koordinator.sh", "NodeSLO"));
  EXPECT_FALSE(UnsupportedKind("scheduling.sigs.k8s.io", "ElasticQuota"));
}

}  // namespace koord::api::unsupported_test
