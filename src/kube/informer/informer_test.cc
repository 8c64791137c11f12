#include "kube/informer/informer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/virtual_loop.h"
#include "kube/resources.h"
#include "kube/transport/in_process_transport.h"
#include "kube/transport/scripted_handler.h"

namespace koord::kube::informer_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

struct Thing {
  ObjectMeta metadata;
  std::string node;
  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("node", self.node);
  }
};

Json MakeThing(std::string_view name, int version, std::string_view node = "n1",
               std::string_view uid = "u") {
  return {{"kind", "Pod"},
          {"metadata",
           {{"name", name},
            {"namespace", "ns"},
            {"uid", uid},
            {"resourceVersion", std::to_string(version)}}},
          {"node", node}};
}

Json MakeList(int version, std::vector<Json> items, std::string_view next = "") {
  Json list{{"kind", "PodList"},
            {"metadata", {{"resourceVersion", std::to_string(version)}}},
            {"items", json::array(items.begin(), items.end())}};
  if (!next.empty()) At(list, {"metadata", "continue"}) = next;
  return list;
}

Json MakeBookmark(int version, bool end_of_list = false) {
  Json object{{"kind", "Pod"}, {"metadata", {{"resourceVersion", std::to_string(version)}}}};
  if (end_of_list) {
    At(object, {"metadata", "annotations"}) = {{"k8s.io/initial-events-end", "true"}};
  }
  return object;
}

ApiError Error(int code, std::string reason, std::string message = "m") {
  ApiError error;
  error.code = code;
  error.reason = std::move(reason);
  error.message = std::move(message);
  return error;
}

// Back-off pauses: the n-th lies in [0.8 s * 2^n, twice that), at most [30 s, 60 s).
constexpr Duration kFirstPauseMin = 800ms;
constexpr Duration kFirstPauseMax = 1600ms;

class InformerTest : public testing::Test {
 protected:
  void SetUp() override {
    log::SetSink([this](std::string_view line) { lines_.emplace_back(line); });
  }
  void TearDown() override { log::SetSink(nullptr); }

  void Start(InformerOptions options) {
    informer_ = std::make_unique<Informer<Thing>>(client_, kPods, std::move(options));
    informer_->AddIndex("node",
                        [](const Thing& thing) { return std::vector<std::string>{thing.node}; });
    informer_->AddHandler([this](const auto& before, const auto& after) {
      const auto show = [](const auto& thing) {
        return thing == nullptr ? std::string("-")
                                : thing->metadata.name + "@" + thing->metadata.resource_version;
      };
      log_.push_back(show(before) + " -> " + show(after));
      const auto& object = after != nullptr ? after : before;
      const auto stored = informer_->Get({object->metadata.ns, object->metadata.name});
      // The copy shows the change before any handler hears of it.
      if (after != nullptr) {
        EXPECT_EQ(stored, after);
      }
    });
    informer_->Start();
  }
  void StartPaged() { Start({.stream_list = false}); }

  ScriptedHandler::Exchange Next() {
    loop_.RunReady();
    return handler_.Take();
  }
  // Waits out a back-off pause of the given bounds and returns the request after it.
  ScriptedHandler::Exchange NextAfterPause(Duration at_least, Duration at_most) {
    loop_.RunReady();
    EXPECT_EQ(handler_.waiting(), 0u) << "no pause";
    loop_.Advance(at_least - 1ms);
    EXPECT_EQ(handler_.waiting(), 0u) << "paused for less than asked";
    loop_.Advance(at_most - at_least + 1ms);
    EXPECT_EQ(handler_.waiting(), 1u) << "paused for more than asked";
    return handler_.Take();
  }
  // Brings a paged informer to its watch.
  ScriptedHandler::Exchange Synced(int version, std::vector<Json> items) {
    StartPaged();
    Next().Answer(MakeList(version, std::move(items)));
    auto watch = Next();
    watch.StartWatch();
    loop_.RunReady();
    log_.clear();
    return watch;
  }

  VirtualLoop loop_;
  ScriptedHandler handler_;
  Client client_{loop_, std::make_shared<InProcessTransport>(loop_, handler_), {.qps = 0}};
  std::unique_ptr<Informer<Thing>> informer_;
  std::vector<std::string> log_;
  std::vector<std::string> lines_;
};

