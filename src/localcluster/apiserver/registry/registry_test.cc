#include "localcluster/apiserver/registry/registry.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace koord::apiserver::registry_test {
namespace {

using testing::ElementsAre;

TEST(RegistryTest, OrdersVersionsAsKubernetesDoes) {
  std::vector<std::string> versions{"v1alpha1", "foo", "v1", "v2beta1", "v10",
                                    "v1beta2",  "bar", "v2", "v1beta",  "v"};
  std::sort(versions.begin(), versions.end(),
            [](const auto& a, const auto& b) { return PreferredVersion(a, b); });
  EXPECT_THAT(versions, ElementsAre("v10", "v2", "v1", "v2beta1", "v1beta2", "v1alpha1", "bar",
                                    "foo", "v", "v1beta"));
}

TEST(RegistryTest, FindsByResourceAndKind) {
  Registry registry;
  const auto pods = registry.Find("", "v1", "pods");
  ASSERT_NE(pods, nullptr);
  EXPECT_EQ(pods->resource.kind, "Pod");
  EXPECT_TRUE(pods->has_status());
  EXPECT_EQ(registry.Find("", "v1", "pod"), nullptr);
  EXPECT_EQ(registry.Find("apps", "v2", "deployments"), nullptr);
  EXPECT_EQ(registry.FindKind("apps", "", "Deployment")->resource.resource, "deployments");
  EXPECT_EQ(registry.FindKind("", "v1", "Deployment"), nullptr);
  EXPECT_TRUE(registry.Serves("resource.k8s.io", "v1beta1"));
  EXPECT_FALSE(registry.Serves("resource.k8s.io", "v1beta2"));
}

TEST(RegistryTest, TheTwoKindsOfEventsShareTheirStore) {
  Registry registry;
  EXPECT_EQ(registry.Find("", "v1", "events")->stored_as(), "events");
  EXPECT_EQ(registry.Find("events.k8s.io", "v1", "events")->stored_as(), "events");
  EXPECT_EQ(registry.Find("events.k8s.io", "v1", "events")->stored_api_version(), "v1");
  EXPECT_EQ(registry.Find("resource.k8s.io", "v1beta1", "resourceslices")->stored_api_version(),
            "resource.k8s.io/v1");
}

TEST(RegistryTest, CustomResourcesComeAndGo) {
  Registry registry;
  const uint64_t before = registry.generation();
  const auto make = [](std::string version) {
    auto info = std::make_shared<ResourceInfo>();
    info->resource = {"ex.io", std::move(version), "widgets", "Widget"};
    info->custom = true;
    return info;
  };
  registry.SetCustom("ex.io", "widgets", {make("v1alpha1"), make("v1")});
  ASSERT_NE(registry.FindGroup("ex.io"), nullptr);
  EXPECT_EQ(registry.FindGroup("ex.io")->versions[0].version, "v1");
  EXPECT_GT(registry.generation(), before);
  registry.SetCustom("ex.io", "widgets", {make("v2")});
  EXPECT_FALSE(registry.Serves("ex.io", "v1"));
  registry.RemoveCustom("ex.io", "widgets");
  EXPECT_EQ(registry.FindGroup("ex.io"), nullptr);
}

TEST(RegistryTest, GroupsAreInOrderWithCoreFirst) {
  Registry registry;
  std::vector<std::string> names;
  for (const ApiGroup& group : registry.groups()) names.push_back(group.name);
  EXPECT_EQ(names.front(), "");
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
}

}  // namespace
}  // namespace koord::apiserver::registry_test
