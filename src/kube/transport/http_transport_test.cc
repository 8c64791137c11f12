#include "kube/transport/http_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>

#include "kube/transport/http_transport_testing.h"

namespace koord::kube::http_transport_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(HttpTransportTest, CarriesARequestAndItsAnswer) {
  ServePlain();
  ClientConfig config = PlainConfig();
  config.server += "/prefix/";
  Connect(config);
  HttpRequest request;
  request.method = "PATCH";
  request.target = "/api/v1/pods?x=y";
  request.headers.Set("Content-Type", "application/json");
  request.body = "{}";
  transport_->Send(request, 30s, [this](auto answer) { answers_.push_back(std::move(answer)); });
  EXPECT_TRUE(answers_.empty());
  auto exchange = Next();
  EXPECT_EQ(exchange.request.method, "PATCH");
  EXPECT_EQ(exchange.request.target, "/prefix/api/v1/pods?x=y");
  EXPECT_EQ(exchange.request.body, "{}");
  EXPECT_EQ(exchange.request.headers.Get("Content-Type"), "application/json");
  EXPECT_EQ(exchange.request.headers.Get("Host"), "127.0.0.1:" + server_->port());
  EXPECT_EQ(exchange.request.headers.Get("Authorization"), "");
  Headers headers;
  headers.Set("Retry-After", "3");
  exchange.Answer(429, "busy", headers);
  const auto answer = Answer();
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->status, 429);
  EXPECT_EQ(answer->body, "busy");
  EXPECT_EQ(answer->headers.Get("retry-after"), "3");
}

TEST_F(HttpTransportTest, KeepsConnectionsForTheNextRequest) {
  ServeTls();
  Connect(TlsConfig());
  for (int i = 0; i < 5; ++i) {
    Send("POST", "/" + std::to_string(i));
    Next().Answer(200, "ok");
    EXPECT_TRUE(Answer().ok());
  }
  EXPECT_EQ(server_->accepted(), 1u);
}

TEST_F(HttpTransportTest, ReplacesAConnectionThatTheServerHasClosed) {
  ServeTls();
  Connect(TlsConfig());
  Send("POST", "/1");
  Next().Answer(200, "ok");
  EXPECT_TRUE(Answer().ok());
  server_->CloseConnections();
  Send("POST", "/2");
  Next().Answer(200, "ok");
  EXPECT_TRUE(Answer().ok());
  EXPECT_EQ(server_->accepted(), 2u);
}

TEST_F(HttpTransportTest, ClosesIdleConnections) {
  ServePlain();
  HttpTransport::Options options;
  options.idle_timeout = 20ms;
  Connect(PlainConfig(), options);
  Send("GET", "/");
  Next().Answer(200, "ok");
  EXPECT_TRUE(Answer().ok());
  EXPECT_TRUE(RunUntil([&] { return server_->open() == 0; }));
}

TEST_F(HttpTransportTest, WaitsForAConnectionBeyondTheLimit) {
  ServePlain();
  HttpTransport::Options options;
  options.max_connections = 2;
  Connect(PlainConfig(), options);
  for (int i = 0; i < 4; ++i) Send("GET", "/" + std::to_string(i));
  auto first = Next();
  auto second = Next();
  Open("/watch");  // not held up by the others
  auto watch = Next();
  EXPECT_EQ(watch.request.target, "/watch");
  EXPECT_EQ(handler_.waiting(), 0u);
  first.Answer(200, "");
  EXPECT_EQ(Next().request.target, "/2");
  second.Answer(200, "");
  EXPECT_EQ(Next().request.target, "/3");
  EXPECT_EQ(server_->accepted(), 3u);
}

