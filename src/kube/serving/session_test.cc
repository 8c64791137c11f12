#include "kube/serving/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "kube/serving/session_testing.h"

namespace koord::kube::session_test {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

std::shared_ptr<const std::string> Chunk(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

std::string Get(std::string_view target, std::string_view headers = "") {
  return fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\n{}\r\n", target, headers);
}

// How often `part` occurs.
size_t Occurrences(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) ++count;
  return count;
}

class SessionTest : public ::testing::Test {
 protected:
  SessionTest() {
    handler_.answer = [this](HttpRequest request, auto response) {
      requests_.push_back(request);
      HttpResponse answer;
      answer.headers.Add("Content-Type", "text/plain");
      answer.body = "you asked " + request.target;
      response->Finish(std::move(answer));
    };
  }

  // Keeps the writer of a request for the test to use.
  void KeepWriter() {
    handler_.answer = [this](HttpRequest request, auto response) {
      requests_.push_back(std::move(request));
      writer_ = std::move(response);
    };
  }

  FakeConnection& Connect(Peer peer = {}) {
    if (!group_) {
      group_ = std::make_shared<SessionGroup>(loop_, options_, HostPolicy({"my-laptop"}), handler_,
                                              gate_);
    }
    const auto connection = std::make_shared<FakeConnection>(group_, loop_);
    group_->Add(connection, std::move(peer));
    connections_.push_back(connection);
    connection->Open();
    return *connection;
  }
  std::string Ask(std::string_view bytes) {
    FakeConnection& connection = Connect();
    connection.Send(bytes);
    loop_.RunReady();
    return connection.received;
  }
  FakeConnection& StartStream() {
    KeepWriter();
    FakeConnection& connection = Connect();
    connection.Send(Get("/watch"));
    loop_.RunReady();
    writer_->OnDisconnect([this] { ++disconnects_; });
    writer_->StartStream({});
    loop_.RunReady();
    return connection;
  }
  void TearDown() override {
    if (group_) group_->CloseAll();
    loop_.RunReady();  // what is under way holds on to the group, which must not outlive the loop
  }