// ---- paged lists ----

TEST_F(InformerTest, ListsInPagesThenWatchesFromTheListsVersion) {
  StartPaged();
  auto first = Next();
  EXPECT_EQ(first.request.target, "/api/v1/pods?limit=500&resourceVersion=0");
  first.Answer(MakeList(10, {MakeThing("a", 3), MakeThing("b", 4)}, "more"));
  auto second = Next();
  EXPECT_EQ(second.request.target, "/api/v1/pods?limit=500&continue=more");
  EXPECT_FALSE(informer_->synced());
  EXPECT_THAT(log_, IsEmpty());
  second.Answer(MakeList(10, {MakeThing("c", 5)}));
  auto watch = Next();
  EXPECT_THAT(log_, ElementsAre("- -> a@3", "- -> b@4", "- -> c@5"));
  EXPECT_TRUE(informer_->synced());
  EXPECT_THAT(watch.request.target,
              AllOf(StartsWith("/api/v1/pods?watch=true&resourceVersion=10"),
                    HasSubstr("&allowWatchBookmarks=true"), Not(HasSubstr("sendInitialEvents"))));
}

TEST_F(InformerTest, AsksForAWatchOfFiveToTenMinutes) {
  auto watch = Synced(1, {});
  std::set<int> seen;
  for (int i = 0; i < 30; ++i) {
    const std::string& target = watch.request.target;
    const int seconds = std::stoi(target.substr(target.find("timeoutSeconds=") + 15));
    EXPECT_GE(seconds, 300);
    EXPECT_LT(seconds, 600);
    seen.insert(seconds);
    loop_.Advance(2s);
    watch.End();
    watch = Next();
    watch.StartWatch();
  }
  EXPECT_GT(seen.size(), 15u);
}

TEST_F(InformerTest, PassesItsSelectorsOn) {
  Start({.ns = "ns", .label_selector = "a=b", .field_selector = "c=d", .stream_list = false});
  auto list = Next();
  EXPECT_THAT(list.request.target,
              StartsWith("/api/v1/namespaces/ns/pods?labelSelector=a%3Db&fieldSelector=c%3Dd&"));
  list.Answer(MakeList(1, {}));
  EXPECT_THAT(Next().request.target, HasSubstr("&labelSelector=a%3Db&fieldSelector=c%3Dd&"));
}

TEST_F(InformerTest, AnExpiredPageLeadsToOneFullList) {
  StartPaged();
  Next().Answer(MakeList(10, {MakeThing("a", 3)}, "more"));
  Next().Fail(Error(410, "Expired"));
  auto full = Next();
  EXPECT_EQ(full.request.target, "/api/v1/pods?resourceVersion=0");
  full.Answer(MakeList(12, {MakeThing("b", 4)}));
  loop_.RunReady();
  EXPECT_THAT(log_, ElementsAre("- -> b@4"));
}

TEST_F(InformerTest, RelistsWithoutPagesFromTheLastVersion) {
  auto watch = Synced(10, {MakeThing("a", 3), MakeThing("b", 4), MakeThing("c", 5)});
  watch.Event("ERROR", Error(410, "Expired", "too old").ToJson());
  auto relist = NextAfterPause(kFirstPauseMin, kFirstPauseMax);
  EXPECT_EQ(relist.request.target, "/api/v1/pods?resourceVersion=10");
  relist.Answer(MakeList(20, {MakeThing("a", 3), MakeThing("b", 15), MakeThing("d", 16)}));
  auto next = Next();
  EXPECT_THAT(log_, ElementsAre("c@5 -> -", "b@4 -> b@15", "- -> d@16"));
  EXPECT_THAT(next.request.target, HasSubstr("&resourceVersion=20&"));
}

