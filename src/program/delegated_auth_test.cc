#include "program/delegated_auth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/virtual_loop.h"
#include "kube/transport/in_process_transport.h"
#include "kube/transport/scripted_handler.h"
#include "program/ask_testing.h"
#include "program/component_api.h"

namespace koord::program::delegated_auth_test {
namespace {

using kube::Json;
using ::testing::HasSubstr;

// Tells who got in.
class WhoIsIt final : public kube::HttpHandler {
 public:
  void Handle(kube::HttpRequest request, std::shared_ptr<kube::ResponseWriter> response) override {
    response->Finish(TextResponse(200, request.user ? request.user->name : "nobody"));
  }
};

class DelegatedAuthTest : public ::testing::Test {
 protected:
  std::shared_ptr<Recorder> Send(std::string target, std::string token = "",
                                 std::optional<kube::UserInfo> user = {},
                                 std::string method = "GET") {
    kube::HttpRequest request;
    request.method = std::move(method);
    request.target = std::move(target);
    request.user = std::move(user);
    if (!token.empty()) request.headers.Add("Authorization", "Bearer " + token);
    const auto answer = std::make_shared<Recorder>();
    auth_.Handle(std::move(request), answer);
    loop_.RunReady();
    return answer;
  }
  // Plays the API server's part.
  Json TakeReview(const std::string& target) {
    EXPECT_EQ(api_.waiting(), 1u);
    exchange_ = api_.Take();
    EXPECT_EQ(exchange_->request.target, target);
    return *kube::ParseJson(exchange_->request.body);
  }
  void AnswerReview(const Json& status) {
    exchange_->Answer(201, kube::Serialize({{"status", status}}));
    loop_.RunReady();
  }
  void AnswerToken(std::string_view token, std::string_view name) {
    const Json review = TakeReview(kTokens);
    EXPECT_EQ(kube::FindString(review, {"spec", "token"}), token);
    AnswerReview({{"authenticated", true},
                  {"user",
                   {{"username", name},
                    {"uid", "u1"},
                    {"groups", {"system:serviceaccounts", "system:authenticated"}},
                    {"extra", {{"k", {"v"}}}}}}});
  }

  static constexpr char kTokens[] = "/apis/authentication.k8s.io/v1/tokenreviews";
  static constexpr char kAccess[] = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

