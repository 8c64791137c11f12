#include <gmock/gmock.h>

#include "localcluster/apiserver/server_testing.h"

namespace koord::apiserver::watch_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kTable[] = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

kube::Json Labelled(std::string_view name, std::string_view value) {
  kube::Json object = TestConfigMap(name);
  kube::At(object, {"metadata", "labels", "app"}) = value;
  return object;
}

class WatchTest : public testing::Test {
 protected:
  std::string From(uint64_t revision) {
    return std::string(kConfigMapsPath) + "?watch=1&resourceVersion=" + std::to_string(revision);
  }
  uint64_t now() const { return server.store->revision(); }

  TestServer server;
};

TEST_F(WatchTest, DeliversEveryLaterChangeInOrder) {
  server.Post(kConfigMapsPath, TestConfigMap("before"));
  const uint64_t start = now();
  server.Post(kConfigMapsPath, TestConfigMap("a"));
  auto watch = server.Watch(From(start));
  EXPECT_EQ(watch->answer.code, 200);
  EXPECT_EQ(watch->answer.headers.Get("Content-Type"), "application/json");
  server.MergePatch(std::string(kConfigMapsPath) + "/a", Parse(R"({"data":{"k":"w"}})"));
  server.Delete(std::string(kConfigMapsPath) + "/a");
  server.Post("/api/v1/namespaces/kube-system/configmaps", TestConfigMap("elsewhere"));
  const auto events = watch->TakeEvents();
  ASSERT_EQ(events.size(), 3u);
  const char* types[] = {"ADDED", "MODIFIED", "DELETED"};
  for (size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(kube::FindString(events[i], {"type"}), types[i]);
    EXPECT_EQ(kube::FindString(events[i], {"object", "kind"}), "ConfigMap");
    EXPECT_EQ(kube::FindString(events[i], {"object", "metadata", "resourceVersion"}),
              std::to_string(start + 1 + i));
  }
}

TEST_F(WatchTest, ASelectorTurnsChangesIntoComingAndGoing) {
  auto watch = server.Watch(From(now()) + "&labelSelector=app%3D1");
  server.Post(kConfigMapsPath, Labelled("x", "1"));
  server.MergePatch(std::string(kConfigMapsPath) + "/x",
                    Parse(R"({"metadata":{"labels":{"app":null}}})"));
  const uint64_t left = now();
  const auto events = watch->TakeEvents();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(kube::FindString(events[0], {"type"}), "ADDED");
  EXPECT_EQ(kube::FindString(events[1], {"type"}), "DELETED");
  // The last state that matched, as of the change.
  EXPECT_EQ(kube::FindString(events[1], {"object", "metadata", "labels", "app"}), "1");
  EXPECT_EQ(kube::FindString(events[1], {"object", "metadata", "resourceVersion"}),
            std::to_string(left));
  server.MergePatch(std::string(kConfigMapsPath) + "/x", Parse(R"({"data":{"k":"2"}})"));
  EXPECT_THAT(watch->TakeEventNames(), IsEmpty());
  server.MergePatch(std::string(kConfigMapsPath) + "/x",
                    Parse(R"({"metadata":{"labels":{"app":"1"}}})"));
  server.MergePatch(std::string(kConfigMapsPath) + "/x", Parse(R"({"data":{"k":"3"}})"));
  EXPECT_THAT(watch->TakeEventNames(), ElementsAre("ADDED x", "MODIFIED x"));
}

TEST_F(WatchTest, OneObjectIsWatchedByItsPathOrName) {
  auto by_path = server.Watch(std::string(kConfigMapsPath) + "/a?watch=1");
  auto by_field = server.Watch(From(now()) + "&fieldSelector=metadata.name%3Da");
  auto deprecated = server.Watch("/api/v1/watch/namespaces/default/configmaps/a");
  server.Post(kConfigMapsPath, TestConfigMap("a"));
  server.Post(kConfigMapsPath, TestConfigMap("b"));
  for (const auto& watch : {by_path, by_field, deprecated}) {
    EXPECT_THAT(watch->TakeEventNames(), ElementsAre("ADDED a"));
  }
}

TEST_F(WatchTest, WithoutAVersionStartsWithWhatIsThere) {
  server.Post(kConfigMapsPath, TestConfigMap("b"));
  server.Post(kConfigMapsPath, TestConfigMap("a"));
  for (const char* query : {"?watch=1", "?watch=true&resourceVersion=0"}) {
    auto watch = server.Watch(std::string(kConfigMapsPath) + query);
    EXPECT_THAT(watch->TakeEventNames(), ElementsAre("ADDED a", "ADDED b"));
  }
}