TEST_F(InformerTest, AsksForTheLatestWhenItsVersionCannotBeListed) {
  ApiError too_large = Error(504, "Timeout", "Timeout: Too large resource version: 10, current: 5");
  too_large.causes.push_back({"ResourceVersionTooLarge", "Too large resource version", ""});
  for (const ApiError& error : {Error(410, "Expired"), Error(410, "Gone"), too_large}) {
    SCOPED_TRACE(error.message + error.reason);
    auto watch = Synced(10, {});
    watch.Event("ERROR", Error(410, "Expired").ToJson());
    loop_.Advance(kFirstPauseMax);
    auto relist = handler_.Take();
    EXPECT_EQ(relist.request.target, "/api/v1/pods?resourceVersion=10");
    relist.Fail(error);
    auto latest = Next();
    EXPECT_EQ(latest.request.target, "/api/v1/pods?limit=500");
    latest.Answer(MakeList(30, {}));
    EXPECT_THAT(Next().request.target, HasSubstr("&resourceVersion=30&"));
    informer_ = nullptr;
    loop_.RunReady();
  }
}

TEST_F(InformerTest, BacksOffWhileListingFails) {
  StartPaged();
  Next().Fail(Error(500, "InternalError"));
  Duration minimum = kFirstPauseMin;
  for (int i = 0; i < 8; ++i) {
    auto list = NextAfterPause(minimum, 2 * minimum);
    EXPECT_EQ(list.request.target, "/api/v1/pods?limit=500&resourceVersion=0");
    list.Fail(Error(500, "InternalError"));
    minimum = std::min<Duration>(2 * minimum, 30s);
  }
}

TEST_F(InformerTest, LooksOftenForAServerThatIsAway) {
  StartPaged();
  const SteadyTime begin = loop_.clock().Steady();
  while (loop_.clock().Steady() < begin + 10min) {
    ASSERT_TRUE(loop_.RunUntil([&] { return handler_.waiting() > 0; }, 10s));
    handler_.Take().Drop();
  }
}

TEST_F(InformerTest, WaitsAtLeastAsLongAsTheServerAsks) {
  auto watch = Synced(10, {});
  ApiError busy = Error(429, "TooManyRequests");
  busy.retry_after_seconds = 17;
  watch.Event("ERROR", busy.ToJson());
  EXPECT_THAT(NextAfterPause(17s, 17s).request.target, HasSubstr("watch=true"));
}

// ---- streamed lists ----

TEST_F(InformerTest, StreamsItsListAndWatchesOnTheSameStream) {
  Start({});
  auto stream = Next();
  EXPECT_THAT(stream.request.target,
              AllOf(StartsWith("/api/v1/pods?watch=true&resourceVersionMatch=NotOlderThan"),
                    HasSubstr("&allowWatchBookmarks=true&sendInitialEvents=true&timeoutSeconds=")));
  stream.StartWatch();
  stream.Event("ADDED", MakeThing("b", 7));
  stream.Event("ADDED", MakeThing("a", 9));
  stream.Event("BOOKMARK", MakeBookmark(3));
  loop_.RunReady();
  EXPECT_THAT(log_, IsEmpty());
  EXPECT_FALSE(informer_->synced());
  stream.Event("BOOKMARK", MakeBookmark(12, true));
  loop_.RunReady();
  EXPECT_TRUE(informer_->synced());
  stream.Event("MODIFIED", MakeThing("a", 13));
  loop_.RunReady();
  EXPECT_THAT(log_, ElementsAre("- -> a@9", "- -> b@7", "a@9 -> a@13"));

  loop_.Advance(300s);
  EXPECT_EQ(handler_.waiting(), 0u);
  stream.End();
  EXPECT_THAT(Next().request.target,
              AllOf(HasSubstr("resourceVersion=13&"), Not(HasSubstr("sendInitialEvents"))));
}

TEST_F(InformerTest, FallsBackToPagesForGoodWhenStreamingIsRejected) {
  for (const int code : {400, 404, 422}) {
    Start({});
    Next().Fail(Error(code, "Invalid"));
    auto list = Next();
    EXPECT_EQ(list.request.target, "/api/v1/pods?limit=500&resourceVersion=0") << code;
    list.Answer(MakeList(5, {}));
    auto watch = Next();
    watch.StartWatch();
    watch.Event("ERROR", Error(410, "Expired").ToJson());
    loop_.Advance(kFirstPauseMax);
    EXPECT_EQ(handler_.Take().request.target, "/api/v1/pods?resourceVersion=5") << code;
    informer_ = nullptr;
    loop_.RunReady();
  }
}