  VirtualLoop loop_;
  kube::ScriptedHandler api_;
  std::optional<kube::ScriptedHandler::Exchange> exchange_;
  kube::Client client_{loop_, std::make_shared<kube::InProcessTransport>(loop_, api_), {}};
  WhoIsIt next_;
  DelegatedAuth auth_{client_, {}, next_};
};

TEST_F(DelegatedAuthTest, HealthIsForEverybody) {
  for (const char* path : {"/healthz", "/livez?verbose", "/readyz"}) {
    EXPECT_EQ(Send(path)->answer->body, "nobody") << path;
  }
  EXPECT_EQ(api_.waiting(), 0u);
}

TEST_F(DelegatedAuthTest, ATokenIsReviewedAndThenItsUsersRight) {
  const auto answer = Send("/metrics?x=1", "t");
  AnswerToken("t", "prometheus");
  const Json review = TakeReview(kAccess);
  EXPECT_EQ(kube::Serialize(*kube::Find(review, {"spec"})),
            R"({"user":"prometheus","groups":["system:serviceaccounts","system:authenticated"],)"
            R"("nonResourceAttributes":{"path":"/metrics","verb":"get"},)"
            R"("uid":"u1","extra":{"k":["v"]}})");
  EXPECT_FALSE(answer->answer);
  AnswerReview({{"allowed", true}});
  EXPECT_EQ(answer->answer->body, "prometheus");
}

TEST_F(DelegatedAuthTest, WhatIsNotAllowedIsForbidden) {
  const auto answer = Send("/debug/flags/v", "t", {}, "PUT");
  AnswerToken("t", "jane");
  TakeReview(kAccess);
  AnswerReview({{"allowed", false}, {"reason", "no rule"}});
  EXPECT_EQ(answer->answer->status, 403);
  EXPECT_EQ(kube::FindString(*kube::ParseJson(answer->answer->body), {"message"}),
            "forbidden: User \"jane\" cannot put path \"/debug/flags/v\": no rule");
}

TEST_F(DelegatedAuthTest, AnUnknownTokenIsNotLetIn) {
  const auto answer = Send("/metrics", "guess");
  TakeReview(kTokens);
  AnswerReview({{"authenticated", false}, {"error", "invalid bearer token"}});
  EXPECT_EQ(answer->answer->status, 401);
  EXPECT_EQ(Send("/metrics", "guess")->answer->status, 401) << "and that is remembered";
  EXPECT_EQ(api_.waiting(), 0u);
}

TEST_F(DelegatedAuthTest, WhoShowsNothingIsAnonymous) {
  const auto answer = Send("/metrics");
  const Json review = TakeReview(kAccess);
  EXPECT_EQ(kube::FindString(review, {"spec", "user"}), "system:anonymous");
  AnswerReview({{"allowed", false}});
  EXPECT_EQ(answer->answer->status, 403);
  EXPECT_THAT(answer->answer->body,
              HasSubstr(R"(forbidden: User \"system:anonymous\" cannot get path \"/metrics\"")"));
}

TEST_F(DelegatedAuthTest, ACertificateDoesForAToken) {
  kube::UserInfo user;
  user.name = "jane";
  user.groups = {"team"};
  const auto answer = Send("/metrics", "", user);
  const Json review = TakeReview(kAccess);
  EXPECT_EQ(kube::Serialize(*kube::Find(review, {"spec", "groups"})),
            R"(["team","system:authenticated"])");
  AnswerReview({{"allowed", true}});
  EXPECT_EQ(answer->answer->body, "jane");

  kube::UserInfo admin;
  admin.name = "admin";
  admin.groups = {"system:masters"};
  EXPECT_EQ(Send("/metrics", "", admin)->answer->body, "admin") << "need not be asked about";
}

TEST_F(DelegatedAuthTest, AnswersAreRememberedForAWhile) {
  Send("/metrics", "t");
  AnswerToken("t", "prometheus");
  TakeReview(kAccess);
  AnswerReview({{"allowed", true}});
  loop_.Advance(9s);
  EXPECT_EQ(Send("/metrics", "t")->answer->body, "prometheus");
  EXPECT_EQ(api_.waiting(), 0u);
  Send("/configz", "t");
  TakeReview(kAccess);  // another path is another question
  AnswerReview({{"allowed", true}});
  loop_.Advance(2s);
  Send("/metrics", "t");
  TakeReview(kTokens);
}

TEST_F(DelegatedAuthTest, ManyWhoAskAtOnceAreOneQuestion) {
  const auto first = Send("/metrics", "t"), second = Send("/metrics", "t");
  AnswerToken("t", "prometheus");
  TakeReview(kAccess);
  AnswerReview({{"allowed", true}});
  EXPECT_EQ(first->answer->body, "prometheus");
  EXPECT_EQ(second->answer->body, "prometheus");
  EXPECT_EQ(api_.waiting(), 0u);
}

TEST_F(DelegatedAuthTest, AFailingApiServerLetsNobodyInAndIsAskedAgain) {
  const auto answer = Send("/metrics", "t");
  TakeReview(kTokens);
  exchange_->Fail(kube::ApiError::Of(500, "sick"));
  loop_.RunReady();
  EXPECT_EQ(answer->answer->status, 401);
  const auto again = Send("/metrics", "t");
  AnswerToken("t", "prometheus");
  TakeReview(kAccess);
  exchange_->Fail(kube::ApiError::Of(500, "sick"));
  loop_.RunReady();
  EXPECT_EQ(again->answer->status, 500);
}

// Servers may quote what they were sent in what they complain of.
TEST_F(DelegatedAuthTest, ATokenNeverReachesTheLog) {
  constexpr char kToken[] = "the-token-of-somebody";
  testing::internal::CaptureStderr();
  const auto answer = Send("/metrics", kToken);
  TakeReview(kTokens);
  exchange_->Fail(kube::ApiError::Of(422, std::string("spec.token: Invalid value: ") + kToken));
  loop_.RunReady();
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("Cannot check a token"));
  EXPECT_THAT(log, testing::Not(HasSubstr(kToken)));
  EXPECT_EQ(answer->answer->status, 401);
  EXPECT_THAT(answer->answer->body, testing::Not(HasSubstr(kToken)));
}

TEST_F(DelegatedAuthTest, APathIsJudgedAsItIsServed) {
  Send("/%6Detrics//x", "", kube::UserInfo{.name = "jane"});
  const Json review = TakeReview(kAccess);
  EXPECT_EQ(kube::FindString(review, {"spec", "nonResourceAttributes", "path"}), "/metrics/x");
}

TEST_F(DelegatedAuthTest, APrefixMayBeOpen) {
  DelegatedAuth auth(client_, {.open_paths = {"/public/*"}}, next_);
  EXPECT_EQ(Ask(auth, "GET", "/public/a/b").body, "nobody");
  EXPECT_EQ(Ask(auth, "GET", "/publicity").status, 0) << "has to be asked about";
}

}  // namespace
}  // namespace koord::program::delegated_auth_test
