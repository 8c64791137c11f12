// On real sockets.
#include "program/component_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/log.h"
#include "base/temp_dir.h"
#include "kube/serving/x509.h"
#include "kube/transport/http_transport.h"
#include "kube/transport/in_process_transport.h"
#include "program/component_api.h"
#include "program/serving_identity.h"

namespace koord::program::component_server_test {
namespace {

using kube::CertificateUse;
using kube::KeyPair;
using ::testing::HasSubstr;
using ::testing::Not;

// The API server's part: knows one token, allows everything to its owner, and publishes a CA.
class Cluster final : public kube::HttpHandler {
 public:
  void Handle(kube::HttpRequest request, std::shared_ptr<kube::ResponseWriter> response) override {
    if (broken) return response->Finish(TextResponse(500, "cannot store " + request.body));
    const kube::Json sent = kube::ParseJson(request.body).value_or(kube::Json());
    kube::Json answer;
    if (request.target.ends_with("/tokenreviews")) {
      answer = {{"status",
                 {{"authenticated", kube::FindString(sent, {"spec", "token"}) == "good"},
                  {"user", {{"username", "prometheus"}}}}}};
    } else if (request.target.ends_with("/subjectaccessreviews")) {
      const auto user = kube::FindString(sent, {"spec", "user"});
      answer = {{"status", {{"allowed", user == "prometheus" || user == "jane"}}}};
    } else {
      EXPECT_EQ(request.target,
                "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication");
      answer = {{"data", {{"client-ca-file", client_ca}}}};
      ++lookups;
    }
    response->Finish(JsonResponse(200, answer));
  }

  std::string client_ca;
  int lookups = 0;
  bool broken = false;
};

class ComponentServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    log::SetSink([this](std::string_view line) { log_ += std::string(line) + "\n"; });
    api_.AddRoute("GET", "/whoami", [](const RouteRequest& request) {
      return TextResponse(200, request.http.user ? request.http.user->name : "nobody");
    });
  }
  void TearDown() override { log::SetSink(nullptr); }

  void Start(SecureServingOptions options = {}) {
    options.address = "127.0.0.1";
    auto server =
        ComponentServer::Start(loop_, api_, client_, ComponentServer::Plain{"127.0.0.1"},
                               ComponentServer::Secure{"koord-scheduler", std::move(options)});
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = std::move(*server);
  }

  template <class Predicate>
  bool Wait(Predicate done) {
    const SteadyTime deadline = loop_.clock().Steady() + 30s;
    while (!done() && loop_.clock().Steady() < deadline) loop_.RunOnce(1s);
    return done();
  }

  // Asks over the network; 0 if there is no answer.
  kube::HttpResponse Get(const kube::ClientConfig& config, const std::string& target) {
    return Send(config, {.target = target});
  }
  kube::HttpResponse Send(const kube::ClientConfig& config, const kube::HttpRequest& request) {
    const auto transport = kube::HttpTransport::Make(loop_, config);
    std::optional<kube::HttpResponse> answer;
    (*transport)->Send(request, 20s, [&](StatusOr<kube::HttpResponse> response) {
      answer = response.ok() ? *response
                             : kube::HttpResponse{.status = 0,
                                                  .body = std::string(Message(response.status()))};
    });
    EXPECT_TRUE(Wait([&] { return answer.has_value(); }));
    return answer.value_or(kube::HttpResponse{.status = 0});
  }
  kube::ClientConfig Plain() const {
    return {.server = fmt::format("http://127.0.0.1:{}", server_->plain_port())};
  }
  kube::ClientConfig Secure(std::string token = "") const {
    kube::ClientConfig config;
    config.server = fmt::format("https://127.0.0.1:{}", server_->secure_port());
    config.insecure_skip_tls_verify = true;
    config.token = std::move(token);
    return config;
  }
  KeyPair Issue(CertificateUse use, const std::string& name, const KeyPair* issuer,
                std::vector<std::string> names = {}) {
    kube::CertificateRequest request;
    request.use = use;
    request.common_name = name;
    request.names = std::move(names);
    request.from = loop_.clock().Now() - 1h;
    request.until = loop_.clock().Now() + 1h;
    return *kube::IssueCertificate(request, issuer);
  }
  std::string Write(const std::string& name, const std::string& text) {
    std::ofstream(directory_.File(name)) << text;
    return directory_.File(name);
  }

  AsioLoop loop_;
  Cluster cluster_;
  kube::Client client_{loop_, std::make_shared<kube::InProcessTransport>(loop_, cluster_), {}};
  ComponentApi api_;
  TempDir directory_;
  std::string log_;
  std::unique_ptr<ComponentServer> server_;
};