TEST_F(InformerTest, FallsBackToPagesWhenTheServerIgnoresTheWishForAStream) {
  Start({});
  auto stream = Next();
  stream.StartWatch();
  stream.Event("ADDED", MakeThing("a", 9));
  loop_.Advance(59s);
  EXPECT_EQ(handler_.waiting(), 0u);
  loop_.Advance(1s);
  EXPECT_TRUE(stream.disconnected());
  EXPECT_EQ(Next().request.target, "/api/v1/pods?limit=500&resourceVersion=0");
}

TEST_F(InformerTest, ASlowStreamIsGivenItsTime) {
  Start({});
  auto stream = Next();
  stream.StartWatch();
  for (int i = 0; i < 20; ++i) {
    stream.Event("ADDED", MakeThing("t" + std::to_string(i), i + 1));
    loop_.Advance(20s);
  }
  stream.Event("BOOKMARK", MakeBookmark(30, true));
  loop_.RunReady();
  EXPECT_EQ(informer_->size(), 20u);
  EXPECT_EQ(handler_.waiting(), 0u);
}

TEST_F(InformerTest, AStreamThatBreaksBeforeItsEndIsStartedOver) {
  Start({});
  auto stream = Next();
  stream.StartWatch();
  stream.Event("ADDED", MakeThing("a", 9));
  loop_.RunReady();
  stream.Drop();
  auto again = NextAfterPause(kFirstPauseMin, kFirstPauseMax);
  EXPECT_THAT(again.request.target, HasSubstr("sendInitialEvents=true"));
  EXPECT_THAT(log_, IsEmpty());
  again.StartWatch();
  again.Event("BOOKMARK", MakeBookmark(12, true));
  loop_.RunReady();
  EXPECT_TRUE(informer_->synced());
  EXPECT_EQ(informer_->size(), 0u);
}

TEST_F(InformerTest, StreamsFromTheLastVersionAfterExpiryAndFromTheLatestIfThatFails) {
  Start({});
  auto stream = Next();
  stream.StartWatch();
  stream.Event("BOOKMARK", MakeBookmark(12, true));
  stream.Event("ERROR", Error(410, "Expired").ToJson());
  auto again = NextAfterPause(kFirstPauseMin, kFirstPauseMax);
  EXPECT_THAT(again.request.target, HasSubstr("resourceVersion=12&"));
  again.StartWatch();
  again.Event("ERROR", Error(410, "Expired").ToJson());
  auto latest = Next();
  EXPECT_THAT(latest.request.target,
              AllOf(HasSubstr("sendInitialEvents=true"), Not(HasSubstr("resourceVersion="))));
}

// ---- watches ----

TEST_F(InformerTest, AppliesEventsAndResumesAfterTheLastOne) {
  auto watch = Synced(10, {MakeThing("a", 3)});
  watch.Event("ADDED", MakeThing("b", 11, "n2"));
  watch.Event("MODIFIED", MakeThing("a", 12));
  watch.Event("DELETED", MakeThing("b", 13, "n2"));
  loop_.RunReady();
  EXPECT_THAT(log_, ElementsAre("- -> b@11", "a@3 -> a@12", "b@11 -> -"));
  watch.End();
  EXPECT_THAT(Next().request.target, HasSubstr("&resourceVersion=13&"));
}

TEST_F(InformerTest, ResumesAtOnceAfterABrokenStream) {
  auto watch = Synced(10, {});
  watch.Event("ADDED", MakeThing("b", 11));
  loop_.RunReady();
  watch.Drop();
  EXPECT_THAT(Next().request.target, HasSubstr("&resourceVersion=11&"));
}

TEST_F(InformerTest, BookmarksMoveTheVersionOn) {
  auto watch = Synced(10, {});
  watch.Event("BOOKMARK", MakeBookmark(99));
  loop_.RunReady();
  watch.End();
  EXPECT_THAT(Next().request.target, HasSubstr("&resourceVersion=99&"));
  EXPECT_THAT(log_, IsEmpty());
}

TEST_F(InformerTest, AVeryShortWatchIsAnError) {
  auto watch = Synced(10, {});
  watch.End();
  auto again = NextAfterPause(kFirstPauseMin, kFirstPauseMax);
  EXPECT_THAT(again.request.target, HasSubstr("watch=true&resourceVersion=10&"));
  EXPECT_THAT(lines_, testing::Contains(HasSubstr("Very short watch")));
  again.StartWatch();
  loop_.Advance(1s);
  again.End();
  EXPECT_THAT(Next().request.target, HasSubstr("watch=true"));
}