  VirtualLoop loop_;
  SessionOptions options_;
  FakeHandler handler_;
  RequestGate* gate_ = nullptr;
  std::shared_ptr<SessionGroup> group_;
  std::vector<std::shared_ptr<FakeConnection>> connections_;
  std::vector<HttpRequest> requests_;
  std::shared_ptr<ResponseWriter> writer_;
  int disconnects_ = 0;
};

TEST_F(SessionTest, HandsOverARequestAndSendsTheAnswer) {
  const std::string answer =
      Ask("POST /api/v1/pods?dryRun=All HTTP/1.1\r\nHost: localhost:6443\r\nX-A:  b \r\n"
          "content-length: 4\r\n\r\nbody");
  ASSERT_EQ(requests_.size(), 1u);
  EXPECT_EQ(requests_[0].method, "POST");
  EXPECT_EQ(requests_[0].target, "/api/v1/pods?dryRun=All");
  EXPECT_EQ(requests_[0].headers.Get("x-a"), "b");
  EXPECT_EQ(requests_[0].body, "body");
  EXPECT_EQ(answer,
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
            "Date: Wed, 01 Jul 2026 00:00:00 GMT\r\nContent-Length: 33\r\n\r\n"
            "you asked /api/v1/pods?dryRun=All");
  EXPECT_EQ(connections_[0]->writes, 1u) << "head and body leave together";
  EXPECT_FALSE(connections_[0]->closed);
}

TEST_F(SessionTest, BytesMayArriveOneByOne) {
  const struct {
    const char *sent, *body;
  } cases[] = {
      {"Content-Length: 5\r\n\r\nabcde", "abcde"},
      {"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nTrailer: no\r\n\r\n",
       "abcde"},
      {"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", ""},
      {"Transfer-Encoding: chunked\r\n\r\n00\r\nA: b\r\n\r\n", ""},
  };
  FakeConnection& connection = Connect();
  for (const auto& c : cases) {
    requests_.clear();
    for (const char byte : fmt::format("POST /a HTTP/1.1\r\nHost: localhost\r\n{}", c.sent)) {
      EXPECT_THAT(requests_, IsEmpty());
      connection.Send(std::string_view(&byte, 1));
      loop_.RunReady();
    }
    ASSERT_EQ(requests_.size(), 1u) << c.sent;
    EXPECT_EQ(requests_[0].body, c.body);
    EXPECT_FALSE(requests_[0].headers.Has("Trailer"));
  }
}

TEST_F(SessionTest, PipelinedRequestsAreAnsweredInOrder) {
  KeepWriter();
  FakeConnection& connection = Connect();
  connection.Send(Get("/1") + Get("/2") + Get("/3"));
  for (int i = 1; i <= 3; ++i) {
    loop_.RunReady();
    ASSERT_EQ(requests_.size(), static_cast<size_t>(i)) << "one at a time";
    EXPECT_EQ(requests_.back().target, fmt::format("/{}", i));
    HttpResponse answer;
    answer.body = fmt::format("answer {}", i);
    writer_->Finish(std::move(answer));
  }
  loop_.RunReady();
  EXPECT_LT(connection.received.find("answer 1"), connection.received.find("answer 2"));
  EXPECT_LT(connection.received.find("answer 2"), connection.received.find("answer 3"));
}

TEST_F(SessionTest, ClosesWhenThePeerWantsItTo) {
  for (const std::string& request : {Get("/", "Connection: close\r\n"),
                                     std::string("GET / HTTP/1.0\r\nHost: localhost\r\n\r\n")}) {
    EXPECT_THAT(Ask(request), HasSubstr("Connection: close\r\n"));
    EXPECT_TRUE(connections_.back()->shut_down);
    loop_.Advance(3s);
    EXPECT_TRUE(connections_.back()->closed) << "also when the peer does not";
  }
}

TEST_F(SessionTest, AnswersHeadWithoutABody) {
  const std::string answer = Ask("HEAD /x HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr("Content-Length: 12\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\n"));
}

TEST_F(SessionTest, TellsAPeerThatWaitsToSendItsBody) {
  FakeConnection& connection = Connect();
  connection.Send(
      "PUT /x HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
      "Content-Length: 4\r\n\r\n");
  loop_.RunReady();
  EXPECT_EQ(connection.received, "HTTP/1.1 100 Continue\r\n\r\n");
  connection.Send("bo");
  loop_.RunReady();
  connection.Send("dy");
  loop_.RunReady();
  EXPECT_THAT(connection.received, StartsWith("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"));
  EXPECT_EQ(requests_.at(0).body, "body");
}

TEST_F(SessionTest, RefusesWhatIsWrongWithAStatusObject) {
  const struct {
    const char* name;
    std::string request;
    int code;
    const char* reason;
    const char* message;
  } cases[] = {
      {"not HTTP", "\x16\x03\x01 hello\r\n\r\n", 400, "BadRequest", "malformed HTTP request"},
      {"bad version", "GET / HTTP/3.0\r\n\r\n", 400, "BadRequest", "malformed HTTP request"},
      {"bad header", "GET / HTTP/1.1\r\nHo st: x\r\n\r\n", 400, "BadRequest", "malformed"},
      {"two lengths",
       "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400,
       "BadRequest", "malformed"},
      {"length and chunks",
       "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n"
       "Transfer-Encoding: chunked\r\n\r\n",
       400, "BadRequest", "malformed"},
      {"bad chunk",
       "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzzz\r\n", 400,
       "BadRequest", "malformed"},
      {"two Hosts", "GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", 400,
       "BadRequest", "the request has more than one Host header"},
      {"two Origins", Get("/", "Origin: https://localhost\r\norigin: https://evil.example\r\n"),
       400, "BadRequest", "the request has more than one Origin header"},
      {"no Host", "GET / HTTP/1.1\r\n\r\n", 400, "BadRequest", "the request has no Host header"},
      {"absolute target", "GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n", 400,
       "BadRequest", "must be a path"},
      {"body too large", "PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3145729\r\n\r\n",
       413, "RequestEntityTooLarge", "Request entity is too large: limit is 3145728"},
      {"chunk too large",
       "PUT / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n300001\r\n", 413,
       "RequestEntityTooLarge", "Request entity is too large: limit is 3145728"},
      {"header too large", Get("/", "X: " + std::string(70'000, 'x') + "\r\n"), 431,
       "RequestHeaderFieldsTooLarge", "limit is 65536"},
      {"endless line", "GET /" + std::string(200'000, 'x'), 431, "RequestHeaderFieldsTooLarge", ""},
      {"endless chunk line",
       "PUT / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1;" +
           std::string(200'000, 'x'),
       431, "RequestHeaderFieldsTooLarge", ""},
      {"foreign Host", "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403, "Forbidden",
       "evil.example"},
      {"foreign Origin", Get("/", "Origin: https://evil.example\r\n"), 403, "Forbidden",
       "evil.example"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const std::string answer = Ask(c.request);
    EXPECT_THAT(answer, StartsWith(fmt::format("HTTP/1.1 {} ", c.code)));
    EXPECT_THAT(answer, HasSubstr("Content-Type: application/json\r\n"));
    const auto status = ParseJson(answer.substr(answer.find("\r\n\r\n") + 4));
    ASSERT_TRUE(status.ok()) << answer;
    EXPECT_EQ(FindString(*status, {"kind"}), "Status");
    EXPECT_EQ(FindInt(*status, {"code"}), c.code);
    EXPECT_EQ(FindString(*status, {"reason"}), c.reason);
    EXPECT_THAT(std::string(FindString(*status, {"message"})), HasSubstr(c.message));
    EXPECT_THAT(requests_, IsEmpty());
  }
}

TEST_F(SessionTest, ABodyOfExactlyTheLimitPasses) {
  const std::string body(3'145'728, 'x');
  Ask(fmt::format("PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{}", body.size(),
                  body));
  ASSERT_EQ(requests_.size(), 1u);
  EXPECT_EQ(requests_[0].body.size(), body.size());
}

TEST_F(SessionTest, ARefusedPeerMayStillSendBeforeTheConnectionGoes) {
  FakeConnection& connection = Connect();
  connection.Send("PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999999\r\n\r\n");
  loop_.RunReady();
  EXPECT_THAT(connection.received, HasSubstr("413"));
  connection.Send(std::string(1'000'000, 'x'));
  loop_.RunReady();
  EXPECT_FALSE(connection.closed) << "a reset would hide the answer";
  EXPECT_EQ(Occurrences(connection.received, "HTTP/1.1"), 1u);
  loop_.Advance(3s);
  EXPECT_TRUE(connection.closed);
}

TEST_F(SessionTest, KnowsItsOwnNames) {
  for (const char* host :
       {"127.0.0.1", "127.0.0.1:6443", "localhost:1", "LOCALHOST", "[::1]", "[::1]:6443",
        "kubernetes", "kubernetes.default", "kubernetes.default.svc",
        "kubernetes.default.svc.cluster.local:443", "My-Laptop:6443"}) {
    EXPECT_THAT(Ask(fmt::format("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", host)), HasSubstr("200 OK"))
        << host;
  }
  for (const char* host : {"", "localhost.evil.example", "evil@localhost", "localhost:80:90",
                           "127.0.0.1.evil.example", "[::1", "[::1]x", "::1"}) {
    EXPECT_THAT(Ask(fmt::format("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", host)), HasSubstr("403"))
        << host;
  }
  EXPECT_THAT(Ask(Get("/", "Origin: http://localhost:3000\r\n")), HasSubstr("200 OK"));
  EXPECT_THAT(Ask(Get("/", "Origin: null\r\n")), HasSubstr("403"));
}

TEST_F(SessionTest, HeaderValuesCannotBreakOut) {
  handler_.answer = [](HttpRequest, auto response) {
    HttpResponse answer;
    answer.headers.Add("Warning", "299 - \"a\r\nSet-Cookie: b\"");
    response->Finish(std::move(answer));
  };
  EXPECT_THAT(Ask(Get("/")), HasSubstr("Warning: 299 - \"a  Set-Cookie: b\"\r\n"));
}

TEST_F(SessionTest, AnswersForAHandlerThatForgets) {
  handler_.answer = [](HttpRequest, auto) {};
  EXPECT_THAT(Ask(Get("/")), HasSubstr("\"code\":500"));
}

TEST_F(SessionTest, LargeBodiesArriveWhole) {
  const std::string body(5'000'000, 'y');
  handler_.answer = [&](HttpRequest, auto response) {
    HttpResponse answer;
    answer.body = body;
    response->Finish(std::move(answer));
  };
  const std::string answers = Ask(Get("/1") + Get("/2"));
  EXPECT_EQ(Occurrences(answers, "HTTP/1.1 200 OK"), 2u);
  EXPECT_EQ(Occurrences(answers, "yyyyyyyyyy"), 1'000'000u);
}

TEST_F(SessionTest, StreamsInChunks) {
  FakeConnection& connection = StartStream();
  EXPECT_THAT(connection.received, HasSubstr("Transfer-Encoding: chunked\r\n"))
      << "the head goes out before the first chunk";
  connection.received.clear();
  writer_->Write(Chunk("{\"a\":1}\n"));
  writer_->Write(Chunk(""));
  writer_->Write(Chunk("0123456789abcdef"));
  writer_->End();
  loop_.RunReady();
  EXPECT_EQ(connection.received, "8\r\n{\"a\":1}\n\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n");
  EXPECT_EQ(group_->streams(), 0u);
  EXPECT_EQ(disconnects_, 0);
  connection.Send(Get("/next"));
  loop_.RunReady();
  EXPECT_EQ(requests_.back().target, "/next") << "the connection lives on";
}

TEST_F(SessionTest, WhatOneTurnWritesLeavesTogether) {
  FakeConnection& connection = StartStream();
  const size_t before = connection.writes;
  for (int i = 0; i < 100; ++i) writer_->Write(Chunk("event\n"));
  EXPECT_EQ(writer_->pending_chunks(), 100u);
  loop_.RunReady();
  EXPECT_EQ(connection.writes - before, 1u);
  EXPECT_EQ(writer_->pending_chunks(), 0u);
}

TEST_F(SessionTest, OldHttpGetsAStreamUntilTheEnd) {
  KeepWriter();
  FakeConnection& connection = Connect();
  connection.Send("GET /watch HTTP/1.0\r\nHost: localhost\r\n\r\n");
  loop_.RunReady();
  writer_->StartStream({});
  writer_->Write(Chunk("one\n"));
  writer_->End();
  loop_.RunReady();
  EXPECT_THAT(connection.received, Not(HasSubstr("chunked")));
  EXPECT_THAT(connection.received, EndsWith("\r\n\r\none\n"));
  EXPECT_TRUE(connection.shut_down);
}

TEST_F(SessionTest, AHandlerLearnsOnceThatItsPeerIsGone) {
  FakeConnection& connection = StartStream();
  connection.Leave();
  loop_.RunReady();
  EXPECT_EQ(disconnects_, 1);
  EXPECT_EQ(group_->streams(), 0u);
  writer_->Write(Chunk("late"));
  writer_->End();
  loop_.RunReady();
  EXPECT_EQ(disconnects_, 1);
  int told_late = 0;
  writer_->OnDisconnect([&] { ++told_late; });
  loop_.RunReady();
  EXPECT_EQ(told_late, 1) << "also one who asks afterwards";
}

TEST_F(SessionTest, ADroppedStreamDoesNotLookFinished) {
  FakeConnection& connection = StartStream();
  writer_.reset();
  loop_.RunReady();
  EXPECT_TRUE(connection.closed);
  EXPECT_THAT(connection.received, Not(HasSubstr("0\r\n\r\n")));
}

TEST_F(SessionTest, AReaderThatDoesNotKeepUpIsCutOff) {
  FakeConnection& connection = StartStream();
  connection.Hang();
  writer_->Write(Chunk("first"));
  loop_.RunReady();
  for (int i = 0; i < 1500; ++i) writer_->Write(Chunk("event"));
  loop_.Advance(4s);
  EXPECT_FALSE(connection.closed);
  EXPECT_EQ(writer_->pending_chunks(), 1501u);
  loop_.Advance(4s);
  EXPECT_TRUE(connection.closed);
  EXPECT_EQ(disconnects_, 1);
}

TEST_F(SessionTest, AReaderThatCatchesUpIsNot) {
  FakeConnection& connection = StartStream();
  connection.Hang();
  writer_->Write(Chunk("first"));
  loop_.RunReady();
  for (int i = 0; i < 20'000; ++i) writer_->Write(Chunk(std::string(500, 'x')));
  for (int second = 0; second < 20; ++second) {
    connection.Take();
    connection.Hang();
    loop_.Advance(1s);
    ASSERT_FALSE(connection.closed) << "after " << second << " s";
  }
  EXPECT_GT(writer_->pending_chunks(), 1000u);
}

TEST_F(SessionTest, TooManyBytesCutAReaderOffAtOnce) {
  options_.slow_reader_bytes = 10'000;
  FakeConnection& connection = StartStream();
  connection.Hang();
  for (int i = 0; i < 11; ++i) writer_->Write(Chunk(std::string(1000, 'x')));
  EXPECT_TRUE(connection.closed);
}

TEST_F(SessionTest, TooManyStreamsGet429) {
  options_.max_streams = 1;
  StartStream();
  const auto first = writer_;
  FakeConnection& second = StartStream();
  EXPECT_THAT(second.received, StartsWith("HTTP/1.1 429 "));
  EXPECT_THAT(second.received, HasSubstr("Retry-After: 1\r\n"));
  EXPECT_EQ(disconnects_, 1) << "the handler need not feed it";
  first->End();
  loop_.RunReady();
  EXPECT_THAT(StartStream().received, StartsWith("HTTP/1.1 200 "));
}

TEST_F(SessionTest, CutsOffPeersThatTakeTooLong) {
  const struct {
    const char* name;
    std::string sent;
    Duration patience;
  } cases[] = {
      {"idle from the start", "", 180s},
      {"idle after a request", Get("/"), 180s},
      {"half a header", "GET / HTTP/1.1\r\nHost:", 10s},
      {"half a body", "PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf", 60s},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    FakeConnection& connection = Connect();
    connection.Send(c.sent);
    loop_.Advance(c.patience - 2s);
    EXPECT_FALSE(connection.closed);
    loop_.Advance(5s);
    EXPECT_TRUE(connection.closed);
  }
}

TEST_F(SessionTest, DripFeedingAHeaderDoesNotBuyTime) {
  FakeConnection& connection = Connect();
  connection.Send("GET / HTTP/1.1\r\nX: ");
  for (int i = 0; i < 15; ++i) {
    connection.Send("x");
    loop_.Advance(1s);
  }
  EXPECT_TRUE(connection.closed);
}

TEST_F(SessionTest, AHandshakeHasItsTimeToo) {
  group_ = std::make_shared<SessionGroup>(loop_, options_, HostPolicy({}), handler_);
  const auto connection = std::make_shared<FakeConnection>(group_, loop_);
  group_->Add(connection);
  loop_.Advance(12s);
  EXPECT_TRUE(connection->closed);
}

TEST_F(SessionTest, ALongAnswerMayTakeItsTime) {
  KeepWriter();
  FakeConnection& connection = Connect();
  connection.Send(Get("/slow"));
  loop_.Advance(1h);
  EXPECT_FALSE(connection.closed);
  writer_->Finish({});
  loop_.RunReady();
  EXPECT_THAT(connection.received, HasSubstr("200 OK"));
}

TEST_F(SessionTest, APeerThatTakesNothingIsCutOff) {
  FakeConnection& connection = Connect();
  connection.Hang();
  connection.Send(Get("/"));
  loop_.Advance(28s);
  EXPECT_FALSE(connection.closed);
  loop_.Advance(5s);
  EXPECT_TRUE(connection.closed);
}

TEST_F(SessionTest, StoppingEndsStreamsCleanlyAndLetsAnswersFinish) {
  FakeConnection& idle = Connect();
  FakeConnection& stream = StartStream();
  const auto stream_writer = writer_;
  FakeConnection& busy = Connect();
  busy.Send(Get("/busy"));
  loop_.RunReady();
  const auto busy_writer = writer_;

  bool stopped = false;
  group_->Stop(500ms, [&] { stopped = true; });
  loop_.RunReady();
  EXPECT_TRUE(idle.closed);
  EXPECT_THAT(stream.received, EndsWith("0\r\n\r\n"));
  EXPECT_EQ(disconnects_, 1);
  EXPECT_FALSE(busy.closed);
  busy_writer->Finish({});
  loop_.RunReady();
  EXPECT_THAT(busy.received, HasSubstr("Connection: close"));
  loop_.Advance(500ms);
  EXPECT_TRUE(stopped);
  EXPECT_EQ(group_->size(), 0u);
}

TEST_F(SessionTest, StoppingWaitsForNobodyForLong) {
  KeepWriter();
  Connect().Send(Get("/never"));
  loop_.RunReady();
  bool stopped = false;
  group_->Stop(500ms, [&] { stopped = true; });
  loop_.Advance(600ms);
  EXPECT_TRUE(stopped);
}

TEST_F(SessionTest, PassesOnWhoThePeerIs) {
  group_ = std::make_shared<SessionGroup>(loop_, options_, HostPolicy({}), handler_);
  const auto connection = std::make_shared<FakeConnection>(group_, loop_);
  group_->Add(connection);
  connection->Open(UserInfo{"jane", "", {"dev"}, {}});
  connection->Send(Get("/1") + Get("/2"));
  loop_.RunReady();
  ASSERT_EQ(requests_.size(), 2u);
  for (const auto& request : requests_) {
    ASSERT_TRUE(request.user.has_value());
    EXPECT_EQ(request.user->name, "jane");
    EXPECT_THAT(request.user->groups, ElementsAre("dev"));
  }
}

constexpr size_t kMegabyte = 1024 * 1024;

std::string PostHead(size_t length, std::string_view headers = "") {
  return fmt::format("POST /pods HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n{}\r\n",
                     length, headers);
}

// Refuses what has no token; may take its time.
class FakeGate final : public RequestGate {
 public:
  void Check(const HttpRequest& head, Done done) override {
    ++asked;
    bodies += head.body.size();
    if (later) return waiting.push_back(std::move(done));
    Answer(head.headers.Has("Authorization"), std::move(done));
  }
  static void Answer(bool allowed, Done done) {
    if (allowed) return done(std::nullopt);
    done(HttpResponse{.status = 401, .headers = {}, .body = "who are you?"});
  }

  int asked = 0;
  size_t bodies = 0;  // bytes that were there when it was asked
  bool later = false;
  std::vector<Done> waiting;
};

// What strangers can make a server hold.
class StrangersTest : public SessionTest {
 protected:
  StrangersTest() {
    options_.body_budget = 8 * kMegabyte;
    options_.return_memory = [this] { ++returned_; };
  }
  // One who starts to send a body and never ends.
  FakeConnection& SendPart(size_t promised, size_t sent, Peer peer = {}) {
    FakeConnection& connection = Connect(peer);
    connection.Send(PostHead(promised) + std::string(sent, 'x'));
    loop_.RunReady();
    return connection;
  }

  int returned_ = 0;
};

TEST_F(StrangersTest, UnfinishedBodiesStayWithinTheBudget) {
  for (int i = 0; i < 120; ++i) SendPart(3 * kMegabyte, 100'000);
  const ServingStats stats = group_->stats();
  EXPECT_EQ(stats.body_bytes, 6 * kMegabyte) << "two fit";
  EXPECT_EQ(stats.most_body_bytes, 6 * kMegabyte);
  EXPECT_EQ(stats.waiting_bodies, 118u);
  EXPECT_THAT(Ask(PostHead(4) + "body"), StartsWith("HTTP/1.1 200 OK"))
      << "what is small does not wait for what is large";
}

TEST_F(StrangersTest, SlowBodiesMakeWayForOthersOldestFirst) {
  FakeConnection& oldest = SendPart(3 * kMegabyte, 1000);
  loop_.Advance(500ms);
  FakeConnection& older = SendPart(3 * kMegabyte, 1000);
  loop_.Advance(3s);
  FakeConnection& legitimate = SendPart(3 * kMegabyte, 3 * kMegabyte);
  EXPECT_THAT(legitimate.received, StartsWith("HTTP/1.1 200 OK"));
  EXPECT_TRUE(oldest.closed);
  EXPECT_FALSE(older.closed) << "there is room enough";
  EXPECT_EQ(group_->stats().dropped_slow, 1u);
}

TEST_F(StrangersTest, ABodyThatKeepsComingIsNotCutOff) {
  FakeConnection& steady = SendPart(3 * kMegabyte, kMegabyte);
  FakeConnection& steady_too = SendPart(3 * kMegabyte, kMegabyte);
  loop_.Advance(3s);
  FakeConnection& late = SendPart(3 * kMegabyte, 3 * kMegabyte);
  EXPECT_THAT(late.received, IsEmpty());
  for (FakeConnection* connection : {&steady, &steady_too}) {
    connection->Send(std::string(2 * kMegabyte, 'x'));
  }
  loop_.RunReady();
  EXPECT_THAT(steady.received, StartsWith("HTTP/1.1 200 OK"));
  EXPECT_THAT(steady_too.received, StartsWith("HTTP/1.1 200 OK"));
  EXPECT_THAT(late.received, StartsWith("HTTP/1.1 200 OK")) << "it had waited for room";
  EXPECT_EQ(requests_.back().body.size(), 3 * kMegabyte);
  EXPECT_EQ(group_->stats().body_bytes, 0u);
}

TEST_F(StrangersTest, WhoWaitsTooLongIsToldToComeBack) {
  KeepWriter();
  SendPart(3 * kMegabyte, 3 * kMegabyte);
  const auto first = writer_;
  SendPart(3 * kMegabyte, 3 * kMegabyte);
  FakeConnection& third = SendPart(3 * kMegabyte, 1000);
  EXPECT_EQ(group_->stats().waiting_bodies, 1u) << "the first two are being answered";
  loop_.Advance(7s);
  EXPECT_THAT(third.received, StartsWith("HTTP/1.1 429 Too Many Requests"));
  EXPECT_THAT(third.received, HasSubstr("Retry-After: 1\r\n"));
  EXPECT_EQ(requests_.size(), 2u);
}

TEST_F(StrangersTest, AContinueIsSaidOnlyWhenThereIsRoom) {
  KeepWriter();
  SendPart(3 * kMegabyte, 3 * kMegabyte);
  const auto first = writer_;
  SendPart(3 * kMegabyte, 3 * kMegabyte);
  FakeConnection& polite = Connect();
  polite.Send(PostHead(3 * kMegabyte, "Expect: 100-continue\r\n"));
  loop_.RunReady();
  EXPECT_THAT(polite.received, IsEmpty());
  first->Finish({});
  loop_.RunReady();
  EXPECT_EQ(polite.received, "HTTP/1.1 100 Continue\r\n\r\n");
}

TEST_F(StrangersTest, ABodyOfUnknownLengthCountsAsItGrows) {
  FakeConnection& connection = Connect();
  connection.Send("POST /pods HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
  loop_.RunReady();
  const size_t at_first = group_->stats().body_bytes;
  EXPECT_LT(at_first, kMegabyte);
  connection.Send("100000\r\n" + std::string(kMegabyte, 'x') + "\r\n");
  loop_.RunReady();
  EXPECT_GE(group_->stats().body_bytes, kMegabyte);
  connection.Send("0\r\n\r\n");
  loop_.RunReady();
  EXPECT_THAT(connection.received, StartsWith("HTTP/1.1 200 OK"));
  EXPECT_EQ(requests_.back().body.size(), kMegabyte);
  EXPECT_EQ(group_->stats().body_bytes, 0u);
}

TEST_F(StrangersTest, NoPeerTakesAllOfTheBudget) {
  const Peer stranger{"10.0.0.1", false};
  for (int i = 0; i < 20; ++i) SendPart(2 * kMegabyte, 0, stranger);
  EXPECT_EQ(group_->stats().body_bytes, 4 * kMegabyte);
  FakeConnection& other = SendPart(3 * kMegabyte, 3 * kMegabyte, {"10.0.0.2", false});
  EXPECT_THAT(other.received, StartsWith("HTTP/1.1 200 OK"));
  EXPECT_EQ(group_->stats().dropped_slow, 0u);
}

TEST_F(StrangersTest, ABodyIsReadOnlyOfThoseWhoAreLetIn) {
  FakeGate gate;
  gate_ = &gate;
  FakeConnection& stranger = SendPart(3 * kMegabyte, kMegabyte);
  EXPECT_THAT(stranger.received, StartsWith("HTTP/1.1 401 Unauthorized"));
  EXPECT_THAT(stranger.received, HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(stranger.received, EndsWith("who are you?"));
  EXPECT_EQ(gate.bodies, 0u);
  EXPECT_EQ(group_->stats().most_body_bytes, 0u);
  EXPECT_THAT(requests_, IsEmpty());

  EXPECT_THAT(Ask(PostHead(4, "Authorization: Bearer t\r\n") + "body"),
              StartsWith("HTTP/1.1 200 OK"));
  EXPECT_EQ(gate.asked, 2);
  Ask(Get("/pods"));
  EXPECT_EQ(gate.asked, 2) << "there is no body to be read";
  EXPECT_EQ(requests_.size(), 2u);
}

TEST_F(StrangersTest, TheGateMayTakeItsTime) {
  FakeGate gate;
  gate.later = true;
  gate_ = &gate;
  FakeConnection& allowed = SendPart(4, 4);
  FakeConnection& refused = SendPart(4, 4);
  FakeConnection& gone = SendPart(4, 4);
  EXPECT_EQ(group_->stats().most_body_bytes, 0u);
  gone.Leave();
  ASSERT_EQ(gate.waiting.size(), 3u);
  for (size_t i = 0; i < 3; ++i) FakeGate::Answer(i == 0, std::move(gate.waiting[i]));
  loop_.RunReady();
  EXPECT_THAT(allowed.received, StartsWith("HTTP/1.1 200 OK"));
  EXPECT_THAT(refused.received, StartsWith("HTTP/1.1 401 "));
  EXPECT_EQ(requests_.size(), 1u);
}

TEST_F(StrangersTest, AForeignHostIsRefusedBeforeItsBody) {
  EXPECT_THAT(Ask("POST / HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 1000000\r\n\r\n"),
              StartsWith("HTTP/1.1 403 "));
  EXPECT_EQ(group_->stats().most_body_bytes, 0u);
}

TEST_F(StrangersTest, TheOldestIdleConnectionMakesWay) {
  options_.max_connections = 3;
  std::vector<std::shared_ptr<ResponseWriter>> unanswered;
  handler_.answer = [&](const HttpRequest&, auto response) {
    unanswered.push_back(std::move(response));
  };
  FakeConnection& busy = Connect();
  busy.Send(Get("/slow"));
  loop_.Advance(10ms);
  FakeConnection& older = Connect();
  loop_.Advance(10ms);
  FakeConnection& newer = Connect();
  ASSERT_TRUE(group_->MakeWay({}));
  EXPECT_TRUE(older.closed);
  EXPECT_FALSE(busy.closed);
  EXPECT_FALSE(newer.closed);
  EXPECT_EQ(group_->stats().dropped_idle, 1u);
  newer.Send(Get("/slow"));
  Connect().Send(Get("/slow"));
  loop_.RunReady();
  EXPECT_FALSE(group_->MakeWay({})) << "all are at work";
  EXPECT_EQ(group_->stats().refused_connections, 1u);
}

TEST_F(StrangersTest, WhoNeverAskedGoesBeforeWhoDid) {
  options_.max_connections = 2;
  FakeConnection& client = Connect();
  client.Send(Get("/pods"));
  loop_.Advance(10ms);
  FakeConnection& stranger = Connect();
  stranger.Send("GET /slow");
  loop_.Advance(10ms);
  ASSERT_TRUE(group_->MakeWay({}));
  EXPECT_TRUE(stranger.closed);
  EXPECT_FALSE(client.closed);
}

TEST_F(StrangersTest, APeerHasItsOwnLimitOfConnections) {
  options_.max_connections_per_peer = 2;
  const Peer stranger{"10.0.0.1", false};
  FakeConnection& other = Connect({"10.0.0.2", false});
  FakeConnection& first = Connect(stranger);
  loop_.Advance(10ms);
  FakeConnection& second = Connect(stranger);
  ASSERT_TRUE(group_->MakeWay(stranger));
  EXPECT_TRUE(first.closed);
  EXPECT_FALSE(second.closed);
  EXPECT_FALSE(other.closed);
  EXPECT_TRUE(group_->MakeWay({})) << "this machine has another limit";
}

TEST_F(StrangersTest, MemoryIsReturnedAfterABurst) {
  options_.body_budget = 64 * kMegabyte;
  std::vector<FakeConnection*> burst;
  for (int i = 0; i < 10; ++i) burst.push_back(&SendPart(3 * kMegabyte, 1000));
  loop_.Advance(1500ms);
  EXPECT_EQ(returned_, 0);
  for (FakeConnection* connection : burst) connection->Leave();
  loop_.Advance(3s);
  EXPECT_EQ(returned_, 1);
}

TEST(BodyBudgetTest, CountsInAllAndByPeer) {
  BodyBudget budget(100, 60);
  EXPECT_TRUE(budget.Take("a", 60));
  EXPECT_FALSE(budget.Take("a", 1));
  EXPECT_TRUE(budget.ExceedsShare("a", 1));
  EXPECT_FALSE(budget.Take("b", 41));
  EXPECT_FALSE(budget.ExceedsShare("b", 41));
  EXPECT_TRUE(budget.Take("b", 40));
  EXPECT_EQ(budget.used(), 100u);
  budget.Give("a", 60);
  EXPECT_FALSE(budget.ExceedsShare("a", 60));
  EXPECT_TRUE(budget.Take("", 60)) << "nobody's share is everybody's";
  EXPECT_EQ(budget.most_used(), 100u);
}

}  // namespace
}  // namespace koord::kube::session_test
