#include <gmock/gmock.h>

#include "localcluster/apiserver/server_testing.h"

namespace koord::apiserver::api_server_test {
namespace {

using testing::ElementsAre;

TEST(ApiServerTest, CreatesGetsListsAndDeletes) {
  TestServer server;
  TestAnswer created = server.Post(kPodsPath, TestPod("a"));
  ASSERT_EQ(created.code, 201) << created.body;
  EXPECT_EQ(created.String({"status", "phase"}), "Pending");
  EXPECT_EQ(created.String({"spec", "restartPolicy"}), "Always");
  TestAnswer got = server.Get(std::string(kPodsPath) + "/a");
  EXPECT_EQ(got.code, 200);
  EXPECT_EQ(got.body, created.body);
  TestAnswer list = server.Get("/api/v1/pods");
  ASSERT_EQ(list.code, 200) << list.body;
  EXPECT_EQ(list.json.at("items").as_array().size(), 1u);
  TestAnswer deleted = server.Delete(std::string(kPodsPath) + "/a");
  EXPECT_EQ(deleted.code, 200) << deleted.body;
  EXPECT_EQ(server.Get(std::string(kPodsPath) + "/a").code, 404);
}

TEST(ApiServerTest, WatchesFromAList) {
  TestServer server;
  TestAnswer list = server.Get(kPodsPath);
  const std::string rv(list.String({"metadata", "resourceVersion"}));
  auto watch = server.Watch(std::string(kPodsPath) + "?watch=1&resourceVersion=" + rv);
  EXPECT_EQ(watch->answer.code, 200);
  server.Post(kPodsPath, TestPod("a"));
  EXPECT_THAT(watch->TakeEventNames(), ElementsAre("ADDED a"));
  server.Delete(std::string(kPodsPath) + "/a");
  EXPECT_THAT(watch->TakeEventNames(), ElementsAre("DELETED a"));
}

}  // namespace
}  // namespace koord::apiserver::api_server_test