TEST_F(InformerTest, TreatsEachWatchErrorByItsKind) {
  struct Case {
    std::string name;
    std::function<void(ScriptedHandler::Exchange&)> answer;
    std::string next;
  };
  const auto refuse = [](int code, std::string reason) {
    return [=](ScriptedHandler::Exchange& watch) { watch.Fail(Error(code, reason)); };
  };
  const auto event = [](int code, std::string reason) {
    return [=](ScriptedHandler::Exchange& watch) {
      watch.StartWatch();
      watch.Event("ERROR", Error(code, reason).ToJson());
    };
  };
  const std::string rewatch = "/api/v1/pods?watch=true&resourceVersion=10";
  const std::string relist = "/api/v1/pods?resourceVersion=10";
  const Case cases[] = {
      {"HTTP 410", refuse(410, "Gone"), relist},
      {"410 event", event(410, "Expired"), relist},
      {"429", refuse(429, "TooManyRequests"), rewatch},
      {"429 event", event(429, "TooManyRequests"), rewatch},
      {"internal error event", event(500, "InternalError"), relist},
      {"forbidden", refuse(403, "Forbidden"), relist},
      {"no connection", [](ScriptedHandler::Exchange& watch) { watch.Drop(); }, rewatch},
      {"garbage",
       [](ScriptedHandler::Exchange& watch) {
         watch.StartWatch();
         watch.Write("x\n");
       },
       relist},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    auto watch = Synced(10, {});
    loop_.Advance(2s);
    watch.End();
    watch = Next();
    c.answer(watch);
    EXPECT_THAT(NextAfterPause(kFirstPauseMin, kFirstPauseMax).request.target, StartsWith(c.next));
    informer_ = nullptr;
    loop_.RunReady();
  }
}

TEST_F(InformerTest, ToleratesInternalErrorsForTheConfiguredTime) {
  Start({.stream_list = false, .internal_error_window = 2s});
  Next().Answer(MakeList(10, {}));
  const auto fail_next_watch = [&] {
    auto watch = Next();
    EXPECT_THAT(watch.request.target, HasSubstr("watch=true"));
    watch.StartWatch();
    watch.Event("ERROR", Error(500, "InternalError").ToJson());
    loop_.RunReady();
    EXPECT_TRUE(loop_.RunUntil([&] { return handler_.waiting() > 0; }));
  };
  fail_next_watch();
  fail_next_watch();  // less than 1.6 s later
  fail_next_watch();  // at least 2.4 s after the first
  EXPECT_EQ(Next().request.target, "/api/v1/pods?resourceVersion=10");
}

TEST_F(InformerTest, GivesUpAWatchThatOutlivesItsTime) {
  auto watch = Synced(10, {});
  loop_.Advance(299s);
  EXPECT_FALSE(watch.disconnected());
  loop_.Advance(600s + 30s - 299s);
  EXPECT_TRUE(watch.disconnected());
  EXPECT_THAT(handler_.Take().request.target, HasSubstr("&resourceVersion=10&"));
}

TEST_F(InformerTest, IgnoresObjectsOfAnotherKind) {
  auto watch = Synced(10, {});
  Json stranger = MakeThing("s", 11);
  At(stranger, {"kind"}) = "Node";
  watch.Event("ADDED", stranger);
  loop_.RunReady();
  EXPECT_THAT(log_, IsEmpty());
}

// ---- never back in time ----

TEST_F(InformerTest, DropsEventsFromThePast) {
  auto watch = Synced(100, {MakeThing("a", 90)});
  watch.Event("DELETED", MakeThing("a", 101));
  // A server whose memory is behind shows the object again.
  watch.Event("ADDED", MakeThing("a", 95));
  watch.Event("ADDED", MakeThing("b", 99));
  loop_.RunReady();
  EXPECT_THAT(log_, ElementsAre("a@90 -> -"));
  watch.End();
  EXPECT_THAT(Next().request.target, HasSubstr("&resourceVersion=101&"));
}