TEST_F(WatchTest, InitialEventsEndWithAMarkedBookmark) {
  server.Post(kConfigMapsPath, TestConfigMap("a"));
  server.Post(kConfigMapsPath, TestConfigMap("b"));
  const uint64_t seen = now();
  auto watch = server.Watch(std::string(kConfigMapsPath) +
                            "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
                            "&allowWatchBookmarks=true");
  const auto events = watch->TakeEvents();
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(kube::FindString(events[2], {"type"}), "BOOKMARK");
  EXPECT_EQ(kube::FindString(events[2], {"object", "kind"}), "ConfigMap");
  EXPECT_EQ(kube::FindString(events[2], {"object", "metadata", "resourceVersion"}),
            std::to_string(seen));
  EXPECT_EQ(kube::FindString(events[2],
                             {"object", "metadata", "annotations", "k8s.io/initial-events-end"}),
            "true");
  server.Post(kConfigMapsPath, TestConfigMap("c"));
  EXPECT_THAT(watch->TakeEventNames(), ElementsAre("ADDED c"));
}

TEST_F(WatchTest, SendInitialEventsFalseStartsNow) {
  server.Post(kConfigMapsPath, TestConfigMap("a"));
  auto watch = server.Watch(std::string(kConfigMapsPath) +
                            "?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan");
  EXPECT_THAT(watch->TakeEventNames(), IsEmpty());
  server.Post(kConfigMapsPath, TestConfigMap("b"));
  EXPECT_THAT(watch->TakeEventNames(), ElementsAre("ADDED b"));
}

TEST_F(WatchTest, RefusesContradictoryOptions) {
  struct Case {
    const char* query;
    const char* message;
  };
  const Case cases[] = {
      {"sendInitialEvents=true",
       "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: "
       "sendInitialEvents "
       "requires setting resourceVersionMatch to NotOlderThan"},
      {"resourceVersionMatch=NotOlderThan",
       "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"},
      {"sendInitialEvents=true&resourceVersionMatch=Exact",
       "resourceVersionMatch: Unsupported value: \"Exact\": supported values: \"NotOlderThan\""},
  };
  for (const Case& c : cases) {
    auto watch = server.Watch(std::string(kConfigMapsPath) + "?watch=1&" + c.query);
    EXPECT_EQ(watch->answer.code, 422) << c.query;
    EXPECT_THAT(std::string(watch->answer.message()), HasSubstr(c.message));
  }
}

TEST(WatchHistoryTest, TooOldIsToldInTheStream) {
  Store::Options store_options;
  store_options.history = 1s;
  store_options.history_events = 2;
  TestServer server({}, store_options);
  for (const char* name : {"a", "b", "c", "d"}) server.Post(kConfigMapsPath, TestConfigMap(name));
  server.loop.Advance(1min);
  const uint64_t compacted = server.store->compacted_revision();
  ASSERT_GT(compacted, 5u);
  auto watch = server.Watch(std::string(kConfigMapsPath) + "?watch=1&resourceVersion=5");
  EXPECT_EQ(watch->answer.code, 200);
  EXPECT_TRUE(watch->ended);
  const auto events = watch->TakeEvents();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(kube::FindString(events[0], {"type"}), "ERROR");
  EXPECT_EQ(kube::FindInt(events[0], {"object", "code"}), 410);
  EXPECT_EQ(kube::FindString(events[0], {"object", "reason"}), "Expired");
  EXPECT_EQ(kube::FindString(events[0], {"object", "message"}),
            fmt::format("too old resource version: 5 ({})", compacted));
  auto possible = server.Watch(std::string(kConfigMapsPath) +
                               "?watch=1&resourceVersion=" + std::to_string(compacted));
  EXPECT_FALSE(possible->ended);
  EXPECT_FALSE(possible->TakeEvents().empty());
}

TEST_F(WatchTest, AVersionFromAnotherLifeIsExpired) {
  auto watch = server.Watch(From(now() + 1000));
  ASSERT_EQ(watch->answer.code, 200);
  const auto events = watch->TakeEvents();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(kube::FindString(events[0], {"object", "reason"}), "Expired");
}