TEST_F(HttpTransportTest, StreamsAWatch) {
  ServeTls();
  Connect(TlsConfig());
  Open("/watch");
  auto watch = Next();
  watch.StartWatch();
  EXPECT_TRUE(RunUntil([&] { return !heads_.empty(); }));
  EXPECT_THAT(heads_, ElementsAre("200"));
  watch.Write("one\n");
  EXPECT_TRUE(RunUntil([&] { return text_ == "one\n"; }));
  const std::string large(300'000, 'x');
  watch.Write(large);
  watch.Write("three\n");
  EXPECT_TRUE(RunUntil([&] { return text_ == "one\n" + large + "three\n"; }));
  watch.End();
  EXPECT_TRUE(RunUntil([&] { return end_.has_value(); }));
  EXPECT_TRUE(end_->ok());
}

TEST_F(HttpTransportTest, ARefusedWatchArrivesWithItsBody) {
  ServePlain();
  Connect(PlainConfig());
  ExpectThatARefusedWatchArrivesWithItsBody();
}

TEST_F(HttpTransportTest, AServerThatClosesInTheMiddleBreaksTheStream) {
  ServeTls();
  Connect(TlsConfig());
  Open("/watch");
  auto watch = Next();
  watch.StartWatch();
  watch.Write("half");
  EXPECT_TRUE(RunUntil([&] { return text_ == "half"; }));
  watch.Drop();
  EXPECT_TRUE(RunUntil([&] { return end_.has_value(); }));
  EXPECT_TRUE(absl::IsUnavailable(*end_));
  EXPECT_FALSE(WasNotSent(*end_));
}

TEST_F(HttpTransportTest, AServerThatClosesInTheMiddleOfAnAnswerFailsTheCall) {
  ServePlain();
  Connect(PlainConfig());
  Send("POST", "/");
  auto exchange = Next();
  exchange.StartWatch();
  exchange.Write("half");
  exchange.Drop();
  EXPECT_THAT(AnswerError(), HasSubstr("closed the connection before the answer was complete"));
}

TEST_F(HttpTransportTest, ClosingAStreamClosesItsConnection) {
  ServePlain();
  Connect(PlainConfig());
  Open("/watch");
  auto watch = Next();
  watch.StartWatch();
  EXPECT_TRUE(RunUntil([&] { return !heads_.empty(); }));
  stream_ = nullptr;
  EXPECT_TRUE(RunUntil([&] { return watch.disconnected(); }));
  EXPECT_FALSE(end_.has_value());
}

TEST_F(HttpTransportTest, AStreamMayBeClosedFromWithin) {
  ServePlain();
  Connect(PlainConfig());
  ExpectThatAStreamMayBeClosedFromWithin();
}

TEST_F(HttpTransportTest, TimesOutAndCancels) {
  ServePlain();
  Connect(PlainConfig());
  Send("POST", "/", 50ms);
  auto slow = Next();
  EXPECT_TRUE(absl::IsDeadlineExceeded(Answer().status()));
  EXPECT_TRUE(RunUntil([&] { return slow.disconnected(); }));

  auto call = Send("POST", "/");
  auto cancelled = Next();
  call->Cancel();
  EXPECT_TRUE(RunUntil([&] { return cancelled.disconnected(); }));
  EXPECT_TRUE(answers_.empty());
}

TEST_F(HttpTransportTest, DestroyingTheTransportEndsEverythingSilently) {
  ServePlain();
  Connect(PlainConfig());
  Send("POST", "/");
  auto exchange = Next();
  Open("/watch");
  auto watch = Next();
  transport_ = nullptr;
  EXPECT_TRUE(RunUntil([&] { return exchange.disconnected() && watch.disconnected(); }));
  EXPECT_TRUE(answers_.empty());
  EXPECT_FALSE(end_.has_value());
}

TEST_F(HttpTransportTest, SaysWhenNobodyListens) {
  ServePlain();
  const ClientConfig config = PlainConfig();
  server_ = nullptr;
  Connect(config);
  Send("POST", "/");
  const Status status = Answer().status();
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_TRUE(WasNotSent(status));
  EXPECT_THAT(std::string(Message(status)),
              AllOf(HasSubstr("cannot connect to 127.0.0.1:"), HasSubstr("Connection refused")));
}

TEST_F(HttpTransportTest, LimitsTheTimeOfAHandshake) {
  ServeTls();
  server_->PlayDead(true);
  HttpTransport::Options options;
  options.timeouts.handshake = 1s;
  Connect(TlsConfig(), options);
  Send("POST", "/");
  EXPECT_THAT(AnswerError(), HasSubstr("the TLS handshake took longer than 1 s"));
}

TEST_F(HttpTransportTest, RefusesAnAnswerThatIsTooLarge) {
  ServePlain();
  HttpTransport::Options options;
  options.max_answer = 1000;
  Connect(PlainConfig(), options);
  Send("GET", "/");
  Next().Answer(200, std::string(1001, 'x'));
  EXPECT_THAT(AnswerError(), HasSubstr("larger than this client accepts"));
}

// ---- TLS ----

TEST_F(HttpTransportTest, RefusesAServerOfAnotherAuthority) {
  ServeTls();
  ClientConfig config = TlsConfig();
  config.ca_data = TestAuthority("somebody else").pem();
  Connect(config);
  Send("POST", "/");
  const Status status = Answer().status();
  EXPECT_TRUE(WasNotSent(status));
  EXPECT_THAT(std::string(Message(status)), HasSubstr("certificate is not acceptable"));
  EXPECT_EQ(handler_.waiting(), 0u);
}

TEST_F(HttpTransportTest, RefusesAServerOfAnotherName) {
  for (const char* name : {"kubernetes.default", "127.0.0.2"}) {
    ServeTls({name});
    Connect(TlsConfig());
    Send("POST", "/");
    EXPECT_THAT(AnswerError(), HasSubstr("not acceptable for 127.0.0.1")) << name;
  }
}

TEST_F(HttpTransportTest, VerifiesTheConfiguredServerName) {
  ServeTls({"kubernetes.default"});
  ClientConfig config = TlsConfig();
  config.tls_server_name = "kubernetes.default";
  Connect(config);
  Send("POST", "/");
  Next().Answer(200, "");
  EXPECT_TRUE(Answer().ok());
  config.tls_server_name = "other";
  Connect(config);
  Send("POST", "/");
  EXPECT_THAT(AnswerError(), HasSubstr("not acceptable for other"));
}

TEST_F(HttpTransportTest, AcceptsAnyServerOnlyWhenToldTo) {
  ServeTls({"other"});
  ClientConfig config = TlsConfig();
  config.ca_data = "";
  config.insecure_skip_tls_verify = true;
  Connect(config);
  Send("POST", "/");
  Next().Answer(200, "");
  EXPECT_TRUE(Answer().ok());
}

TEST_F(HttpTransportTest, ShowsItsCertificateAndLoadsItAnewWhenItChanges) {
  const TestAuthority clients("clients");
  ServeTls({"127.0.0.1"}, clients.pem());
  const PemPair alice = clients.Issue("alice", {});
  ClientConfig config = TlsConfig();
  config.client_certificate_file = WriteFile("cert", alice.certificate);
  config.client_key_file = WriteFile("key", alice.key);
  HttpTransport::Options options;
  options.certificate_check = 20ms;
  Connect(config, options);
  Send("POST", "/");
  auto first = Next();
  ASSERT_TRUE(first.request.user.has_value());
  EXPECT_EQ(first.request.user->name, "alice");
  first.Answer(200, "");
  EXPECT_TRUE(Answer().ok());
  Open("/watch");
  Next().StartWatch();
  EXPECT_TRUE(RunUntil([&] { return !heads_.empty(); }));

  const PemPair bob = clients.Issue("bob", {});
  WriteFile("cert", bob.certificate);  // not usable until its key follows
  WriteFile("key", bob.key);
  EXPECT_TRUE(RunUntil([&] { return end_.has_value(); })) << "the old watch goes on";
  Send("POST", "/");
  auto second = Next();
  ASSERT_TRUE(second.request.user.has_value());
  EXPECT_EQ(second.request.user->name, "bob");
}

TEST_F(HttpTransportTest, RefusesUnusableConfigurations) {
  struct Case {
    std::string name;
    std::function<void(ClientConfig&)> spoil;
    std::string error;
  };
  const PemPair pair = authority_.Issue("x", {});
  const PemPair other = authority_.Issue("y", {});
  const Case cases[] = {
      {"no URL", [](auto& c) { c.server = "https://"; }, "is not a URL"},
      {"scheme", [](auto& c) { c.server = "ftp://x"; }, "must be http or https"},
      {"authority", [](auto& c) { c.ca_data = "junk"; }, "certificate authority is not PEM"},
      {"missing file",
       [](auto& c) {
         c.ca_data = "";
         c.ca_file = "/does/not/exist";
       },
       "/does/not/exist: No such file"},
      {"certificate without key", [&](auto& c) { c.client_certificate_data = pair.certificate; },
       "must be given together"},
      {"another's key",
       [&](auto& c) {
         c.client_certificate_data = pair.certificate;
         c.client_key_data = other.key;
       },
       "does not belong to"},
      {"proxy scheme", [](auto& c) { c.proxy_url = "ftp://p"; }, "must be http, https or socks5"},
      {"proxy without scheme", [](auto& c) { c.proxy_url = "p:80"; },
       "must be http, https or socks5"},
      {"socks", [](auto& c) { c.proxy_url = "socks5://p"; }, "socks5 proxies are not supported"},
      {"token", [](auto& c) { c.token = "a\nb"; }, "spaces or control characters"},
      {"exec version",
       [](auto& c) {
         c.exec.emplace();
         c.exec->command = "x";
         c.exec->api_version = "v0";
       },
       "exec.apiVersion \"v0\" is not supported"},
  };
  ServeTls();
  for (const Case& c : cases) {
    ClientConfig config = TlsConfig();
    c.spoil(config);
    const Status status = HttpTransport::Make(loop_, config).status();
    EXPECT_THAT(std::string(Message(status)), HasSubstr(c.error)) << c.name;
  }
}

TEST_F(HttpTransportTest, GoesThroughAProxy) {
  ServeTls({"cluster.example"});
  TestProxy proxy(loop_, 200);
  ClientConfig config = TlsConfig();
  config.server = "https://cluster.example:" + server_->port();
  config.proxy_url = "http://user:pass@127.0.0.1:" + proxy.port();
  Connect(config);
  for (int i = 0; i < 2; ++i) {
    Send("POST", "/");
    Next().Answer(200, "through");
    EXPECT_EQ(Answer()->body, "through");
  }
  EXPECT_THAT(proxy.requests(),
              ElementsAre("CONNECT cluster.example:" + server_->port() + " Basic dXNlcjpwYXNz"));
}

TEST_F(HttpTransportTest, SaysWhenTheProxyRefuses) {
  ServeTls();
  TestProxy proxy(loop_, 407);
  ClientConfig config = TlsConfig();
  config.proxy_url = "http://127.0.0.1:" + proxy.port();
  Connect(config);
  Send("POST", "/");
  EXPECT_THAT(AnswerError(), AllOf(HasSubstr("through proxy 127.0.0.1:" + proxy.port()),
                                   HasSubstr("the proxy answered 407")));
}

// ---- who we are ----

TEST_F(HttpTransportTest, SendsTokenPasswordAndImpersonation) {
  ServePlain();
  ClientConfig config = PlainConfig();
  config.token = "secret\n";
  config.impersonate_user = "eve";
  config.impersonate_uid = "7";
  config.impersonate_groups = {"a", "b"};
  config.impersonate_extra = {{"example.com/x", {"1"}}};
  Connect(config);
  Send("GET", "/");
  auto exchange = Next();
  EXPECT_EQ(exchange.request.headers.Get("Authorization"), "Bearer secret");
  std::vector<std::string> impersonation;
  for (const auto& [name, value] : exchange.request.headers) {
    if (name.starts_with("Impersonate")) impersonation.push_back(name + "=" + value);
  }
  EXPECT_THAT(impersonation, testing::UnorderedElementsAre(
                                 "Impersonate-User=eve", "Impersonate-Uid=7", "Impersonate-Group=a",
                                 "Impersonate-Group=b", "Impersonate-Extra-example.com%2Fx=1"));

  config = PlainConfig();
  config.username = "u";
  config.password = "p";
  Connect(config);
  Send("GET", "/");
  EXPECT_EQ(Next().request.headers.Get("Authorization"), "Basic dTpw");
}

TEST_F(HttpTransportTest, ReadsARotatedTokenAtOnceWhenTheOldOneIsRefused) {
  ServePlain();
  ClientConfig config = PlainConfig();
  config.token = "ignored";
  config.token_file = WriteFile("token", "one\n");
  Connect(config);
  Send("POST", "/");
  auto first = Next();
  EXPECT_EQ(first.request.headers.Get("Authorization"), "Bearer one");
  WriteFile("token", "two\n");
  first.Answer(401, "Unauthorized");
  auto second = Next();
  EXPECT_EQ(second.request.headers.Get("Authorization"), "Bearer two");
  EXPECT_EQ(second.request.body, "body");
  second.Answer(201, "made");
  EXPECT_EQ(Answer()->status, 201);

  // The same for a watch.
  Open("/watch");
  auto watch = Next();
  WriteFile("token", "three\n");
  watch.Answer(401, "Unauthorized");
  EXPECT_EQ(Next().request.headers.Get("Authorization"), "Bearer three");
  EXPECT_TRUE(heads_.empty());
}

TEST_F(HttpTransportTest, PassesTheRefusalOnWhenThereIsNoOtherToken) {
  ServePlain();
  ClientConfig config = PlainConfig();
  config.token_file = WriteFile("token", "one");
  Connect(config);
  Send("POST", "/");
  Next().Answer(401, "Unauthorized");
  const auto answer = Answer();
  EXPECT_EQ(answer->status, 401);
  EXPECT_EQ(answer->body, "Unauthorized");
  EXPECT_EQ(handler_.waiting(), 0u);
}

TEST_F(HttpTransportTest, AMissingTokenFileIsNamed) {
  ServePlain();
  ClientConfig config = PlainConfig();
  config.token_file = "/does/not/exist";
  Connect(config);
  Send("GET", "/");
  EXPECT_THAT(AnswerError(), HasSubstr("cannot read the token file /does/not/exist"));
}

// ---- exec programs ----

class ExecTest : public HttpTransportTest {
 protected:
  // A program that writes a line to "runs" and then does what `script` says.
  ClientConfig ExecConfigFor(const std::string& script, std::string version = "v1") {
    ClientConfig config = PlainConfig();
    ExecConfig exec;
    exec.command = WriteFile(
        "plugin", "#!/bin/sh\necho run >> " + (folder_ / "runs").string() + "\n" + script + "\n",
        0700);
    exec.api_version = "client.authentication.k8s.io/" + version;
    exec.interactive_mode = "Never";
    config.exec = exec;
    return config;
  }
  static std::string Print(const std::string& status, const std::string& version = "v1") {
    return R"(echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/)" +
           version + R"(","status":)" + status + "}'";
  }
};