TEST_F(InformerTest, ComparesVersionsAsNumbers) {
  auto watch = Synced(99, {MakeThing("a", 99)});
  watch.Event("MODIFIED", MakeThing("a", 100));
  loop_.RunReady();
  EXPECT_THAT(log_, ElementsAre("a@99 -> a@100"));
}

TEST_F(InformerTest, RefusesAnOlderListAndAsksForTheLatest) {
  auto watch = Synced(100, {MakeThing("a", 90)});
  watch.Event("DELETED", MakeThing("a", 110));
  watch.Event("ERROR", Error(410, "Expired").ToJson());
  loop_.Advance(kFirstPauseMax);
  handler_.Take().Answer(MakeList(95, {MakeThing("a", 90)}));
  auto latest = Next();
  EXPECT_EQ(latest.request.target, "/api/v1/pods?limit=500");
  EXPECT_THAT(log_, ElementsAre("a@90 -> -"));
  latest.Answer(MakeList(120, {}));
  EXPECT_THAT(Next().request.target, HasSubstr("&resourceVersion=120&"));
  EXPECT_THAT(log_, ElementsAre("a@90 -> -"));
}

TEST_F(InformerTest, BelievesAServerThatWasRestoredFromABackup) {
  auto watch = Synced(100, {MakeThing("a", 90)});
  watch.Event("ERROR", Error(410, "Expired").ToJson());
  loop_.Advance(kFirstPauseMax);
  handler_.Take().Answer(MakeList(50, {MakeThing("a", 40)}));
  Next().Answer(MakeList(50, {MakeThing("a", 40)}));
  auto next = Next();
  EXPECT_THAT(log_, ElementsAre("a@90 -> a@40"));
  next.StartWatch();
  next.Event("MODIFIED", MakeThing("a", 51));
  loop_.RunReady();
  EXPECT_THAT(log_, ElementsAre("a@90 -> a@40", "a@40 -> a@51"));
}

// ---- the copy and its handlers ----

TEST_F(InformerTest, AnObjectMadeAnewIsADeletionAndAnAddition) {
  auto watch = Synced(10, {MakeThing("a", 3, "n1", "old"), MakeThing("b", 4, "n1", "old")});
  watch.Event("MODIFIED", MakeThing("a", 11, "n1", "new"));
  loop_.RunReady();
  EXPECT_THAT(log_, ElementsAre("a@3 -> -", "- -> a@11"));
  log_.clear();
  watch.Event("ERROR", Error(410, "Expired").ToJson());
  loop_.Advance(kFirstPauseMax);
  handler_.Take().Answer(
      MakeList(20, {MakeThing("a", 11, "n1", "new"), MakeThing("b", 12, "n1", "new")}));
  loop_.RunReady();
  EXPECT_THAT(log_, ElementsAre("b@4 -> -", "- -> b@12"));
  EXPECT_EQ(informer_->ByIndex("node", "n1").size(), 2u);
}

TEST_F(InformerTest, KeepsItsIndexesWithTheObjects) {
  auto watch = Synced(10, {MakeThing("b", 3, "n1"), MakeThing("a", 4, "n1")});
  const auto names = [&](const std::string& node) {
    std::vector<std::string> list;
    for (const auto& thing : informer_->ByIndex("node", node)) list.push_back(thing->metadata.name);
    return list;
  };
  EXPECT_THAT(names("n1"), ElementsAre("a", "b"));
  watch.Event("MODIFIED", MakeThing("b", 11, "n2"));
  loop_.RunReady();
  EXPECT_THAT(names("n1"), ElementsAre("a"));
  EXPECT_THAT(names("n2"), ElementsAre("b"));
  watch.Event("DELETED", MakeThing("a", 12, "n1"));
  loop_.RunReady();
  EXPECT_THAT(names("n1"), IsEmpty());
  watch.Event("ERROR", Error(410, "Expired").ToJson());
  loop_.Advance(kFirstPauseMax);
  handler_.Take().Answer(MakeList(20, {MakeThing("c", 15, "n2")}));
  loop_.RunReady();
  EXPECT_THAT(names("n2"), ElementsAre("c"));
  EXPECT_THAT(informer_->ByIndex("unknown", "x"), IsEmpty());
}

