#include "kube/events/event_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/virtual_loop.h"
#include "kube/events/lru_cache.h"
#include "kube/transport/in_process_transport.h"
#include "kube/transport/scripted_handler.h"

namespace koord::kube::event_recorder_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

EventRecorder::Note NoteAbout(std::string name, std::string message) {
  EventRecorder::Note note;
  note.regarding.kind = "Pod";
  note.regarding.api_version = "v1";
  note.regarding.ns = "ns";
  note.regarding.name = std::move(name);
  note.regarding.uid = "u";
  note.reason = "FailedScheduling";
  note.action = "Scheduling";
  note.type = "Warning";
  note.message = std::move(message);
  return note;
}

class EventRecorderTest : public testing::Test {
 protected:
  static EventRecorderOptions Options() { return {.component = "koord", .host = "h"}; }

  // "POST m1 x1" or "PATCH m1 x2": what was written, its message and its count.
  std::string Next() {
    loop_.RunReady();
    if (handler_.waiting() == 0) return "nothing";
    last_ = handler_.Take();
    body_ = *ParseJson(last_.request.body);
    last_.Answer(200, "{}");
    loop_.RunReady();
    return last_.request.method + " " + std::string(FindString(body_, {"message"})) + " x" +
           std::to_string(FindInt(body_, {"count"}));
  }

  VirtualLoop loop_;
  ScriptedHandler handler_;
  Client client_{loop_, std::make_shared<InProcessTransport>(loop_, handler_), {.qps = 0}};
  std::unique_ptr<EventRecorder> recorder_ = MakeCoreEventRecorder(client_, Options());
  ScriptedHandler::Exchange last_;
  Json body_;
};

TEST_F(EventRecorderTest, WritesACoreEvent) {
  EventRecorder::Note note = NoteAbout("p", "no room");
  note.regarding.resource_version = "7";
  note.regarding.field_path = "spec.containers{a}";
  recorder_->Record(note);
  EXPECT_EQ(Next(), "POST no room x1");
  EXPECT_EQ(last_.request.target, "/api/v1/namespaces/ns/events");
  EXPECT_EQ(FindString(body_, {"apiVersion"}), "v1");
  EXPECT_EQ(FindString(body_, {"kind"}), "Event");
  // The hexadecimal nanoseconds of 2026-07-01T00:00:00Z, and less than a microsecond more.
  EXPECT_THAT(std::string(FindString(body_, {"metadata", "name"})),
              testing::MatchesRegex("p\\.18be015caad50[0-3][0-9a-f][0-9a-f]"));
  EXPECT_EQ(FindString(body_, {"metadata", "namespace"}), "ns");
  EXPECT_EQ(Serialize(*Find(body_, {"involvedObject"})),
            R"({"kind":"Pod","namespace":"ns","name":"p","uid":"u","apiVersion":"v1",)"
            R"("resourceVersion":"7","fieldPath":"spec.containers{a}"})");
  EXPECT_EQ(FindString(body_, {"reason"}), "FailedScheduling");
  EXPECT_EQ(FindString(body_, {"type"}), "Warning");
  EXPECT_EQ(Serialize(*Find(body_, {"source"})), R"({"component":"koord","host":"h"})");
  EXPECT_EQ(FindString(body_, {"reportingComponent"}), "koord");
  EXPECT_EQ(FindString(body_, {"firstTimestamp"}), "2026-07-01T00:00:00Z");
  EXPECT_EQ(FindString(body_, {"lastTimestamp"}), "2026-07-01T00:00:00Z");
}

TEST_F(EventRecorderTest, EventsOfClusterScopedObjectsLiveInDefault) {
  EventRecorder::Note note = NoteAbout("n", "m");
  note.regarding.ns = "";
  recorder_->Record(note);
  Next();
  EXPECT_EQ(last_.request.target, "/api/v1/namespaces/default/events");
}

TEST_F(EventRecorderTest, NamesAreUniqueAndValid) {
  recorder_->Record(NoteAbout("p", "a"));
  Next();
  const std::string first(FindString(body_, {"metadata", "name"}));
  recorder_->Record(NoteAbout("p", "b"));
  Next();
  EXPECT_NE(FindString(body_, {"metadata", "name"}), first);
  recorder_->Record(NoteAbout("Not_A_Name", "m"));
  Next();
  EXPECT_THAT(std::string(FindString(body_, {"metadata", "name"})),
              MatchesRegex("[0-9a-f]{8}-[0-9a-f-]{27}"));
}

TEST_F(EventRecorderTest, ARepetitionIsCounted) {
  recorder_->Record(NoteAbout("p", "m"));
  EXPECT_EQ(Next(), "POST m x1");
  const std::string name(FindString(body_, {"metadata", "name"}));
  loop_.Advance(5s);
  recorder_->Record(NoteAbout("p", "m"));
  EXPECT_EQ(Next(), "PATCH m x2");
  EXPECT_EQ(last_.request.target, "/api/v1/namespaces/ns/events/" + name);
  EXPECT_EQ(last_.request.headers.Get("Content-Type"), "application/strategic-merge-patch+json");
  EXPECT_EQ(last_.request.body,
            R"({"count":2,"lastTimestamp":"2026-07-01T00:00:05Z","message":"m"})");
  recorder_->Record(NoteAbout("q", "m"));
  EXPECT_EQ(Next(), "POST m x1");
}

