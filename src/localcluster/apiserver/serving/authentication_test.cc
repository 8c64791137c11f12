#include "localcluster/apiserver/serving/authentication.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "base/virtual_loop.h"
#include "kube/json.h"
#include "kube/serving/x509.h"

namespace koord::apiserver::authentication_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class Recorder final : public kube::HttpHandler, public kube::ResponseWriter {
 public:
  void Handle(kube::HttpRequest seen, std::shared_ptr<kube::ResponseWriter>) override {
    request = std::move(seen);
  }
  void Finish(kube::HttpResponse answer) override { refusal = std::move(answer); }
  void StartStream(kube::HttpResponse) override {}
  void Write(std::shared_ptr<const std::string>) override {}
  void End() override {}
  size_t pending_chunks() const override { return 0; }
  void OnDisconnect(absl::AnyInvocable<void()>) override {}

  std::optional<kube::HttpRequest> request;
  std::optional<kube::HttpResponse> refusal;
};

class AuthenticationTest : public ::testing::Test {
 protected:
  void SetUp() override {
    tokens_ = *ServiceAccountTokens::Make(*kube::GenerateKey());
    options_.tokens = {AdminToken("s3cret"), {"jane-token", {"jane", "7", {"dev"}, {}}}};
    options_.service_accounts = tokens_.get();
  }

  // Who reached the handler; the refusal's code if nobody did.
  std::string Ask(kube::HttpRequest request) {
    last_ = std::make_shared<Recorder>();
    if (!authenticator_) authenticator_.emplace(loop_.clock(), options_, *this_handler_);
    authenticator_->Handle(std::move(request), last_);
    if (last_->refusal) {
      return fmt::format("{} {}", last_->refusal->status, last_->refusal->body);
    }
    last_->request = std::exchange(this_handler_->request, std::nullopt);
    return last_->request ? last_->request->user->name : "nothing";
  }
  std::string AskWith(std::string_view header, std::string value, std::string target = "/api") {
    kube::HttpRequest request;
    request.target = std::move(target);
    request.headers.Add(header, std::move(value));
    return Ask(std::move(request));
  }
  const kube::UserInfo& user() const { return *last_->request->user; }

  ServiceAccountTokens::Claims ClaimsForAnHour() const {
    return {.ns = "kube-system",
            .name = "builder",
            .uid = "u-1",
            .audiences = {},
            .issued = loop_.clock().Now(),
            .expires = loop_.clock().Now() + 1h};
  }

  VirtualLoop loop_;
  std::unique_ptr<ServiceAccountTokens> tokens_;
  Authenticator::Options options_;
  std::shared_ptr<Recorder> this_handler_ = std::make_shared<Recorder>();
  std::optional<Authenticator> authenticator_;
  std::shared_ptr<Recorder> last_;
};

TEST_F(AuthenticationTest, NobodyMayAskForHealthAndVersionOnly) {
  for (const char* target : {"/healthz", "/livez", "/readyz", "/version", "/livez/ping",
                             "/readyz?verbose", "/version?timeout=32s"}) {
    kube::HttpRequest request;
    request.target = target;
    EXPECT_EQ(Ask(request), "system:anonymous") << target;
    EXPECT_THAT(user().groups, ElementsAre("system:unauthenticated"));
  }
  for (const char* target : {"/", "/api", "/apis", "/metrics", "/versions", "/healthzz",
                             "/openapi/v2", "/api/v1/nodes?x=/healthz", "/../healthz"}) {
    kube::HttpRequest request;
    request.target = target;
    const std::string answer = Ask(request);
    EXPECT_THAT(answer, HasSubstr("401 ")) << target;
    EXPECT_THAT(answer, HasSubstr(R"("reason":"Unauthorized")"));
    EXPECT_THAT(answer, HasSubstr(R"("message":"Unauthorized")"));
  }
}

