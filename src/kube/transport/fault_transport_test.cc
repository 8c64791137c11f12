#include "kube/transport/fault_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/virtual_loop.h"
#include "kube/api_error.h"
#include "kube/transport/in_process_transport.h"

namespace koord::kube::fault_transport_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// Counts requests and answers each with its number; a watch counts from 1 to `watch_events`.
class CountingHandler final : public HttpHandler {
 public:
  void Handle(HttpRequest request, std::shared_ptr<ResponseWriter> response) override {
    targets.push_back(request.target);
    if (request.target.find("watch=") == std::string::npos) {
      response->Finish({200, {}, std::to_string(targets.size())});
      return;
    }
    response->StartStream({200, {}, ""});
    for (int i = 1; i <= watch_events; ++i) {
      response->Write(std::make_shared<const std::string>("event" + std::to_string(i) + "\n"));
    }
    open.push_back(std::move(response));
  }
  std::vector<std::string> targets;
  std::vector<std::shared_ptr<ResponseWriter>> open;
  int watch_events = 3;
};

HttpRequest Request(std::string method, std::string target) {
  HttpRequest request;
  request.method = std::move(method);
  request.target = std::move(target);
  return request;
}

class FaultTransportTest : public testing::Test {
 protected:
  std::string Describe(const StatusOr<HttpResponse>& answer) {
    return answer.ok() ? std::to_string(answer->status) + " " + answer->body
                       : std::string(Message(answer.status()));
  }
  void Send(std::string method, std::string target, Duration timeout = 30s) {
    transport_->Send(Request(std::move(method), std::move(target)), timeout,
                     [this](StatusOr<HttpResponse> answer) {
                       log_.push_back(Describe(answer));
                       last_ = std::move(answer);
                     });
  }
  void Open(std::string target) {
    Transport::StreamEvents events;
    events.head = [this](const HttpResponse& head) {
      log_.push_back("head " + std::to_string(head.status) + " " + head.body);
    };
    events.data = [this](std::string_view data) { text_ += data; };
    events.end = [this](const Status& status) {
      log_.push_back("end " + std::string(Message(status)));
      last_ = status.ok() ? StatusOr<HttpResponse>(HttpResponse{}) : status;
    };
    stream_ = transport_->Open(Request("GET", std::move(target)), std::move(events));
  }
  void Use(const Faults& faults, uint64_t seed = 1) {
    transport_ = std::make_unique<FaultTransport>(
        loop_, std::make_shared<InProcessTransport>(loop_, handler_), seed, faults);
  }

  VirtualLoop loop_;
  CountingHandler handler_;
  std::unique_ptr<FaultTransport> transport_;
  std::unique_ptr<Transport::Stream> stream_;
  std::vector<std::string> log_;
  std::string text_;
  StatusOr<HttpResponse> last_ = HttpResponse{};
};

TEST_F(FaultTransportTest, WithoutFaultsItIsTransparent) {
  Use({});
  Send("POST", "/a");
  Open("/b?watch=1");
  loop_.RunReady();
  EXPECT_THAT(log_, ElementsAre("200 1", "head 200 "));
  EXPECT_EQ(text_, "event1\nevent2\nevent3\n");
  handler_.open[0]->End();
  loop_.RunReady();
  EXPECT_EQ(log_.back(), "end ");
}

TEST_F(FaultTransportTest, ARefusedRequestNeverArrives) {
  Use({.refused = 1});
  Send("POST", "/a");
  EXPECT_THAT(log_, IsEmpty());
  loop_.RunReady();
  EXPECT_TRUE(WasNotSent(last_.status()));
  Open("/b?watch=1");
  loop_.RunReady();
  EXPECT_THAT(log_.back(), HasSubstr("refused"));
  EXPECT_THAT(handler_.targets, IsEmpty());
}

TEST_F(FaultTransportTest, ALostAnswerMeansThatTheRequestWasCarriedOut) {
  Use({.lost_answer = 1});
  Send("POST", "/a");
  loop_.RunReady();
  EXPECT_THAT(handler_.targets, ElementsAre("/a"));
  EXPECT_TRUE(absl::IsUnavailable(last_.status()));
  EXPECT_FALSE(WasNotSent(last_.status()));
}

TEST_F(FaultTransportTest, ADuplicateArrivesTwiceAndEitherAnswerIsHeard) {
  Use({.duplicate = 1});
  for (int i = 0; i < 20; ++i) {
    Send("POST", "/a");
    loop_.RunReady();
  }
  EXPECT_EQ(handler_.targets.size(), 40u);
  ASSERT_EQ(log_.size(), 20u);
  int second = 0;
  for (const std::string& answer : log_) second += std::stoi(answer.substr(4)) % 2 == 0;
  EXPECT_GT(second, 0);
  EXPECT_LT(second, 20);
}