TEST_F(EventRecorderTest, AnEventThatTheServerHasForgottenIsMadeAgain) {
  recorder_->Record(NoteAbout("p", "m"));
  EXPECT_EQ(Next(), "POST m x1");
  const std::string name(FindString(body_, {"metadata", "name"}));
  loop_.Advance(1h);
  recorder_->Record(NoteAbout("p", "m"));
  loop_.RunReady();
  handler_.Take().Answer(404, "");
  EXPECT_EQ(Next(), "POST m x2");
  EXPECT_EQ(FindString(body_, {"metadata", "name"}), name);
  EXPECT_EQ(FindString(body_, {"firstTimestamp"}), "2026-07-01T00:00:00Z");
  EXPECT_EQ(FindString(body_, {"lastTimestamp"}), "2026-07-01T01:00:00Z");
}

// TV-24
TEST_F(EventRecorderTest, ManyDifferentMessagesAreCombined) {
  for (int i = 1; i <= 9; ++i) {
    recorder_->Record(NoteAbout("p", "m" + std::to_string(i)));
    EXPECT_EQ(Next(), "POST m" + std::to_string(i) + " x1");
    loop_.Advance(5s);
  }
  recorder_->Record(NoteAbout("p", "m10"));
  EXPECT_EQ(Next(), "POST (combined from similar events): m10 x1");
  const std::string name(FindString(body_, {"metadata", "name"}));
  recorder_->Record(NoteAbout("p", "m11"));
  EXPECT_EQ(Next(), "PATCH (combined from similar events): m11 x2");
  EXPECT_THAT(last_.request.target, testing::EndsWith("/" + name));
  recorder_->Record(NoteAbout("p", "m12"));
  EXPECT_EQ(Next(), "PATCH (combined from similar events): m12 x3");
  // Another matter of the same object is not concerned.
  EventRecorder::Note other = NoteAbout("p", "m13");
  other.reason = "Other";
  recorder_->Record(other);
  EXPECT_EQ(Next(), "POST m13 x1");
  loop_.Advance(601s);
  recorder_->Record(NoteAbout("p", "m14"));
  EXPECT_EQ(Next(), "POST m14 x1");
}

TEST_F(EventRecorderTest, TooMuchAboutOneObjectIsDropped) {
  int written = 0;
  for (int i = 0; i < 40; ++i) {
    recorder_->Record(NoteAbout("p", "m"));
    if (Next() != "nothing") ++written;
  }
  EXPECT_EQ(written, 25);
  recorder_->Record(NoteAbout("q", "m"));
  EXPECT_EQ(Next(), "POST m x1");
  loop_.Advance(300s);
  recorder_->Record(NoteAbout("p", "m"));
  EXPECT_EQ(Next(), "PATCH m x41");
  recorder_->Record(NoteAbout("p", "m"));
  EXPECT_EQ(Next(), "nothing");
}

TEST_F(EventRecorderTest, WhatTheServerRefusesIsDropped) {
  for (const int code : {400, 403, 409, 422, 500}) {
    recorder_->Record(NoteAbout("p" + std::to_string(code), "m"));
    loop_.RunReady();
    handler_.Take().Answer(code, "");
    loop_.Advance(5min);
    EXPECT_EQ(handler_.waiting(), 0u) << code;
  }
}

TEST_F(EventRecorderTest, WhatDoesNotReachTheServerIsTriedTwelveTimes) {
  recorder_->Record(NoteAbout("p", "m"));
  std::vector<SteadyTime> at;
  for (int i = 0; i < 12; ++i) {
    ASSERT_TRUE(loop_.RunUntil([&] { return handler_.waiting() > 0; })) << i;
    at.push_back(loop_.clock().Steady());
    handler_.Take().Drop();
  }
  loop_.Advance(10min);
  EXPECT_EQ(handler_.waiting(), 0u);
  EXPECT_LT(at[1] - at[0], 10s);
  for (size_t i = 2; i < at.size(); ++i) EXPECT_EQ(at[i] - at[i - 1], 10s);
}

TEST_F(EventRecorderTest, NeverWritesTheSameEventTwiceAtATime) {
  for (int i = 0; i < 4; ++i) recorder_->Record(NoteAbout("p", "m"));
  recorder_->Record(NoteAbout("q", "m"));
  loop_.RunReady();
  ASSERT_EQ(handler_.waiting(), 2u);
  auto p = handler_.Take();
  EXPECT_EQ(handler_.Take().request.method, "POST");
  p.Answer(201, "{}");
  // What has gathered meanwhile is one write.
  EXPECT_EQ(Next(), "PATCH m x4");
  EXPECT_EQ(Next(), "nothing");
}

