#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/transport/http2_server_testing.h"
#include "kube/transport/http_transport_testing.h"

namespace koord::kube::http2_transport_test {
namespace {

using testing::HasSubstr;

class Http2TransportTest : public HttpTransportTest {
 protected:
  ~Http2TransportTest() override {
    stream_ = nullptr;
    transport_ = nullptr;
    http2_ = nullptr;
  }

  void Serve(uint32_t max_streams = 100) {
    http2_ = std::make_unique<Http2TestServer>(
        loop_, handler_, authority_.Issue("server", {"127.0.0.1"}), max_streams);
  }
  ClientConfig Config() const {
    ClientConfig config;
    config.server = "https://127.0.0.1:" + http2_->port();
    config.ca_data = authority_.pem();
    return config;
  }
  void ServeAndConnect(HttpTransport::Options options = {}, uint32_t max_streams = 100) {
    Serve(max_streams);
    Connect(Config(), options);
  }
  std::vector<ScriptedHandler::Exchange> Next(int count) {
    std::vector<ScriptedHandler::Exchange> exchanges;
    for (int i = 0; i < count; ++i) exchanges.push_back(HttpTransportTest::Next());
    return exchanges;
  }
  ScriptedHandler::Exchange NextOne() { return HttpTransportTest::Next(); }
  // A request and its answer, so that a connection is open.
  void WarmUp() {
    Send("POST", "/first");
    NextOne().Answer(200, "");
    EXPECT_TRUE(Answer().ok());
  }
  void StartWatch(ScriptedHandler::Exchange& watch) {
    Open("/watch");
    watch = NextOne();
    watch.StartWatch();
    EXPECT_TRUE(RunUntil([&] { return !heads_.empty(); }));
  }