TEST_F(FaultTransportTest, AnswersOnItsOwnWithWhatAServerWouldSay) {
  struct Case {
    std::string name;
    Faults faults;
    std::string method, target;
    int code;
    std::string reason;
  };
  const Case cases[] = {
      {"conflict", {.conflict = 1}, "PUT", "/a", 409, "Conflict"},
      {"no conflict for a creation", {.conflict = 1}, "POST", "/a", 200, ""},
      {"no conflict for a read", {.conflict = 1}, "GET", "/a", 200, ""},
      {"expired page", {.expired = 1}, "GET", "/a?limit=5&continue=x", 410, "Expired"},
      {"expired version", {.expired = 1}, "GET", "/a?resourceVersion=5", 410, "Expired"},
      {"any version never expires", {.expired = 1}, "GET", "/a?resourceVersion=0", 200, ""},
      {"busy",
       {.too_many_requests = 1, .retry_after_seconds = 7},
       "GET",
       "/a",
       429,
       "TooManyRequests"},
      {"broken", {.internal_error = 1}, "POST", "/a", 500, "InternalError"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    handler_.targets.clear();
    Use(c.faults);
    Send(c.method, c.target);
    loop_.RunReady();
    ASSERT_TRUE(last_.ok());
    EXPECT_EQ(last_->status, c.code);
    EXPECT_EQ(handler_.targets.empty(), c.code != 200);
    if (c.code == 200) continue;
    EXPECT_EQ(ApiError::FromBody(c.code, last_->body).reason, c.reason);
    EXPECT_EQ(last_->headers.Get("Retry-After"), c.code == 429 ? "7" : "");
  }
}

TEST_F(FaultTransportTest, DelaysButKeepsTheTimeOut) {
  Use({.delay = 1, .max_delay = 10s});
  Send("POST", "/slow", 1ms);
  loop_.Advance(1ms);
  EXPECT_TRUE(absl::IsDeadlineExceeded(last_.status()));
  // What was on its way arrives all the same.
  loop_.Advance(10s);
  EXPECT_THAT(handler_.targets, ElementsAre("/slow"));
  EXPECT_EQ(log_.size(), 1u);

  Send("POST", "/patient");
  loop_.RunReady();
  EXPECT_EQ(log_.size(), 1u);
  loop_.Advance(20s);
  EXPECT_EQ(log_.back(), "200 2");
}

TEST_F(FaultTransportTest, ACancelledCallIsNotAnswered) {
  Use({.delay = 1, .max_delay = 10s});
  auto call = transport_->Send(Request("POST", "/a"), 30s, [this](StatusOr<HttpResponse> answer) {
    log_.push_back(Describe(answer));
  });
  call->Cancel();
  loop_.Advance(1min);
  EXPECT_THAT(log_, IsEmpty());
}

TEST_F(FaultTransportTest, AWatchBreaksInTheMiddleOfAnEvent) {
  Use({.dropped_watch = 1});
  std::set<size_t> cuts;
  for (int i = 0; i < 30; ++i) {
    text_.clear();
    Open("/b?watch=1");
    loop_.RunReady();
    EXPECT_TRUE(absl::IsUnavailable(last_.status()));
    EXPECT_THAT("event1\n", StartsWith(text_));
    cuts.insert(text_.size());
  }
  EXPECT_GT(cuts.size(), 3u);
}

TEST_F(FaultTransportTest, DelayedEventsKeepTheirOrder) {
  handler_.watch_events = 50;
  Use({.delay = 0.5, .max_delay = 5s});
  Open("/b?watch=1");
  loop_.RunReady();
  EXPECT_LT(text_.size(), 50u * 7);
  loop_.Advance(10min);
  std::string expected;
  for (int i = 1; i <= 50; ++i) expected += "event" + std::to_string(i) + "\n";
  EXPECT_EQ(text_, expected);
}

TEST_F(FaultTransportTest, AnExpiredWatchIsRefusedOrEndsWithAnErrorEvent) {
  Use({.expired = 1});
  bool refused = false;
  bool event = false;
  for (int i = 0; i < 20; ++i) {
    log_.clear();
    text_.clear();
    Open("/b?watch=1&resourceVersion=5");
    loop_.RunReady();
    ASSERT_EQ(log_.size(), 2u);
    EXPECT_EQ(log_[1], "end ");
    refused |= log_[0].starts_with("head 410");
    event |= log_[0] == "head 200 " && text_.starts_with(R"({"type":"ERROR","object":{)");
  }
  EXPECT_TRUE(refused);
  EXPECT_TRUE(event);
  EXPECT_THAT(handler_.targets, IsEmpty());
}

TEST_F(FaultTransportTest, DropsWatchesOnDemandAndCanBeSwitchedOff) {
  Use({.refused = 1});
  transport_->SetFaults({});
  Open("/b?watch=1");
  loop_.RunReady();
  EXPECT_EQ(text_, "event1\nevent2\nevent3\n");
  transport_->DropWatches();
  loop_.RunReady();
  EXPECT_THAT(log_.back(), HasSubstr("reset"));
}

TEST_F(FaultTransportTest, TheSameSeedGivesTheSameRun) {
  const Faults faults{.refused = 0.2,
                      .lost_answer = 0.2,
                      .duplicate = 0.2,
                      .delay = 0.5,
                      .conflict = 0.2,
                      .too_many_requests = 0.2,
                      .internal_error = 0.2,
                      .dropped_watch = 0.2};
  const auto run = [&](uint64_t seed) {
    log_.clear();
    text_.clear();
    handler_.targets.clear();
    Use(faults, seed);
    for (int i = 0; i < 50; ++i) {
      Send("PUT", "/" + std::to_string(i));
      if (i % 10 == 0) Open("/w?watch=1");
      loop_.Advance(500ms);
    }
    loop_.Advance(1min);
    return log_;
  };
  const auto first = run(7);
  EXPECT_EQ(run(7), first);
  EXPECT_NE(run(8), first);
}

}  // namespace
}  // namespace koord::kube::fault_transport_test