TEST_F(WatchTest, InitialEventsWaitForTheirVersionButNotForEver) {
  auto watch =
      server.Watch(From(now() + 5) + "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
  EXPECT_EQ(watch->answer.code, 200);
  EXPECT_THAT(watch->TakeEvents(), IsEmpty());
  server.loop.Advance(3s);
  const auto events = watch->TakeEvents();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(kube::FindString(events[0], {"type"}), "ERROR");
  EXPECT_EQ(kube::FindInt(events[0], {"object", "code"}), 504);
  EXPECT_TRUE(watch->ended);
}

TEST_F(WatchTest, BookmarksComeEveryMinuteAndBeforeTheEnd) {
  auto watch = server.Watch(From(now()) + "&allowWatchBookmarks=true&timeoutSeconds=90");
  auto plain = server.Watch(From(now()) + "&timeoutSeconds=90");
  server.Post("/api/v1/namespaces/kube-system/configmaps", TestConfigMap("elsewhere"));
  server.loop.Advance(61s);
  auto events = watch->TakeEvents();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(kube::FindString(events[0], {"type"}), "BOOKMARK");
  EXPECT_EQ(kube::FindString(events[0], {"object", "metadata", "resourceVersion"}),
            std::to_string(now()));
  server.loop.Advance(28s);
  EXPECT_EQ(watch->TakeEvents().size(), 1u);
  EXPECT_FALSE(watch->ended);
  server.loop.Advance(2s);
  EXPECT_TRUE(watch->ended);
  EXPECT_THAT(watch->TakeEvents(), IsEmpty());
  EXPECT_TRUE(plain->ended);
  EXPECT_THAT(plain->TakeEvents(), IsEmpty());
}

TEST_F(WatchTest, ATimeoutThatNobodyMeansIsALongOne) {
  auto watch = server.Watch(From(now()) + "&timeoutSeconds=9223372036854775807");
  server.loop.Advance(24h);
  EXPECT_FALSE(watch->ended);
}

TEST_F(WatchTest, EndsByItselfWithinAnHour) {
  auto watch = server.Watch(From(now()));
  server.loop.Advance(29min);
  EXPECT_FALSE(watch->ended);
  server.loop.Advance(32min);
  EXPECT_TRUE(watch->ended);
}

TEST_F(WatchTest, CutsOffAReaderThatDoesNotKeepUp) {
  auto slow = server.Watch(From(now()));
  auto fast = server.Watch(From(now()));
  slow->stalled = true;
  for (int i = 0; i < 1001; ++i) {
    server.Post(kConfigMapsPath, TestConfigMap("c" + std::to_string(i)));
  }
  EXPECT_FALSE(slow->ended);
  server.loop.Advance(6s);
  EXPECT_TRUE(slow->ended);
  EXPECT_FALSE(fast->ended);
  EXPECT_EQ(fast->TakeEvents().size(), 1001u);
}

TEST_F(WatchTest, GoesWithItsPeerAndWithTheServer) {
  auto gone = server.Watch(From(now()));
  auto stays = server.Watch(From(now()));
  gone->on_disconnect();
  server.Post(kConfigMapsPath, TestConfigMap("a"));
  EXPECT_EQ(gone->text, "");
  EXPECT_THAT(stays->TakeEventNames(), ElementsAre("ADDED a"));
  server.server->Shutdown();
  EXPECT_TRUE(stays->ended);
  EXPECT_EQ(server.Get(kConfigMapsPath).code, 503);
}

TEST_F(WatchTest, WatchersOfTheSameThingShareTheirLines) {
  auto first = std::make_shared<TestWriter>();
  std::vector<std::shared_ptr<TestWriter>> writers;
  for (int i = 0; i < 3; ++i) writers.push_back(server.Watch(From(now())));
  server.Post(kConfigMapsPath, TestConfigMap("a"));
  EXPECT_EQ(writers[0]->text, writers[1]->text);
  EXPECT_EQ(writers[0]->text, writers[2]->text);
}

TEST_F(WatchTest, TablesDescribeTheirColumnsOnce) {
  auto watch = server.Watch(From(now()), kTable);
  server.Post(kConfigMapsPath, TestConfigMap("a"));
  server.Post(kConfigMapsPath, TestConfigMap("b"));
  const auto events = watch->TakeEvents();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(kube::FindString(events[0], {"object", "kind"}), "Table");
  EXPECT_TRUE(events[0].at("object").at("columnDefinitions").is_array());
  EXPECT_TRUE(events[1].at("object").at("columnDefinitions").is_null());
  EXPECT_EQ(events[1].at("object").at("rows").at(0).at("cells").at(0), kube::Json("b"));
}

TEST_F(WatchTest, ANoOpWriteIsNoEvent) {
  server.Post(kConfigMapsPath, Labelled("a", "1"));
  auto watch = server.Watch(From(now()));
  const auto patch = Parse(R"({"metadata":{"labels":{"app":null}}})");
  TestAnswer removed = server.MergePatch(std::string(kConfigMapsPath) + "/a", patch);
  EXPECT_EQ(kube::Find(removed.json, {"metadata", "labels"}), nullptr);
  TestAnswer again = server.MergePatch(std::string(kConfigMapsPath) + "/a", patch);
  EXPECT_EQ(again.code, 200);
  EXPECT_EQ(again.String({"metadata", "resourceVersion"}),
            removed.String({"metadata", "resourceVersion"}));
  EXPECT_THAT(watch->TakeEventNames(), ElementsAre("MODIFIED a"));
}

}  // namespace
}  // namespace koord::apiserver::watch_test