  std::unique_ptr<Http2TestServer> http2_;
};

TEST_F(Http2TransportTest, CarriesARequestAndItsAnswer) {
  Serve();
  ClientConfig config = Config();
  config.server += "/prefix";
  config.token = "secret";
  Connect(config);
  HttpRequest request;
  request.method = "PATCH";
  request.target = "/api/v1/pods?x=y";
  request.headers.Set("Content-Type", "application/json");
  request.body = "{}";
  transport_->Send(request, 30s, [this](auto answer) { answers_.push_back(std::move(answer)); });
  EXPECT_TRUE(answers_.empty());
  auto exchange = NextOne();
  EXPECT_EQ(exchange.request.method, "PATCH");
  EXPECT_EQ(exchange.request.target, "/prefix/api/v1/pods?x=y");
  EXPECT_EQ(exchange.request.body, "{}");
  EXPECT_EQ(exchange.request.headers.Get("content-type"), "application/json");
  EXPECT_EQ(exchange.request.headers.Get("content-length"), "2");
  EXPECT_EQ(exchange.request.headers.Get("authorization"), "Bearer secret");
  EXPECT_EQ(exchange.request.headers.Get(":authority"), "127.0.0.1:" + http2_->port());
  EXPECT_FALSE(exchange.request.headers.Has("host"));
  Headers headers;
  headers.Set("Retry-After", "3");
  exchange.Answer(429, "busy", headers);
  const auto answer = Answer();
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->status, 429);
  EXPECT_EQ(answer->body, "busy");
  EXPECT_EQ(answer->headers.Get("Retry-After"), "3");
}

TEST_F(Http2TransportTest, CarriesManyRequestsAndWatchesOnOneConnection) {
  ServeAndConnect();
  ScriptedHandler::Exchange watch;
  StartWatch(watch);
  const size_t before = http2_->reads();
  for (int i = 0; i < 50; ++i) Send("POST", "/" + std::to_string(i));
  auto exchanges = Next(50);
  EXPECT_LE(http2_->reads() - before, 10u) << "requests of one turn leave together";
  for (auto at = exchanges.rbegin(); at != exchanges.rend(); ++at) {
    at->Answer(200, "to " + at->request.target);
  }
  watch.Write("event\n");
  for (int i = 49; i >= 0; --i) EXPECT_EQ(Answer()->body, "to /" + std::to_string(i));
  EXPECT_TRUE(RunUntil([&] { return text_ == "event\n"; }));
  EXPECT_EQ(http2_->accepted(), 1u);
}

TEST_F(Http2TransportTest, LimitsRequestsButNotWatches) {
  HttpTransport::Options options;
  options.max_connections = 2;
  ServeAndConnect(options);
  for (int i = 0; i < 4; ++i) Send("GET", "/" + std::to_string(i));
  auto first = Next(2);
  Open("/watch");
  EXPECT_EQ(NextOne().request.target, "/watch");
  EXPECT_EQ(handler_.waiting(), 0u);
  first[0].Answer(200, "");
  EXPECT_EQ(NextOne().request.target, "/2");
  first[1].Answer(200, "");
  EXPECT_EQ(NextOne().request.target, "/3");
  EXPECT_EQ(http2_->accepted(), 1u);
}

TEST_F(Http2TransportTest, OpensAnotherConnectionWhereTheServerTakesNoMoreOnOne) {
  ServeAndConnect({}, 3);
  WarmUp();
  for (int i = 0; i < 7; ++i) Send("POST", "/" + std::to_string(i));
  auto exchanges = Next(7);
  EXPECT_EQ(http2_->open(), 3u);
  for (auto& exchange : exchanges) exchange.Answer(200, "");
  for (int i = 0; i < 7; ++i) EXPECT_TRUE(Answer().ok());
}

TEST_F(Http2TransportTest, CarriesLargeBodiesBothWays) {
  ServeAndConnect();
  ScriptedHandler::Exchange watch;
  StartWatch(watch);
  std::string large;  // more than all windows together
  for (int i = 0; large.size() < (40 << 20); ++i) large += std::to_string(i) + " ";
  HttpRequest request;
  request.method = "POST";
  request.target = "/";
  request.body = large.substr(0, 3 << 20);
  transport_->Send(request, 30s, [this](auto answer) { answers_.push_back(std::move(answer)); });
  auto exchange = NextOne();
  EXPECT_TRUE(exchange.request.body == request.body);
  exchange.Answer(200, large);
  watch.Write("not held up\n");
  EXPECT_TRUE(RunUntil([&] { return !text_.empty(); }));
  EXPECT_TRUE(Answer()->body == large);
}

TEST_F(Http2TransportTest, RefusesAnAnswerThatIsTooLarge) {
  HttpTransport::Options options;
  options.max_answer = 1000;
  ServeAndConnect(options);
  Send("GET", "/");
  NextOne().Answer(200, std::string(1001, 'x'));
  EXPECT_THAT(AnswerError(), HasSubstr("larger than this client accepts"));
  WarmUp();  // the connection lives on
  EXPECT_EQ(http2_->accepted(), 1u);
}

TEST_F(Http2TransportTest, AWatchEndsAsTheServerEndsIt) {
  ServeAndConnect();
  ScriptedHandler::Exchange watch;
  StartWatch(watch);
  watch.Write("one\n");
  watch.End();
  EXPECT_TRUE(RunUntil([&] { return end_.has_value(); }));
  EXPECT_TRUE(end_->ok()) << *end_;
  EXPECT_EQ(text_, "one\n");

  end_.reset();
  StartWatch(watch);
  watch.Write("half");
  watch.Drop();
  EXPECT_TRUE(RunUntil([&] { return end_.has_value(); }));
  EXPECT_TRUE(absl::IsUnavailable(*end_));
  EXPECT_FALSE(WasNotSent(*end_));
  EXPECT_THAT(std::string(Message(*end_)), HasSubstr("INTERNAL_ERROR"));
  EXPECT_EQ(http2_->accepted(), 1u);
}

TEST_F(Http2TransportTest, ARefusedWatchArrivesWithItsBody) {
  ServeAndConnect();
  ExpectThatARefusedWatchArrivesWithItsBody();
}

TEST_F(Http2TransportTest, WhatNobodyWantsIsResetAndTheConnectionStays) {
  ServeAndConnect();
  ScriptedHandler::Exchange watch;
  StartWatch(watch);
  stream_ = nullptr;
  EXPECT_TRUE(RunUntil([&] { return watch.disconnected(); }));
  EXPECT_FALSE(end_.has_value());

  auto call = Send("POST", "/");
  auto cancelled = NextOne();
  call->Cancel();
  EXPECT_TRUE(RunUntil([&] { return cancelled.disconnected(); }));

  Send("POST", "/", 50ms);
  auto slow = NextOne();
  EXPECT_TRUE(absl::IsDeadlineExceeded(Answer().status()));
  EXPECT_TRUE(RunUntil([&] { return slow.disconnected(); }));

  call = Send("POST", "/never sent");
  loop_.context().run_one_for(1s);
  call->Cancel();
  WarmUp();
  EXPECT_TRUE(answers_.empty());
  EXPECT_EQ(http2_->accepted(), 1u);
}

TEST_F(Http2TransportTest, AStreamMayBeClosedFromWithin) {
  ServeAndConnect();
  ExpectThatAStreamMayBeClosedFromWithin();
}

TEST_F(Http2TransportTest, TheTransportMayBeDestroyedFromWithin) {
  ServeAndConnect();
  HttpRequest request;
  request.target = "/";
  bool called = false;
  for (int i = 0; i < 2; ++i) {
    transport_->Send(request, 30s, [&](const auto&) {
      EXPECT_FALSE(std::exchange(called, true));
      transport_ = nullptr;
    });
  }
  for (auto& exchange : Next(2)) exchange.Answer(200, "x");
  EXPECT_TRUE(RunUntil([&] { return http2_->open() == 0; }));
  EXPECT_TRUE(called);
}

TEST_F(Http2TransportTest, SendsAgainWhatTheServerHasNotLookedAt) {
  ServeAndConnect();
  Send("POST", "/0");
  Send("POST", "/1");
  Send("POST", "/2");
  auto old = Next(3);
  http2_->GoAway(1);
  auto again = Next(2);  // on a new connection
  EXPECT_EQ(http2_->accepted(), 2u);
  again[0].Answer(200, "again");
  again[1].Answer(200, "again");
  old[0].Answer(200, "old");  // the connection lasts until its answers are complete
  std::vector<std::string> bodies;
  for (int i = 0; i < 3; ++i) bodies.push_back(Answer()->body);
  EXPECT_THAT(bodies, testing::UnorderedElementsAre("again", "again", "old"));
  EXPECT_TRUE(RunUntil([&] { return http2_->open() == 1; }));
}

TEST_F(Http2TransportTest, ARefusedRequestIsSentAgainButNotForever) {
  ServeAndConnect();
  http2_->RefuseRequests(2);
  Send("POST", "/");
  NextOne().Answer(200, "at last");
  EXPECT_EQ(Answer()->body, "at last");
  http2_->RefuseRequests(100);
  Send("POST", "/");
  EXPECT_TRUE(WasNotSent(Answer().status()));
  EXPECT_EQ(http2_->accepted(), 1u);
}

TEST_F(Http2TransportTest, ABrokenConnectionFailsWhatWasOnIt) {
  ServeAndConnect();
  ScriptedHandler::Exchange watch;
  StartWatch(watch);
  Send("POST", "/post");
  Send("GET", "/get");
  Next(2);
  http2_->CloseConnections();
  EXPECT_TRUE(RunUntil([&] { return end_.has_value(); }));
  EXPECT_TRUE(absl::IsUnavailable(*end_));
  EXPECT_FALSE(WasNotSent(*end_));
  const Status status = Answer().status();
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_FALSE(WasNotSent(status));
  EXPECT_THAT(std::string(Message(status)), HasSubstr("closed the connection before the answer"));
  auto again = NextOne();  // harmless twice
  EXPECT_EQ(again.request.target, "/get");
  again.Answer(200, "");
  EXPECT_TRUE(Answer().ok());
}

TEST_F(Http2TransportTest, ReplacesAConnectionThatTheServerHasClosed) {
  ServeAndConnect();
  WarmUp();
  http2_->CloseConnections();
  WarmUp();
  EXPECT_EQ(http2_->accepted(), 2u);
}

TEST_F(Http2TransportTest, ClosesIdleConnections) {
  HttpTransport::Options options;
  options.idle_timeout = 20ms;
  ServeAndConnect(options);
  WarmUp();
  EXPECT_TRUE(RunUntil([&] { return http2_->open() == 0; }));
}

TEST_F(Http2TransportTest, NoticesAPeerThatHasFallenSilent) {
  HttpTransport::Options options;
  options.timeouts.dead_peer = 600ms;
  ServeAndConnect(options);
  ScriptedHandler::Exchange watch;
  StartWatch(watch);
  EXPECT_TRUE(RunUntil([&] { return http2_->pings() >= 1; }));
  watch.Write("alive\n");
  EXPECT_TRUE(RunUntil([&] { return !text_.empty(); }));
  EXPECT_FALSE(end_.has_value());
  http2_->PlayDead();
  EXPECT_TRUE(RunUntil([&] { return end_.has_value(); }));
  EXPECT_TRUE(absl::IsUnavailable(*end_));
  EXPECT_THAT(std::string(Message(*end_)), HasSubstr("has fallen silent"));
}

TEST_F(Http2TransportTest, AllThatWaitForAConnectionHearWhyThereIsNone) {
  Serve();
  const ClientConfig config = Config();
  http2_ = nullptr;
  Connect(config);
  for (int i = 0; i < 3; ++i) Send("POST", "/");
  for (int i = 0; i < 3; ++i) {
    const Status status = Answer().status();
    EXPECT_TRUE(WasNotSent(status));
    EXPECT_THAT(std::string(Message(status)), HasSubstr("Connection refused"));
  }
}

TEST_F(Http2TransportTest, AServerOfHttp1GetsOneRequestAConnection) {
  ServeTls();  // knows nothing of protocols to choose from
  Connect(TlsConfig());
  for (int i = 0; i < 5; ++i) Send("POST", "/" + std::to_string(i));
  auto exchanges = Next(5);
  EXPECT_EQ(server_->accepted(), 5u);
  for (auto& exchange : exchanges) exchange.Answer(200, "");
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(Answer().ok());
}

TEST_F(Http2TransportTest, GoesThroughAProxy) {
  Serve();
  TestProxy proxy(loop_, 200);
  ClientConfig config = Config();
  config.proxy_url = "http://127.0.0.1:" + proxy.port();
  Connect(config);
  Send("POST", "/1");
  Send("POST", "/2");
  for (auto& exchange : Next(2)) exchange.Answer(200, "through");
  for (int i = 0; i < 2; ++i) EXPECT_EQ(Answer()->body, "through");
  EXPECT_EQ(proxy.requests().size(), 1u);
}

TEST_F(Http2TransportTest, ReadsARotatedTokenAtOnceWhenTheOldOneIsRefused) {
  Serve();
  ClientConfig config = Config();
  config.token_file = WriteFile("token", "one\n");
  Connect(config);
  Send("POST", "/");
  auto first = NextOne();
  WriteFile("token", "two\n");
  first.Answer(401, "Unauthorized");
  auto second = NextOne();
  EXPECT_EQ(second.request.headers.Get("authorization"), "Bearer two");
  EXPECT_EQ(second.request.body, "body");
  second.Answer(201, "made");
  EXPECT_EQ(Answer()->status, 201);
}

TEST_F(Http2TransportTest, OpensANewConnectionWhenTheCertificateChanges) {
  Serve();
  ClientConfig config = Config();
  const PemPair alice = authority_.Issue("alice", {});
  config.client_certificate_file = WriteFile("cert", alice.certificate);
  config.client_key_file = WriteFile("key", alice.key);
  HttpTransport::Options options;
  options.certificate_check = 20ms;
  Connect(config, options);
  ScriptedHandler::Exchange watch;
  StartWatch(watch);
  Send("POST", "/old");
  auto old = NextOne();
  const PemPair bob = authority_.Issue("bob", {});
  WriteFile("cert", bob.certificate);
  WriteFile("key", bob.key);
  EXPECT_TRUE(RunUntil([&] { return end_.has_value(); })) << "the old watch goes on";
  Send("POST", "/new");
  NextOne().Answer(200, "new");
  EXPECT_EQ(Answer()->body, "new");
  EXPECT_EQ(http2_->accepted(), 2u);
  old.Answer(200, "old");
  EXPECT_EQ(Answer()->body, "old");
  EXPECT_TRUE(RunUntil([&] { return http2_->open() == 1; }));
}

TEST_F(Http2TransportTest, IsNotOfferedWhenSwitchedOff) {
  HttpTransport::Options options;
  options.http2 = false;
  ServeAndConnect(options);
  Send("POST", "/");
  EXPECT_THAT(AnswerError(), HasSubstr("the server does not speak HTTP/1.1"));
}

}  // namespace
}  // namespace koord::kube::http2_transport_test