TEST_F(ComponentServerTest, ThePlainPortTellsEverybodyOfHealthAlone) {
  Start();
  EXPECT_EQ(Get(Plain(), "/healthz").body, "ok");
  for (const char* path : {"/metrics", "/whoami", "/debug/flags/v", "/configz"}) {
    EXPECT_EQ(Get(Plain(), path).status, 403) << path;
  }
}

TEST_F(ComponentServerTest, ThePlainPortTellsOfMetricsIfToldTo) {
  server_ = std::move(*ComponentServer::Start(
      loop_, api_, client_, ComponentServer::Plain{"127.0.0.1", 0, {.metrics = true}}, {}));
  EXPECT_THAT(Get(Plain(), "/metrics").body, HasSubstr("process_cpu_seconds_total"));
  EXPECT_EQ(Get(Plain(), "/whoami").status, 403);
}

TEST_F(ComponentServerTest, ATokenMayComeThroughTheApiServersProxy) {
  Start();
  kube::HttpRequest request{.target = "/whoami"};
  request.headers.Add(kForwardedTokenHeader, "good");
  EXPECT_EQ(Send(Secure(), request).body, "prometheus");
  request.headers.Set(kForwardedTokenHeader, "bad");
  EXPECT_EQ(Send(Secure(), request).status, 401);
}

TEST_F(ComponentServerTest, TheSecurePortReadsNoBodyOfStrangers) {
  std::string set;
  api_.AddDebugFlag("x", [&](std::string_view value) -> StatusOr<std::string> {
    set = value;
    return "done";
  });
  Start();
  const auto put = [&](const std::string& token) {
    return Send(Secure(token), {.method = "PUT", .target = "/debug/flags/x", .body = "3"}).status;
  };
  EXPECT_EQ(put("bad"), 401);
  EXPECT_EQ(put(""), 403);
  EXPECT_EQ(set, "");
  EXPECT_EQ(put("good"), 200);
  EXPECT_EQ(set, "3");
}

TEST_F(ComponentServerTest, ProbesMayCallItByAnyAddress) {
  server_ = std::move(
      *ComponentServer::Start(loop_, api_, client_, ComponentServer::Plain{"0.0.0.0"}, {}));
  const std::string url = fmt::format("http://127.0.0.2:{}", server_->plain_port());
  EXPECT_EQ(Get({.server = url}, "/healthz").body, "ok");
  EXPECT_EQ(server_->secure_port(), 0);
}

TEST_F(ComponentServerTest, TheSecurePortAsksWhoYouAre) {
  Start();
  EXPECT_EQ(Get(Secure(), "/healthz").body, "ok");
  EXPECT_EQ(Get(Secure(), "/metrics").status, 403);
  EXPECT_EQ(Get(Secure("bad"), "/metrics").status, 401);
  EXPECT_EQ(Get(Secure("good"), "/metrics").status, 200);
  EXPECT_EQ(Get(Secure("good"), "/whoami").body, "prometheus");
}

TEST_F(ComponentServerTest, TokensAreNotLogged) {
  log::SetVerbosity(10);
  Start();
  Get(Secure("good-t0ken"), "/metrics?token=in-the-qu3ry");
  cluster_.broken = true;
  EXPECT_EQ(Get(Secure("bad-t0ken"), "/metrics").status, 401);
  log::SetVerbosity(0);
  EXPECT_THAT(log_, HasSubstr("Cannot check a token"));
  EXPECT_THAT(log_, Not(HasSubstr("t0ken")));
  EXPECT_THAT(log_, Not(HasSubstr("qu3ry")));
}

TEST_F(ComponentServerTest, ACertificateOfTheClustersCaDoes) {
  const KeyPair ca = Issue(CertificateUse::kAuthority, "ca", nullptr);
  const KeyPair jane = Issue(CertificateUse::kClient, "jane", &ca);
  cluster_.client_ca = ca.certificate;
  Start();
  ASSERT_TRUE(Wait([&] { return cluster_.lookups == 1; }));
  ASSERT_TRUE(Wait([&] { return log_.find("Using new certificates") != log_.npos; }));
  kube::ClientConfig config = Secure();
  config.client_certificate_data = jane.certificate;
  config.client_key_data = jane.key;
  EXPECT_EQ(Get(config, "/whoami").body, "jane");
  const KeyPair stranger = Issue(CertificateUse::kClient, "jane", nullptr);
  config.client_certificate_data = stranger.certificate;
  config.client_key_data = stranger.key;
  EXPECT_EQ(Get(config, "/whoami").status, 403) << "anybody can call himself jane";
}