TEST_F(EventRecorderTest, ForgetsBeyondAThousand) {
  for (int i = 0; i < 3000; ++i) recorder_->Record(NoteAbout("p" + std::to_string(i), "m"));
  int written = 0;
  while (Next() != "nothing") ++written;
  EXPECT_GE(written, 1000);
  EXPECT_LE(written, 1000 + 16);
}

class SeriesEventRecorderTest : public EventRecorderTest {
 protected:
  void SetUp() override { recorder_ = MakeSeriesEventRecorder(client_, Options()); }
  // "POST note", "PATCH x3": what was written.
  std::string NextSeries() {
    if (Next() == "nothing") return "nothing";
    if (last_.request.method == "POST") return "POST " + std::string(FindString(body_, {"note"}));
    return "PATCH x" + std::to_string(FindInt(body_, {"series", "count"}));
  }
};

TEST_F(SeriesEventRecorderTest, WritesAnEvent) {
  recorder_->Record(NoteAbout("p", "no room"));
  EXPECT_EQ(NextSeries(), "POST no room");
  EXPECT_EQ(last_.request.target, "/apis/events.k8s.io/v1/namespaces/ns/events");
  EXPECT_EQ(FindString(body_, {"apiVersion"}), "events.k8s.io/v1");
  EXPECT_EQ(FindString(body_, {"eventTime"}), "2026-07-01T00:00:00.000000Z");
  EXPECT_EQ(FindString(body_, {"reportingController"}), "koord");
  EXPECT_EQ(FindString(body_, {"reportingInstance"}), "koord-h");
  EXPECT_EQ(FindString(body_, {"action"}), "Scheduling");
  EXPECT_EQ(FindString(body_, {"reason"}), "FailedScheduling");
  EXPECT_EQ(FindString(body_, {"type"}), "Warning");
  EXPECT_EQ(FindString(body_, {"regarding", "name"}), "p");
  EXPECT_EQ(Find(body_, {"series"}), nullptr);
}

TEST_F(SeriesEventRecorderTest, ARepetitionStartsASeries) {
  recorder_->Record(NoteAbout("p", "m"));
  NextSeries();
  loop_.Advance(1min);
  recorder_->Record(NoteAbout("p", "another note"));
  EXPECT_EQ(NextSeries(), "PATCH x2");
  EXPECT_EQ(last_.request.body,
            R"({"series":{"count":2,"lastObservedTime":"2026-07-01T00:01:00.000000Z"}})");
  recorder_->Record(NoteAbout("p", "m"));
  EXPECT_EQ(NextSeries(), "nothing");
}

TEST_F(SeriesEventRecorderTest, ASeriesIsRefreshedWithinHalfAnHourAndEndsAfterSixQuietMinutes) {
  recorder_->Record(NoteAbout("p", "m"));
  NextSeries();
  recorder_->Record(NoteAbout("p", "m"));
  EXPECT_EQ(NextSeries(), "PATCH x2");
  SteadyTime written = loop_.clock().Steady();
  int refreshes = 0;
  for (int i = 0; i < 90; ++i) {
    loop_.Advance(1min);
    recorder_->Record(NoteAbout("p", "m"));
    if (NextSeries() != "nothing") {
      ++refreshes;
      EXPECT_LE(loop_.clock().Steady() - written, 30min);
      EXPECT_GT(loop_.clock().Steady() - written, 20min);
      written = loop_.clock().Steady();
    }
  }
  EXPECT_GE(refreshes, 3);
  loop_.Advance(12min);
  EXPECT_EQ(NextSeries(), "PATCH x92");
  loop_.Advance(1h);
  EXPECT_EQ(NextSeries(), "nothing");
  recorder_->Record(NoteAbout("p", "m"));
  EXPECT_EQ(NextSeries(), "POST m");
}

TEST_F(SeriesEventRecorderTest, AfterSixMinutesARepetitionIsANewEvent) {
  recorder_->Record(NoteAbout("p", "m"));
  NextSeries();
  loop_.Advance(6min + 1s);
  recorder_->Record(NoteAbout("p", "m"));
  EXPECT_EQ(NextSeries(), "POST m");
}

TEST_F(SeriesEventRecorderTest, LongNotesAreCutBetweenCharacters) {
  std::string note(1019, 'a');
  note += "\xe2\x82\xac\xe2\x82\xac";  // two euro signs
  recorder_->Record(NoteAbout("p", note));
  NextSeries();
  EXPECT_EQ(FindString(body_, {"note"}), std::string(1019, 'a') + "...");
}

TEST(LruCacheTest, ForgetsWhatWasUsedLongestAgo) {
  LruCache<int> cache(2);
  cache.Put("a", 1);
  cache.Put("b", 2);
  EXPECT_EQ(*cache.Find("a"), 1);
  cache.Put("c", 3);
  EXPECT_EQ(cache.Find("b"), nullptr);
  cache.Put("a", 4);
  EXPECT_EQ(*cache.Find("a"), 4);
  EXPECT_EQ(cache.size(), 2u);
  cache.Erase("a");
  EXPECT_EQ(cache.Find("a"), nullptr);
}

}  // namespace
}  // namespace koord::kube::event_recorder_test
