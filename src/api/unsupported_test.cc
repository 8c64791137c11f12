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

TEST(Unsupported, NamesEachKeyAndResourceOnce) {
  kube::Pod pod;
  pod.metadata.labels.Mutable()[std::string(kLabelQuotaName)] = "team-a";
  pod.metadata.annotations[std::string(kAnnotationResourceSpec)] = "{}";
  for (int i = 0; i < 2; ++i) {
    auto& resources = pod.spec.containers.Mutable().emplace_back().resources;
    resources.requests["koordinator.sh/gpu-core"] = kube::Quantity(50);
    resources.limits["koordinator.sh/gpu-core"] = kube::Quantity(50);
  }
  EXPECT_THAT(UnsupportedRequestsOf(pod),
              ElementsAre(HasSubstr("label quota.scheduling.koordinator.sh/name has no effect"),
                          HasSubstr("annotation scheduling.koordinator.sh/resource-spec"),
                          HasSubstr("resource koordinator.sh/gpu-core")));
}

TEST(Unsupported, WhatAPluginActsOnIsToldWhereItIsNotAtWork) {
  kube::Pod pod;
  pod.metadata.labels.Mutable()[std::string(kLabelPodGroup)] = "g";
  pod.metadata.annotations[std::string(kAnnotationGangName)] = "g";
  EXPECT_EQ(UnsupportedRequestsOf(pod).size(), 2u);
  constexpr std::string_view kOthers[] = {"Reservation"};
  EXPECT_EQ(UnsupportedRequestsOf(pod, kOthers).size(), 2u);
  constexpr std::string_view kAtWork[] = {"Reservation", "Coscheduling"};
  EXPECT_THAT(UnsupportedRequestsOf(pod, kAtWork), IsEmpty());
}

TEST(Unsupported, KindsAreToldApartByGroup) {
  EXPECT_TRUE(UnsupportedKind("scheduling.sigs.k8s.io", "PodGroup"));
  EXPECT_FALSE(UnsupportedKind("example.com", "PodGroup"));
  EXPECT_FALSE(UnsupportedKind("slo.koordinator.sh", "NodeSLO"));
}

}  // namespace koord::api::unsupported_test
