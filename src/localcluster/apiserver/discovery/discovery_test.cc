#include <gmock/gmock.h>

#include "localcluster/apiserver/server_testing.h"

namespace koord::apiserver::discovery_test {
namespace {

constexpr char kV2[] = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

TestAnswer Ask(TestServer& server, std::string target, std::string accept,
               std::string if_none_match = "") {
  kube::HttpRequest request;
  request.target = std::move(target);
  request.user = TestServer::Admin();
  request.headers.Set("Accept", std::move(accept));
  if (!if_none_match.empty()) request.headers.Set("If-None-Match", std::move(if_none_match));
  return server.Send(std::move(request));
}

const kube::Json* FindNamed(const kube::Json& list, std::string_view key, std::string_view name) {
  for (const kube::Json& item : list.as_array()) {
    if (kube::FindString(item, {key}) == name) return &item;
  }
  return nullptr;
}

TEST(DiscoveryTest, LegacyDocuments) {
  TestServer server;
  TestAnswer versions = server.Get("/api");
  EXPECT_EQ(versions.String({"kind"}), "APIVersions");
  EXPECT_EQ(versions.json.at("versions"), kube::Json(kube::json::array{"v1"}));
  EXPECT_EQ(kube::FindString(versions.json.at("serverAddressByClientCIDRs").at(0), {"clientCIDR"}),
            "0.0.0.0/0");

  TestAnswer groups = server.Get("/apis");
  EXPECT_EQ(groups.String({"kind"}), "APIGroupList");
  const kube::Json* apps = FindNamed(groups.json.at("groups"), "name", "apps");
  ASSERT_NE(apps, nullptr);
  EXPECT_EQ(kube::FindString(*apps, {"preferredVersion", "groupVersion"}), "apps/v1");
  const kube::Json* devices = FindNamed(groups.json.at("groups"), "name", "resource.k8s.io");
  ASSERT_NE(devices, nullptr);
  EXPECT_EQ(kube::FindString(devices->at("versions").at(0), {"version"}), "v1");
  EXPECT_EQ(kube::FindString(devices->at("versions").at(1), {"version"}), "v1beta1");

  TestAnswer group = server.Get("/apis/apps");
  EXPECT_EQ(group.String({"kind"}), "APIGroup");
  EXPECT_EQ(group.String({"name"}), "apps");
}

TEST(DiscoveryTest, LegacyResources) {
  TestServer server;
  TestAnswer core = server.Get("/api/v1?timeout=32s");
  EXPECT_EQ(core.String({"kind"}), "APIResourceList");
  EXPECT_EQ(core.String({"groupVersion"}), "v1");
  const kube::Json& resources = core.json.at("resources");
  const kube::Json* pods = FindNamed(resources, "name", "pods");
  ASSERT_NE(pods, nullptr);
  EXPECT_EQ(kube::FindString(*pods, {"singularName"}), "pod");
  EXPECT_TRUE(kube::FindBool(*pods, {"namespaced"}));
  EXPECT_EQ(pods->at("shortNames"), kube::Json(kube::json::array{"po"}));
  EXPECT_EQ(pods->at("categories"), kube::Json(kube::json::array{"all"}));
  EXPECT_EQ(pods->at("verbs"),
            kube::Json(kube::json::array{"create", "delete", "deletecollection", "get", "list",
                                         "patch", "update", "watch"}));
  const kube::Json* eviction = FindNamed(resources, "name", "pods/eviction");
  ASSERT_NE(eviction, nullptr);
  EXPECT_EQ(kube::FindString(*eviction, {"group"}), "policy");
  EXPECT_EQ(kube::FindString(*eviction, {"version"}), "v1");
  EXPECT_EQ(kube::FindString(*eviction, {"kind"}), "Eviction");
  const kube::Json* binding = FindNamed(resources, "name", "pods/binding");
  ASSERT_NE(binding, nullptr);
  EXPECT_EQ(kube::FindString(*binding, {"kind"}), "Binding");
  EXPECT_FALSE(binding->as_object().contains("group"));
  const kube::Json scale =
      *FindNamed(server.Get("/apis/apps/v1").json.at("resources"), "name", "deployments/scale");
  EXPECT_EQ(kube::FindString(scale, {"group"}), "autoscaling");
  EXPECT_EQ(kube::FindString(scale, {"kind"}), "Scale");
}

TEST(DiscoveryTest, AggregatedWhenAskedFor) {
  TestServer server;
  TestAnswer answer = Ask(server, "/apis",
                          std::string(kV2) +
                              ",application/json;g=apidiscovery.k8s.io;v=v2beta1;as="
                              "APIGroupDiscoveryList,application/json");
  EXPECT_EQ(answer.headers.Get("Content-Type"), kV2);
  EXPECT_EQ(answer.headers.Get("Vary"), "Accept");
  EXPECT_EQ(answer.String({"kind"}), "APIGroupDiscoveryList");
  EXPECT_EQ(answer.String({"apiVersion"}), "apidiscovery.k8s.io/v2");

  const std::string etag(answer.headers.Get("ETag"));
  EXPECT_EQ(Ask(server, "/apis", kV2, etag).code, 304);

  TestAnswer core = Ask(server, "/api", kV2);
  ASSERT_EQ(core.json.at("items").as_array().size(), 1u);
  const kube::Json& version = core.json.at("items").at(0).at("versions").at(0);
  EXPECT_EQ(kube::FindString(version, {"freshness"}), "Current");
  const kube::Json* pods = FindNamed(version.at("resources"), "resource", "pods");
  ASSERT_NE(pods, nullptr);
  EXPECT_EQ(kube::FindString(*pods, {"scope"}), "Namespaced");
  EXPECT_EQ(kube::FindString(*pods, {"singularResource"}), "pod");
  EXPECT_EQ(kube::FindString(*pods, {"responseKind", "kind"}), "Pod");
  ASSERT_NE(FindNamed(pods->at("subresources"), "subresource", "eviction"), nullptr);

  // Without it, or with a parameter more, as ever.
  EXPECT_EQ(Ask(server, "/apis", "application/json").String({"kind"}), "APIGroupList");
  EXPECT_EQ(Ask(server, "/apis",
                "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList;profile="
                "nopeer")
                .String({"kind"}),
            "APIGroupDiscoveryList");
}

}  // namespace
}  // namespace koord::apiserver::discovery_test