TEST_F(AuthenticationTest, KnowsStaticTokens) {
  EXPECT_EQ(AskWith("Authorization", "Bearer s3cret"), "kubernetes-admin");
  EXPECT_THAT(user().groups, ElementsAre("system:masters", "system:authenticated"));
  EXPECT_EQ(AskWith("authorization", "bearer jane-token"), "jane");
  EXPECT_EQ(user().uid, "7");
  EXPECT_THAT(user().groups, ElementsAre("dev", "system:authenticated"));
}

TEST_F(AuthenticationTest, AWrongTokenIsRefusedEvenWhereNobodyMayAsk) {
  for (const char* value : {"Bearer wrong", "Bearer s3cre", "Bearer s3cret2", "Bearer ", "Bearer",
                            "Basic czNjcmV0", "s3cret", "Bearer a.b.c"}) {
    EXPECT_THAT(AskWith("Authorization", value), HasSubstr("401 ")) << value;
    EXPECT_THAT(AskWith("Authorization", value, "/healthz"), HasSubstr("401 ")) << value;
  }
}

TEST_F(AuthenticationTest, AVerifiedCertificateComesFirst) {
  kube::HttpRequest request;
  request.target = "/api";
  request.user = kube::UserInfo{"koordlet", "", {"system:nodes"}, {}};
  request.headers.Add("Authorization", "Bearer wrong");
  EXPECT_EQ(Ask(request), "koordlet");
  EXPECT_THAT(user().groups, ElementsAre("system:nodes", "system:authenticated"));
}

TEST_F(AuthenticationTest, AServiceAccountProvesItselfWithItsToken) {
  auto claims = ClaimsForAnHour();
  claims.bound_to = ServiceAccountTokens::BoundObject{"Pod", "p", "u-2"};
  const std::string token = *tokens_->Issue(claims);
  for (int i = 0; i < 2; ++i) {  // the second time it is remembered
    EXPECT_EQ(AskWith("Authorization", "Bearer " + token),
              "system:serviceaccount:kube-system:builder");
    EXPECT_EQ(user().uid, "u-1");
    EXPECT_THAT(user().groups,
                ElementsAre("system:serviceaccounts", "system:serviceaccounts:kube-system",
                            "system:authenticated"));
    EXPECT_THAT(user().extra,
                Contains(Pair("authentication.kubernetes.io/pod-name", ElementsAre("p"))));
    EXPECT_THAT(user().extra,
                Contains(Pair("authentication.kubernetes.io/pod-uid", ElementsAre("u-2"))));
  }
}

TEST_F(AuthenticationTest, ATokenEndsWithItsTimeAlsoWhenRemembered) {
  const std::string token = *tokens_->Issue(ClaimsForAnHour());
  EXPECT_THAT(AskWith("Authorization", "Bearer " + token), HasSubstr("builder"));
  loop_.Advance(1h);
  EXPECT_THAT(AskWith("Authorization", "Bearer " + token), HasSubstr("401 "));
}

TEST_F(AuthenticationTest, ATokenEndsWithItsAccount) {
  bool exists = true;
  options_.is_valid = [&](const ServiceAccountTokens::Claims& claims) {
    return exists && claims.uid == "u-1";
  };
  const std::string token = *tokens_->Issue(ClaimsForAnHour());
  EXPECT_THAT(AskWith("Authorization", "Bearer " + token), HasSubstr("builder"));
  exists = false;
  EXPECT_THAT(AskWith("Authorization", "Bearer " + token), HasSubstr("401 "));
}

TEST_F(AuthenticationTest, ReviewsATokenAsItsRequestsAreSeen) {
  Ask({});
  const auto builder = authenticator_->Review(*tokens_->Issue(ClaimsForAnHour()));
  ASSERT_TRUE(builder.ok()) << builder.status();
  EXPECT_EQ(builder->name, "system:serviceaccount:kube-system:builder");
  EXPECT_EQ(builder->uid, "u-1");
  EXPECT_THAT(builder->groups,
              ElementsAre("system:serviceaccounts", "system:serviceaccounts:kube-system",
                          "system:authenticated"));
  EXPECT_EQ(authenticator_->Review("jane-token")->name, "jane");
  EXPECT_FALSE(authenticator_->Review("made up").ok());
}

