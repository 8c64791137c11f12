#include "kube/transport/in_process_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/virtual_loop.h"
#include "kube/transport/scripted_handler.h"

namespace koord::kube::in_process_transport_test {
namespace {

using testing::ElementsAre;

class InProcessTransportTest : public testing::Test {
 protected:
  Transport::Done Record() {
    return [this](StatusOr<HttpResponse> answer) { answers_.push_back(std::move(answer)); };
  }
  Transport::StreamEvents RecordStream() {
    Transport::StreamEvents events;
    events.head = [this](const HttpResponse& head) {
      log_.push_back("head " + std::to_string(head.status) + head.body);
    };
    events.data = [this](std::string_view data) { log_.push_back("data " + std::string(data)); };
    events.end = [this](const Status& status) {
      log_.push_back(status.ok() ? "end" : "end " + std::string(Message(status)));
    };
    return events;
  }

  VirtualLoop loop_;
  ScriptedHandler handler_;
  InProcessTransport transport_{loop_, handler_};
  std::vector<StatusOr<HttpResponse>> answers_;
  std::vector<std::string> log_;
};

TEST_F(InProcessTransportTest, CarriesARequestAndItsAnswerWithoutCallingBackInside) {
  HttpRequest request;
  request.method = "POST";
  request.target = "/x?a=b";
  request.body = "hello";
  transport_.Send(request, 1s, Record());
  EXPECT_EQ(handler_.waiting(), 0u);

  loop_.RunReady();
  auto exchange = handler_.Take();
  EXPECT_EQ(exchange.request.target, "/x?a=b");
  EXPECT_EQ(exchange.request.body, "hello");
  ASSERT_TRUE(exchange.request.user.has_value());
  EXPECT_THAT(exchange.request.user->groups, testing::Contains("system:masters"));

  exchange.Answer(201, "made");
  EXPECT_TRUE(answers_.empty());
  loop_.RunReady();
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_EQ(answers_[0]->status, 201);
  EXPECT_EQ(answers_[0]->body, "made");
}

TEST_F(InProcessTransportTest, SendsAsTheGivenUserUnlessTheRequestNamesOne) {
  InProcessTransport transport(loop_, handler_, {"bob", "1", {"dev"}, {}});
  transport.Send({}, 0s, Record());
  HttpRequest request;
  request.user = UserInfo{"eve", "2", {}, {}};
  transport.Send(request, 0s, Record());
  loop_.RunReady();
  EXPECT_EQ(handler_.Take().request.user->name, "bob");
  EXPECT_EQ(handler_.Take().request.user->name, "eve");
}

TEST_F(InProcessTransportTest, CollectsAStreamedAnswerForSend) {
  transport_.Send({}, 0s, Record());
  loop_.RunReady();
  auto exchange = handler_.Take();
  exchange.StartWatch();
  exchange.Write("a");
  loop_.RunReady();
  exchange.Write("b");
  exchange.End();
  loop_.RunReady();
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_EQ(answers_[0]->body, "ab");
}

TEST_F(InProcessTransportTest, TimesOutAndTellsTheServer) {
  transport_.Send({}, 10s, Record());
  loop_.RunReady();
  auto exchange = handler_.Take();
  loop_.Advance(9999ms);
  EXPECT_TRUE(answers_.empty());
  loop_.Advance(1ms);
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_TRUE(absl::IsDeadlineExceeded(answers_[0].status()));
  EXPECT_TRUE(exchange.disconnected());
  exchange.Answer(200, "too late");
  loop_.RunReady();
  EXPECT_EQ(answers_.size(), 1u);
}

TEST_F(InProcessTransportTest, NoTimeOutFiresAfterTheAnswer) {
  transport_.Send({}, 10s, Record());
  loop_.RunReady();
  handler_.Take().Answer(200, "");
  loop_.Advance(20s);
  EXPECT_EQ(answers_.size(), 1u);
}

TEST_F(InProcessTransportTest, ACancelledCallIsNeverAnswered) {
  auto call = transport_.Send({}, 10s, Record());
  loop_.RunReady();
  auto exchange = handler_.Take();
  call->Cancel();
  exchange.Answer(200, "");
  loop_.Advance(1min);
  EXPECT_TRUE(answers_.empty());
}

TEST_F(InProcessTransportTest, AServerThatLosesTheRequestBreaksTheConnection) {
  transport_.Send({}, 10s, Record());
  loop_.RunReady();
  handler_.Take().Drop();
  loop_.RunReady();
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_TRUE(absl::IsUnavailable(answers_[0].status()));
  EXPECT_FALSE(WasNotSent(answers_[0].status()));
}

TEST_F(InProcessTransportTest, StreamsChunksInOrder) {
  auto stream = transport_.Open({}, RecordStream());
  loop_.RunReady();
  auto exchange = handler_.Take();
  exchange.StartWatch();
  loop_.RunReady();
  EXPECT_THAT(log_, ElementsAre("head 200"));
  exchange.Write("1");
  exchange.Write("2");
  EXPECT_EQ(exchange.pending_chunks(), 2u);
  loop_.RunReady();
  EXPECT_EQ(exchange.pending_chunks(), 0u);
  exchange.End();
  loop_.RunReady();
  EXPECT_THAT(log_, ElementsAre("head 200", "data 1", "data 2", "end"));
}

TEST_F(InProcessTransportTest, ARefusedStreamArrivesWithItsBody) {
  auto stream = transport_.Open({}, RecordStream());
  loop_.RunReady();
  handler_.Take().Answer(403, " no");
  loop_.RunReady();
  EXPECT_THAT(log_, ElementsAre("head 403 no", "end"));
}

TEST_F(InProcessTransportTest, ClosingAStreamTellsTheServerAndSilencesIt) {
  auto stream = transport_.Open({}, RecordStream());
  loop_.RunReady();
  auto exchange = handler_.Take();
  exchange.StartWatch();
  loop_.RunReady();
  exchange.Write("unseen");
  stream = nullptr;
  loop_.RunReady();
  EXPECT_TRUE(exchange.disconnected());
  EXPECT_THAT(log_, ElementsAre("head 200"));
  exchange.Write("harmless");
  exchange.End();
  loop_.RunReady();
  EXPECT_THAT(log_, ElementsAre("head 200"));
}

TEST_F(InProcessTransportTest, AStreamMayBeClosedFromWithinItsCallbacks) {
  std::unique_ptr<Transport::Stream> stream;
  Transport::StreamEvents events = RecordStream();
  events.data = [&](std::string_view data) {
    stream = nullptr;
    log_.push_back(std::string(data));
  };
  stream = transport_.Open({}, std::move(events));
  loop_.RunReady();
  auto exchange = handler_.Take();
  exchange.StartWatch();
  exchange.Write("1");
  exchange.Write("2");
  exchange.End();
  loop_.RunReady();
  EXPECT_THAT(log_, ElementsAre("head 200", "1"));
}

}  // namespace
}  // namespace koord::kube::in_process_transport_test