TEST_F(ComponentServerTest, ACaFileDoesWithoutLookup) {
  const KeyPair ca = Issue(CertificateUse::kAuthority, "ca", nullptr);
  const KeyPair jane = Issue(CertificateUse::kClient, "jane", &ca);
  Start({.client_ca_file = Write("ca.crt", ca.certificate), .skip_lookup = true});
  kube::ClientConfig config = Secure();
  config.client_certificate_data = jane.certificate;
  config.client_key_data = jane.key;
  EXPECT_EQ(Get(config, "/whoami").body, "jane");
  EXPECT_EQ(cluster_.lookups, 0);
}

TEST_F(ComponentServerTest, CertificateFilesAreReadAgain) {
  const KeyPair old_ca = Issue(CertificateUse::kAuthority, "old", nullptr);
  const KeyPair new_ca = Issue(CertificateUse::kAuthority, "new", nullptr);
  const KeyPair first = Issue(CertificateUse::kServer, "s", &old_ca, {"127.0.0.1"});
  const KeyPair second = Issue(CertificateUse::kServer, "s", &new_ca, {"127.0.0.1"});
  Start({.certificate_file = Write("tls.crt", first.certificate),
         .key_file = Write("tls.key", first.key),
         .skip_lookup = true});
  kube::ClientConfig trusts_old = Secure(), trusts_new = Secure();
  trusts_old.insecure_skip_tls_verify = trusts_new.insecure_skip_tls_verify = false;
  trusts_old.ca_data = old_ca.certificate;
  trusts_new.ca_data = new_ca.certificate;
  EXPECT_EQ(Get(trusts_old, "/healthz").status, 200);
  EXPECT_EQ(Get(trusts_new, "/healthz").status, 0);

  Write("tls.crt", second.certificate);
  server_->CheckCertificates();
  EXPECT_THAT(log_, HasSubstr("Cannot use new certificates")) << "the key is still the old one";
  EXPECT_EQ(Get(trusts_old, "/healthz").status, 200);
  Write("tls.key", second.key);
  server_->CheckCertificates();
  EXPECT_EQ(Get(trusts_new, "/healthz").status, 200);
  EXPECT_EQ(Get(trusts_old, "/healthz").status, 0);
}

TEST_F(ComponentServerTest, WhatCannotWorkIsAClearError) {
  const auto start = [&](const SecureServingOptions& options) {
    return std::string(
        Message(ComponentServer::Start(loop_, api_, client_, {},
                                       ComponentServer::Secure{"koord-scheduler", options})
                    .status()));
  };
  EXPECT_THAT(start({.address = "127.0.0.1", .certificate_file = "/none.crt", .key_file = "/n"}),
              HasSubstr("/none.crt"));
  EXPECT_THAT(start({.address = "127.0.0.1",
                     .certificate_file = Write("a", "garbage"),
                     .key_file = Write("b", "garbage")}),
              HasSubstr("the serving certificate cannot be used for TLS"));
  Start();
  const auto taken = ComponentServer::Start(
      loop_, api_, client_, ComponentServer::Plain{"127.0.0.1", server_->plain_port()}, {});
  EXPECT_THAT(std::string(Message(taken.status())), HasSubstr("Address already in use"));
}

TEST_F(ComponentServerTest, Stops) {
  Start();
  const kube::ClientConfig plain = Plain(), secure = Secure();
  bool stopped = false;
  server_->Stop([&] { stopped = true; });
  EXPECT_TRUE(Wait([&] { return stopped; }));
  EXPECT_EQ(Get(plain, "/healthz").status, 0);
  EXPECT_EQ(Get(secure, "/healthz").status, 0);
}

TEST(ServingIdentityTest, ItsOwnCertificateIsMadeAnewInTime) {
  ServingIdentity identity({.program = "koord-scheduler", .names = {"localhost"}});
  const WallTime start = SystemClock().Now();
  const auto first = identity.Current(start);
  ASSERT_TRUE(first.ok()) << first.status();
  const auto facts = kube::Inspect({first->certificate, first->key});
  EXPECT_THAT(facts->names, testing::ElementsAre("localhost"));
  EXPECT_EQ(*identity.Current(start + std::chrono::hours(24 * 200)), *first);
  EXPECT_NE(*identity.Current(start + std::chrono::hours(24 * 300)), *first);
  EXPECT_EQ(identity.Current(start, "more")->client_ca, "more");
}

}  // namespace
}  // namespace koord::program::component_server_test