TEST_F(InformerTest, AnUndecodableObjectHarmsNoOther) {
  Json bad = MakeThing("bad", 5);
  At(bad, {"node"}) = 7;
  auto watch = Synced(10, {MakeThing("a", 3), bad, MakeThing("z", 4)});
  EXPECT_EQ(informer_->size(), 2u);
  EXPECT_THAT(lines_,
              testing::Contains(AllOf(HasSubstr("ns/bad"), HasSubstr("node: expected a string"))));
  // An object that becomes unreadable stays as it was.
  Json worse = MakeThing("a", 11);
  At(worse, {"node"}) = 7;
  watch.Event("MODIFIED", worse);
  watch.Event("MODIFIED", MakeThing("z", 12));
  loop_.RunReady();
  EXPECT_THAT(log_, ElementsAre("z@4 -> z@12"));
  EXPECT_EQ(informer_->Get({"ns", "a"})->metadata.resource_version, "3");
}

TEST_F(InformerTest, ALateHandlerFirstSeesEverything) {
  auto watch = Synced(10, {MakeThing("b", 3), MakeThing("a", 4)});
  std::vector<std::string> late;
  informer_->AddHandler([&](const auto& before, const auto& after) {
    late.push_back((before ? "x" : "-") + after->metadata.name);
  });
  EXPECT_THAT(late, ElementsAre("-a", "-b"));
  watch.Event("MODIFIED", MakeThing("a", 11));
  loop_.RunReady();
  EXPECT_THAT(late, ElementsAre("-a", "-b", "xa"));
}

TEST_F(InformerTest, AHandlerAddedByAHandlerSeesEachObjectOnce) {
  std::vector<std::string> late;
  informer_ =
      std::make_unique<Informer<Thing>>(client_, kPods, InformerOptions{.stream_list = false});
  bool added = false;
  informer_->AddHandler([&](const auto&, const auto&) {
    if (std::exchange(added, true)) return;
    informer_->AddHandler(
        [&](const auto&, const auto& after) { late.push_back(after->metadata.name); });
  });
  informer_->Start();
  Next().Answer(MakeList(10, {MakeThing("a", 3), MakeThing("b", 4)}));
  loop_.RunReady();
  EXPECT_THAT(late, ElementsAre("a", "b"));
}

TEST_F(InformerTest, TellsWhenItIsSynced) {
  StartPaged();
  std::vector<std::string> seen;
  informer_->WhenSynced([&] { seen.push_back("first " + std::to_string(log_.size())); });
  Next().Answer(MakeList(10, {MakeThing("a", 3)}));
  EXPECT_THAT(seen, IsEmpty());
  loop_.RunReady();
  EXPECT_THAT(seen, ElementsAre("first 1"));
  informer_->WhenSynced([&] { seen.push_back("late"); });
  EXPECT_THAT(seen, ElementsAre("first 1", "late"));
}

TEST_F(InformerTest, ResyncShowsEveryObjectAgainWithoutListing) {
  Start({.stream_list = false, .resync = 1min});
  Next().Answer(MakeList(10, {MakeThing("a", 3)}));
  auto watch = Next();
  watch.StartWatch();
  loop_.RunReady();
  log_.clear();
  loop_.Advance(2min);
  EXPECT_THAT(log_, ElementsAre("a@3 -> a@3", "a@3 -> a@3"));
  EXPECT_EQ(handler_.waiting(), 0u);
}

TEST_F(InformerTest, MayBeStoppedByItsHandlerAndStartedAgain) {
  informer_ =
      std::make_unique<Informer<Thing>>(client_, kPods, InformerOptions{.stream_list = false});
  informer_->AddHandler([&](const auto&, const auto&) { informer_->Stop(); });
  informer_->Start();
  Next().Answer(MakeList(10, {MakeThing("a", 3)}));
  loop_.Advance(1h);
  EXPECT_TRUE(handler_.Take().disconnected());
  informer_->Start();
  EXPECT_EQ(Next().request.target, "/api/v1/pods?resourceVersion=10");
}

TEST_F(InformerTest, StopSilencesALateAnswer) {
  StartPaged();
  auto list = Next();
  informer_->Stop();
  list.Answer(MakeList(10, {MakeThing("a", 3)}));
  loop_.Advance(1h);
  EXPECT_THAT(log_, IsEmpty());
  EXPECT_EQ(handler_.waiting(), 0u);
}

}  // namespace
}  // namespace koord::kube::informer_test