TEST_F(AuthenticationTest, ATokenForAnotherAudienceIsRefused) {
  auto claims = ClaimsForAnHour();
  claims.audiences = {"vault"};
  EXPECT_THAT(AskWith("Authorization", "Bearer " + *tokens_->Issue(claims)), HasSubstr("401 "));
  claims.audiences = {"vault", std::string(ServiceAccountTokens::kDefaultAudience)};
  EXPECT_THAT(AskWith("Authorization", "Bearer " + *tokens_->Issue(claims)), HasSubstr("builder"));
}

TEST_F(AuthenticationTest, AlteredAndForeignTokensAreRefused) {
  const auto now = loop_.clock().Now();
  const std::string token = *tokens_->Issue(ClaimsForAnHour());
  const std::vector<std::string_view> parts = Split(token, '.');
  ASSERT_EQ(parts.size(), 3u);
  auto masters = ClaimsForAnHour();
  masters.name = "other";
  const std::string foreign =
      *(*ServiceAccountTokens::Make(*kube::GenerateKey()))->Issue(ClaimsForAnHour());
  const std::string other = *tokens_->Issue(masters);
  const std::string_view other_payload = Split(other, '.')[1];
  const std::string none = Base64UrlEncode(R"({"alg":"none","typ":"JWT"})");
  for (const std::string& bad :
       {foreign, fmt::format("{}.{}.{}", parts[0], other_payload, parts[2]),
        fmt::format("{}.{}.", none, parts[1]), fmt::format("{}.{}.{}", none, parts[1], parts[2]),
        fmt::format("{}.{}", parts[0], parts[1]), token + "A", token + ".x", std::string("..")}) {
    EXPECT_EQ(tokens_->Verify(bad, now).status().code(), absl::StatusCode::kUnauthenticated) << bad;
  }
  EXPECT_TRUE(tokens_->Verify(token, now).ok());
  EXPECT_EQ(tokens_->Verify(token, now - 1h).status().code(), absl::StatusCode::kUnauthenticated)
      << "not valid yet";
}

TEST_F(AuthenticationTest, TokensCarryTheClaimsThatClientsRead) {
  auto claims = ClaimsForAnHour();
  claims.id = "t-1";
  const std::string token = *tokens_->Issue(claims);
  const auto payload = kube::ParseJson(*Base64UrlDecode(Split(token, '.')[1]));
  ASSERT_TRUE(payload.ok());
  EXPECT_EQ(kube::FindString(*payload, {"sub"}), "system:serviceaccount:kube-system:builder");
  EXPECT_EQ(kube::FindString(*payload, {"kubernetes.io", "namespace"}), "kube-system");
  EXPECT_EQ(kube::FindString(*payload, {"kubernetes.io", "serviceaccount", "name"}), "builder");
  EXPECT_EQ(kube::FindString(*payload, {"kubernetes.io", "serviceaccount", "uid"}), "u-1");
  EXPECT_EQ(kube::FindInt(*payload, {"exp"}) - kube::FindInt(*payload, {"iat"}), 3600);
  EXPECT_EQ(kube::FindInt(*payload, {"nbf"}), kube::FindInt(*payload, {"iat"}));
  EXPECT_EQ(kube::FindString(*payload, {"jti"}), "t-1");
  ASSERT_NE(kube::FindArray(*payload, {"aud"}), nullptr);
}

TEST_F(AuthenticationTest, AMasterMayActAsSomebodyElse) {
  kube::HttpRequest request;
  request.target = "/api";
  request.headers.Add("Authorization", "Bearer s3cret");
  request.headers.Add("Impersonate-User", "jane");
  request.headers.Add("Impersonate-Group", "dev");
  request.headers.Add("Impersonate-Group", "ops");
  request.headers.Add("Impersonate-Uid", "9");
  request.headers.Add("Impersonate-Extra-Acme.com%2fproject", "some-project");
  request.headers.Add("Impersonate-Extra-Scopes", "view");
  EXPECT_EQ(Ask(request), "jane");
  EXPECT_EQ(user().uid, "9");
  EXPECT_THAT(user().groups, ElementsAre("dev", "ops", "system:authenticated"));
  EXPECT_THAT(user().extra,
              UnorderedElementsAre(Pair("acme.com/project", ElementsAre("some-project")),
                                   Pair("scopes", ElementsAre("view"))));
}