TEST_F(ExecTest, AsksTheProgramOnceForAllThatWaitAndKeepsTheToken) {
  for (const std::string version : {"v1", "v1beta1"}) {
    ServePlain();
    Connect(ExecConfigFor(Print(R"({"token":"t"})", version), version));
    Send("GET", "/1");
    Send("GET", "/2");
    for (int i = 0; i < 2; ++i) {
      auto exchange = Next();
      EXPECT_EQ(exchange.request.headers.Get("Authorization"), "Bearer t");
      exchange.Answer(200, "");
      EXPECT_TRUE(Answer().ok());
    }
    Send("GET", "/3");
    Next().Answer(200, "");
    EXPECT_TRUE(Answer().ok());
    EXPECT_EQ(CountLines("runs"), 1u);
    std::filesystem::remove(folder_ / "runs");
  }
}

TEST_F(ExecTest, AsksAgainWhenTheTokenHasExpiredOrIsRefused) {
  ServePlain();
  Connect(ExecConfigFor(Print(R"({"token":"t","expirationTimestamp":"2020-01-01T00:00:00Z"})")));
  for (int i = 0; i < 2; ++i) {
    Send("GET", "/");
    Next().Answer(200, "");
    EXPECT_TRUE(Answer().ok());
  }
  EXPECT_EQ(CountLines("runs"), 2u);
  std::filesystem::remove(folder_ / "runs");

  Connect(ExecConfigFor("n=$(wc -l < " + (folder_ / "runs").string() + ")\n" +
                        R"(echo "{\"kind\":\"ExecCredential\",\"apiVersion\":)" +
                        R"(\"client.authentication.k8s.io/v1\",\"status\":{\"token\":\"t$n\"}}")"));
  Send("POST", "/");
  auto first = Next();
  EXPECT_EQ(first.request.headers.Get("Authorization"), "Bearer t1");
  first.Answer(401, "");
  auto second = Next();
  EXPECT_EQ(second.request.headers.Get("Authorization"), "Bearer t2");
  second.Answer(401, "");
  EXPECT_EQ(Answer()->status, 401);
  EXPECT_EQ(CountLines("runs"), 2u);
}

TEST_F(ExecTest, TellsTheProgramWhatItNeeds) {
  ServePlain();
  ClientConfig config = ExecConfigFor(
      "echo \"$KUBERNETES_EXEC_INFO\" > " + (folder_ / "info").string() +
      "\necho \"$1 $ADDED\" > " + (folder_ / "args").string() + "\n" + Print(R"({"token":"t"})"));
  config.exec->args = {"get-token"};
  config.exec->env = {{"ADDED", "value"}};
  config.exec->provide_cluster_info = true;
  config.exec->cluster_extension = Json{{"audience", "x"}};
  config.ca_data = "PEM";
  Connect(config);
  Send("GET", "/");
  Next();
  std::ifstream info_file(folder_ / "info");
  const std::string text{std::istreambuf_iterator<char>(info_file), {}};
  const auto info = ParseJson(text);
  ASSERT_TRUE(info.ok()) << text;
  EXPECT_EQ(FindString(*info, {"apiVersion"}), "client.authentication.k8s.io/v1");
  EXPECT_EQ(FindString(*info, {"kind"}), "ExecCredential");
  EXPECT_FALSE(FindBool(*info, {"spec", "interactive"}, true));
  EXPECT_EQ(FindString(*info, {"spec", "cluster", "server"}), config.server);
  EXPECT_EQ(FindString(*info, {"spec", "cluster", "certificate-authority-data"}), "UEVN");
  EXPECT_EQ(FindString(*info, {"spec", "cluster", "config", "audience"}), "x");
  std::ifstream args_file(folder_ / "args");
  std::string line;
  std::getline(args_file, line);
  EXPECT_EQ(line, "get-token value");
}

TEST_F(ExecTest, SaysWhatIsWrongWithTheProgram) {
  struct Case {
    std::string name, script;
    std::function<void(ExecConfig&)> change;
    std::string error;
  };
  const auto keep = [](ExecConfig&) {};
  const Case cases[] = {
      {"fails", "echo out of luck >&2; exit 3", keep, "exit code 3: \"out of luck\""},
      {"prints nothing", "true", keep, "did not print an ExecCredential"},
      {"another version", Print(R"({"token":"t"})", "v1beta1"), keep,
       "it printed apiVersion \"client.authentication.k8s.io/v1beta1\""},
      {"nothing inside", Print("{}"), keep, "neither status.token nor"},
      {"half a certificate", Print(R"({"clientKeyData":"k"})"), keep,
       "only one of clientCertificateData and clientKeyData"},
      {"bad expiry", Print(R"({"token":"t","expirationTimestamp":"soon"})"), keep,
       "expirationTimestamp \"soon\""},
      {"missing", "",
       [](ExecConfig& exec) {
         exec.command = "no-such-plugin";
         exec.install_hint = "Get it from example.com.";
       },
       "cannot run no-such-plugin: No such file or directory. Get it from example.com."},
      {"needs a terminal", Print(R"({"token":"t"})"),
       [](ExecConfig& exec) { exec.interactive_mode = "Always"; }, "terminal"},
  };
  ServePlain();
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    ClientConfig config = ExecConfigFor(c.script);
    c.change(*config.exec);
    Connect(config);
    Send("GET", "/");
    const Status status = Answer().status();
    EXPECT_TRUE(absl::IsUnauthenticated(status));
    EXPECT_THAT(std::string(Message(status)),
                AllOf(HasSubstr("getting credentials from"), HasSubstr(c.error)));
  }
}

TEST_F(ExecTest, UsesTheCertificateOfTheProgram) {
  const TestAuthority clients("clients");
  ServeTls({"127.0.0.1"}, clients.pem());
  const PemPair carol = clients.Issue("carol", {});
  const Json status{{"clientCertificateData", carol.certificate}, {"clientKeyData", carol.key}};
  ClientConfig config = ExecConfigFor(
      "cat " + WriteFile("answer", Serialize(Json{{"kind", "ExecCredential"},
                                                  {"apiVersion", "client.authentication.k8s.io/v1"},
                                                  {"status", status}})));
  config.server = TlsConfig().server;
  config.ca_data = TlsConfig().ca_data;
  Connect(config);
  Send("GET", "/");
  auto exchange = Next();
  ASSERT_TRUE(exchange.request.user.has_value());
  EXPECT_EQ(exchange.request.user->name, "carol");
}

TEST_F(ExecTest, AProgramThatHangsDiesWithTheTransport) {
  ServePlain();
  Connect(ExecConfigFor("echo $$ > " + (folder_ / "pid").string() + "\nexec sleep 1000"));
  Send("GET", "/");
  EXPECT_TRUE(RunUntil([&] { return CountLines("pid") == 1; }));
  pid_t pid = 0;
  std::ifstream(folder_ / "pid") >> pid;
  EXPECT_EQ(::kill(pid, 0), 0);
  transport_ = nullptr;
  EXPECT_EQ(::kill(pid, 0), -1);
  EXPECT_TRUE(answers_.empty());
}

}  // namespace
}  // namespace koord::kube::http_transport_test