TEST_F(AuthenticationTest, ImpersonationKnowsTheGroupsOfServiceAccountsAndOfNobody) {
  kube::HttpRequest request;
  request.target = "/api";
  request.headers.Add("Authorization", "Bearer s3cret");
  kube::HttpRequest nobody = request;
  request.headers.Add("Impersonate-User", "system:serviceaccount:ns:sa");
  EXPECT_EQ(Ask(request), "system:serviceaccount:ns:sa");
  EXPECT_THAT(user().groups, ElementsAre("system:serviceaccounts", "system:serviceaccounts:ns",
                                         "system:authenticated"));
  nobody.headers.Add("Impersonate-User", "system:anonymous");
  EXPECT_EQ(Ask(nobody), "system:anonymous");
  EXPECT_THAT(user().groups, ElementsAre("system:unauthenticated"));
}

TEST_F(AuthenticationTest, OthersMayNotImpersonate) {
  kube::HttpRequest request;
  request.target = "/api";
  request.headers.Add("Authorization", "Bearer jane-token");
  request.headers.Add("impersonate-user", "kubernetes-admin");
  request.headers.Add("impersonate-group", "system:masters");
  const std::string answer = Ask(request);
  EXPECT_THAT(answer, HasSubstr("403 "));
  EXPECT_THAT(
      answer,
      HasSubstr(R"(users \"kubernetes-admin\" is forbidden: User \"jane\" cannot impersonate )"
                R"(resource \"users\" in API group \"\" at the cluster scope)"));
  kube::HttpRequest open;
  open.target = "/healthz";
  open.headers.Add("Impersonate-User", "kubernetes-admin");
  EXPECT_THAT(Ask(open), HasSubstr("403 "));
  kube::HttpRequest nameless;
  nameless.target = "/api";
  nameless.headers.Add("Authorization", "Bearer s3cret");
  nameless.headers.Add("Impersonate-Group", "dev");
  EXPECT_THAT(Ask(nameless), HasSubstr("400 "));
}

TEST(TokenFileTest, ReadsLines) {
  const auto tokens = ParseTokenFile(
      "# comment\n\nt1,jane,7,\"dev,ops\"\r\nt2,joe,8\n\"t,3\",\"a \"\"b\"\"\",,one\n");
  ASSERT_TRUE(tokens.ok()) << tokens.status();
  ASSERT_EQ(tokens->size(), 3u);
  EXPECT_EQ((*tokens)[0].token, "t1");
  EXPECT_EQ((*tokens)[0].user.name, "jane");
  EXPECT_EQ((*tokens)[0].user.uid, "7");
  EXPECT_THAT((*tokens)[0].user.groups, ElementsAre("dev", "ops"));
  EXPECT_THAT((*tokens)[1].user.groups, IsEmpty());
  EXPECT_EQ((*tokens)[2].token, "t,3");
  EXPECT_EQ((*tokens)[2].user.name, "a \"b\"");
}

TEST(TokenFileTest, ErrorsNameTheLine) {
  for (const char* text :
       {"t1,jane,7\nt2,joe\n", "t1,jane,7\n,joe,8", "t1,jane,7\nt2,joe,8,\"dev"}) {
    const auto tokens = ParseTokenFile(text);
    EXPECT_THAT(std::string(Message(tokens.status())), HasSubstr("line 2")) << text;
  }
}

TEST(ServiceAccountTokensTest, NeedsAKeyOfTheRightKind) {
  EXPECT_FALSE(ServiceAccountTokens::Make("").ok());
  EXPECT_FALSE(ServiceAccountTokens::Make("-----BEGIN PRIVATE KEY-----\nAAAA\n").ok());
}

}  // namespace
}  // namespace koord::apiserver::authentication_test
