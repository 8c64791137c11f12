// The server on real sockets, with TLS clients that are not ours.
#include "kube/serving/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <cstdio>
#include <future>
#include <thread>

#include "base/temp_dir.h"
#include "kube/serving/private_file.h"
#include "kube/serving/x509.h"
#include "localcluster/apiserver/serving/authentication.h"
#include "localcluster/apiserver/serving/certificates.h"

namespace koord::apiserver::http_server_test {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace ssl = asio::ssl;
using asio::ip::tcp;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Says who asked for what; /watch is a stream that goes on until its peer leaves.
class WhoAmI final : public kube::HttpHandler {
 public:
  explicit WhoAmI(EventLoop& loop) : loop_(loop) {}

  void Handle(kube::HttpRequest request, std::shared_ptr<kube::ResponseWriter> response) override {
    if (request.target == "/watch") return Stream(std::move(response));
    if (request.target == "/never") return waiting_.push_back(std::move(response));
    kube::HttpResponse answer;
    answer.headers.Add("Content-Type", "text/plain");
    answer.body = fmt::format("{} {} as {} with {} bytes", request.method, request.target,
                              request.user ? request.user->name : "nobody", request.body.size());
    if (request.target == "/large") answer.body = std::string(8 << 20, 'L');
    response->Finish(std::move(answer));
  }

  std::atomic<int> disconnects = 0;

 private:
  void Stream(std::shared_ptr<kube::ResponseWriter> response) {
    response->StartStream({});
    response->OnDisconnect([this] { ++disconnects; });
    for (int i = 0; i < 3; ++i) {
      response->Write(std::make_shared<const std::string>(fmt::format("event {}\n", i)));
    }
    waiting_.push_back(std::move(response));
  }

  EventLoop& loop_;
  std::vector<std::shared_ptr<kube::ResponseWriter>> waiting_;
};

// A blocking client. Verifies the server as "localhost".
class Client {
 public:
  explicit Client(const std::string& ca, const kube::KeyPair* certificate = nullptr)
      : tls_(ssl::context::tls_client) {
    tls_.add_certificate_authority(asio::buffer(ca));
    tls_.set_verify_mode(ssl::verify_peer);
    tls_.set_verify_callback(ssl::host_name_verification("localhost"));
    if (certificate != nullptr) {
      tls_.use_certificate_chain(asio::buffer(certificate->certificate));
      tls_.use_private_key(asio::buffer(certificate->key), ssl::context::pem);
    }
    stream_.emplace(io_, tls_);
  }

  beast::error_code Connect(uint16_t port) {
    beast::error_code error;
    stream_->lowest_layer().connect({asio::ip::address_v4::loopback(), port}, error);
    if (!error) stream_->handshake(ssl::stream_base::client, error);
    return error;
  }
  http::response<http::string_body> Ask(http::verb method, const std::string& target,
                                        const std::string& body = "",
                                        const std::string& token = "") {
    http::request<http::string_body> request(method, target, 11, body);
    request.set(http::field::host, "localhost");
    if (!token.empty()) request.set(http::field::authorization, "Bearer " + token);
    request.prepare_payload();
    http::write(*stream_, request);
    return Read();
  }
  http::response<http::string_body> Read() {
    http::response_parser<http::string_body> parser;
    parser.body_limit(64 << 20);
    beast::error_code error;
    http::read(*stream_, buffer_, parser, error);
    if (error) return http::response<http::string_body>(http::status::unknown, 11, error.message());
    return parser.release();
  }
  // Until `text` has arrived, or the end.
  std::string ReadUntil(const std::string& text) {
    std::string seen;
    std::array<char, 4096> piece;
    while (seen.find(text) == seen.npos) {
      beast::error_code error;
      const size_t size = stream_->read_some(asio::buffer(piece), error);
      if (error) break;
      seen.append(piece.data(), size);
    }
    return seen;
  }
  void Send(const std::string& text) { asio::write(*stream_, asio::buffer(text)); }
  void Close() { stream_->lowest_layer().close(); }
  ssl::stream<tcp::socket>& stream() { return *stream_; }

 private:
  asio::io_context io_;
  ssl::context tls_;
  std::optional<ssl::stream<tcp::socket>> stream_;
  beast::flat_buffer buffer_;
};

class HttpServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    credentials_ = *LoadOrMakeCredentials(directory_.path(), {}, loop_.clock().Now());
    authenticator_.emplace(loop_.clock(),
                           Authenticator::Options{.tokens = {AdminToken(credentials_.admin_token)}},
                           handler_);
  }
  void Start(kube::HttpServer::Options options = {}) {
    options.tls = credentials_.tls();
    options.gate = &*authenticator_;
    auto server = kube::HttpServer::Start(loop_, std::move(options), *authenticator_);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = std::move(*server);
    thread_ = std::thread([this] { loop_.Run(); });
  }
  void TearDown() override {
    if (!thread_.joinable()) return;
    loop_.Post([this] {
      server_.reset();
      loop_.Stop();
    });
    thread_.join();
  }
  // Runs on the server's thread.
  template <class F>
  auto OnLoop(F function) {
    std::promise<decltype(function())> promise;
    loop_.Post([&] { promise.set_value(function()); });
    return promise.get_future().get();
  }
  bool Eventually(const std::function<bool()>& holds) {
    const SteadyTime deadline = loop_.clock().Steady() + 20s;
    while (loop_.clock().Steady() < deadline) {
      if (OnLoop(holds)) return true;
    }
    return false;
  }

  AsioLoop loop_;
  TempDir directory_;
  Credentials credentials_;
  WhoAmI handler_{loop_};
  std::optional<Authenticator> authenticator_;
  std::unique_ptr<kube::HttpServer> server_;
  std::thread thread_;
};

TEST_F(HttpServerTest, AClientCertificateSaysWhoAsks) {
  Start();
  Client client(credentials_.ca, &credentials_.admin);
  ASSERT_FALSE(client.Connect(server_->port()));
  for (int i = 0; i < 3; ++i) {
    const auto answer = client.Ask(http::verb::post, "/api/v1/pods", "body");
    EXPECT_EQ(answer.result_int(), 200u);
    EXPECT_EQ(answer.body(), "POST /api/v1/pods as kubernetes-admin with 4 bytes");
    EXPECT_TRUE(answer.keep_alive());
  }
  EXPECT_EQ(OnLoop([&] { return server_->connections(); }), 1u);
}

TEST_F(HttpServerTest, ATokenDoesToo) {
  Start();
  Client client(credentials_.ca);
  ASSERT_FALSE(client.Connect(server_->port()));
  EXPECT_EQ(client.Ask(http::verb::get, "/api").result_int(), 401u);
  EXPECT_EQ(client.Ask(http::verb::get, "/api", "", "wrong").result_int(), 401u);
  EXPECT_THAT(client.Ask(http::verb::get, "/api", "", credentials_.admin_token).body(),
              HasSubstr("as kubernetes-admin"));
  EXPECT_THAT(client.Ask(http::verb::get, "/healthz").body(), HasSubstr("as system:anonymous"));
}

TEST_F(HttpServerTest, ACertificateOfAnotherAuthorityIsNobodys) {
  Start();
  const TempDir elsewhere;
  const Credentials foreign = *LoadOrMakeCredentials(elsewhere.path(), {}, loop_.clock().Now());
  Client client(credentials_.ca, &foreign.admin);
  ASSERT_FALSE(client.Connect(server_->port()));
  EXPECT_EQ(client.Ask(http::verb::get, "/api").result_int(), 401u);
  Client trusting_the_wrong_one(foreign.ca);
  EXPECT_TRUE(trusting_the_wrong_one.Connect(server_->port())) << "and it is not trusted";
}

TEST_F(HttpServerTest, AnExpiredCertificateIsNobodys) {
  Start();
  const WallTime now = loop_.clock().Now();
  const kube::KeyPair authority{credentials_.ca, *kube::ReadPrivateFile(directory_.File("ca.key"))};
  const auto expired = kube::IssueCertificate({.use = kube::CertificateUse::kClient,
                                               .common_name = "jane",
                                               .organizations = {"system:masters"},
                                               .from = now - std::chrono::hours(48),
                                               .until = now - std::chrono::hours(24)},
                                              &authority);
  ASSERT_TRUE(expired.ok()) << expired.status();
  Client client(credentials_.ca, &*expired);
  ASSERT_FALSE(client.Connect(server_->port()));
  EXPECT_EQ(client.Ask(http::verb::get, "/api").result_int(), 401u);
}

TEST_F(HttpServerTest, ASecondConnectionMayResumeTheSessionAndIsStillKnown) {
  Start();
  Client first(credentials_.ca, &credentials_.admin);
  ASSERT_FALSE(first.Connect(server_->port()));
  first.Ask(http::verb::get, "/api");
  SSL_SESSION* session = SSL_get1_session(first.stream().native_handle());
  Client second(credentials_.ca, &credentials_.admin);
  SSL_set_session(second.stream().native_handle(), session);
  SSL_SESSION_free(session);
  ASSERT_FALSE(second.Connect(server_->port()));
  EXPECT_TRUE(SSL_session_reused(second.stream().native_handle()));
  EXPECT_THAT(second.Ask(http::verb::get, "/api").body(), HasSubstr("as kubernetes-admin"));
}

TEST_F(HttpServerTest, SpeaksModernTlsOnly) {
  Start();
  Client client(credentials_.ca);
  ASSERT_FALSE(client.Connect(server_->port()));
  EXPECT_STREQ(SSL_get_version(client.stream().native_handle()), "TLSv1.3");
  Client old(credentials_.ca);
  SSL_set_max_proto_version(old.stream().native_handle(), TLS1_1_VERSION);
  EXPECT_TRUE(old.Connect(server_->port()));

  Client last(credentials_.ca), strict(credentials_.ca);
  for (Client* client : {&last, &strict}) {
    SSL_set_max_proto_version(client->stream().native_handle(), TLS1_2_VERSION);
  }
  EXPECT_FALSE(last.Connect(server_->port()));
  kube::TlsIdentity identity = credentials_.tls();
  identity.only_tls_1_3 = true;
  EXPECT_TRUE(OnLoop([&] { return server_->SetTls(identity).ok(); }));
  EXPECT_TRUE(strict.Connect(server_->port()));
}

TEST_F(HttpServerTest, LargeBodiesPassBothWays) {
  Start();
  Client client(credentials_.ca, &credentials_.admin);
  ASSERT_FALSE(client.Connect(server_->port()));
  EXPECT_THAT(client.Ask(http::verb::put, "/x", std::string(3 << 20, 'x')).body(),
              HasSubstr("with 3145728 bytes"));
  EXPECT_EQ(client.Ask(http::verb::get, "/large").body(), std::string(8 << 20, 'L'));
}

TEST_F(HttpServerTest, ABodyTooLargeGetsItsAnswerThoughItIsStillBeingSent) {
  Start();
  Client client(credentials_.ca, &credentials_.admin);
  ASSERT_FALSE(client.Connect(server_->port()));
  const auto answer = client.Ask(http::verb::put, "/x", std::string((3 << 20) + 1, 'x'));
  EXPECT_EQ(answer.result_int(), 413u);
  EXPECT_THAT(answer.body(), HasSubstr("Request entity is too large: limit is 3145728"));
}

TEST_F(HttpServerTest, StreamsUntilThePeerLeaves) {
  Start();
  Client client(credentials_.ca, &credentials_.admin);
  ASSERT_FALSE(client.Connect(server_->port()));
  client.Send("GET /watch HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const std::string seen = client.ReadUntil("event 2");
  EXPECT_THAT(seen, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(seen, HasSubstr("8\r\nevent 0\n\r\n8\r\nevent 1\n\r\n8\r\nevent 2\n\r\n"));
  EXPECT_EQ(OnLoop([&] { return server_->streams(); }), 1u);
  client.Close();
  EXPECT_TRUE(Eventually([&] { return handler_.disconnects == 1; }));
  EXPECT_EQ(OnLoop([&] { return server_->streams(); }), 0u);
}

TEST_F(HttpServerTest, TooManyConnectionsAreTurnedAway) {
  kube::HttpServer::Options options;
  options.session.max_connections = 2;
  Start(options);
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 2; ++i) {
    clients.push_back(std::make_unique<Client>(credentials_.ca, &credentials_.admin));
    ASSERT_FALSE(clients.back()->Connect(server_->port()));
    clients.back()->Send("GET /watch HTTP/1.1\r\nHost: localhost\r\n\r\n");
    clients.back()->ReadUntil("event 2");
  }
  EXPECT_TRUE(Client(credentials_.ca).Connect(server_->port())) << "nobody is idle";
  clients.pop_back();
  ASSERT_TRUE(Eventually([&] { return server_->connections() == 1; }));
  EXPECT_FALSE(Client(credentials_.ca).Connect(server_->port()));
}

TEST_F(HttpServerTest, ABodyIsReadOnlyAfterTheLogin) {
  Start();
  Client stranger(credentials_.ca);
  ASSERT_FALSE(stranger.Connect(server_->port()));
  stranger.Send("POST /api/v1/pods HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3000000\r\n\r\n");
  stranger.Send(std::string(100'000, 'x'));
  EXPECT_EQ(stranger.Read().result_int(), 401u) << "although the body is not complete";
  EXPECT_EQ(OnLoop([&] { return server_->stats().most_body_bytes; }), 0u);
  Client admin(credentials_.ca, &credentials_.admin);
  ASSERT_FALSE(admin.Connect(server_->port()));
  EXPECT_THAT(admin.Ask(http::verb::post, "/api/v1/pods", std::string(3'000'000, 'x')).body(),
              HasSubstr("with 3000000 bytes"));
  EXPECT_EQ(OnLoop([&] { return server_->stats().most_body_bytes; }), 3'000'000u);
}

TEST_F(HttpServerTest, PlainHttpIsNotSpokenOnTheTlsPort) {
  Start();
  asio::io_context io;
  tcp::socket socket(io);
  socket.connect({asio::ip::address_v4::loopback(), server_->port()});
  asio::write(socket, asio::buffer(std::string("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")));
  std::array<char, 64> answer;
  beast::error_code error;
  size_t size = 0;
  while (!error) size += socket.read_some(asio::buffer(answer), error);
  EXPECT_LT(size, 20u) << "at most an alert";
}

TEST_F(HttpServerTest, ANewCertificateIsShownToNewConnections) {
  Start();
  Client before(credentials_.ca, &credentials_.admin);
  ASSERT_FALSE(before.Connect(server_->port()));
  const TempDir elsewhere;
  const Credentials renewed = *LoadOrMakeCredentials(elsewhere.path(), {}, loop_.clock().Now());
  EXPECT_TRUE(OnLoop([&] { return server_->SetTls(renewed.tls()).ok(); }));
  EXPECT_TRUE(Client(credentials_.ca).Connect(server_->port()));
  EXPECT_FALSE(Client(renewed.ca).Connect(server_->port()));
  EXPECT_EQ(before.Ask(http::verb::get, "/api").result_int(), 200u) << "old ones go on";
  EXPECT_FALSE(OnLoop([&] { return server_->SetTls({"garbage", "garbage", ""}).ok(); }));
  EXPECT_FALSE(Client(renewed.ca).Connect(server_->port())) << "a bad one changes nothing";
}

TEST_F(HttpServerTest, StopsInLessThanASecond) {
  Start();
  Client idle(credentials_.ca), stream(credentials_.ca, &credentials_.admin),
      busy(credentials_.ca, &credentials_.admin);
  for (Client* client : {&idle, &stream, &busy}) ASSERT_FALSE(client->Connect(server_->port()));
  stream.Send("GET /watch HTTP/1.1\r\nHost: localhost\r\n\r\n");
  stream.ReadUntil("event 2");
  busy.Send("GET /never HTTP/1.1\r\nHost: localhost\r\n\r\n");
  ASSERT_TRUE(Eventually([&] { return server_->connections() == 3; }));

  std::promise<Duration> stopped;
  loop_.Post([&] {
    const SteadyTime start = loop_.clock().Steady();
    server_->Stop([&, start] { stopped.set_value(loop_.clock().Steady() - start); });
  });
  EXPECT_LT(stopped.get_future().get(), 1s);
  EXPECT_THAT(stream.ReadUntil("0\r\n\r\n"), HasSubstr("0\r\n\r\n")) << "a clean end";
  EXPECT_TRUE(Client(credentials_.ca).Connect(server_->port())) << "nobody listens any more";
}

TEST_F(HttpServerTest, OptionsThatWouldExposeTheServerAreRefused) {
  for (const char* address : {"0.0.0.0", "192.0.2.1", "::"}) {
    const auto server = kube::HttpServer::Start(loop_, {.address = address}, *authenticator_);
    EXPECT_EQ(server.status().code(), absl::StatusCode::kFailedPrecondition) << address;
  }
  EXPECT_FALSE(kube::HttpServer::Start(loop_, {.address = "localhost"}, *authenticator_).ok());
  const auto server =
      kube::HttpServer::Start(loop_, {.address = "0.0.0.0", .allow_remote = true}, *authenticator_);
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_EQ((*server)->url(), fmt::format("http://127.0.0.1:{}", (*server)->port()));
}

TEST_F(HttpServerTest, APortInUseIsAClearError) {
  Start();
  const auto second = OnLoop([&] {
    return kube::HttpServer::Start(loop_, {.port = server_->port()}, *authenticator_).status();
  });
  EXPECT_THAT(std::string(Message(second)),
              HasSubstr(fmt::format("cannot listen on 127.0.0.1:{}: Address already in use",
                                    server_->port())));
}

// What a program on this machine prints; nothing if there is no such program.
std::optional<std::string> OutputOf(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return {};
  std::string output;
  std::array<char, 4096> piece;
  while (const size_t size = fread(piece.data(), 1, piece.size(), pipe)) {
    output.append(piece.data(), size);
  }
  const int code = WEXITSTATUS(pclose(pipe));
  if (code == 127) return {};
  return output;
}

TEST_F(HttpServerTest, CurlGetsIn) {
  Start();
  const std::string curl = fmt::format(
      "curl -sS --max-time 20 --cacert {0}/ca.crt --cert {0}/admin.crt --key "
      "{0}/admin.key {1}",
      directory_.path(), server_->url());
  const auto answer = OutputOf(curl + "/api");
  if (!answer) GTEST_SKIP() << "curl is not installed";
  EXPECT_EQ(*answer, "GET /api as kubernetes-admin with 0 bytes");
  // Large enough to make curl ask first whether it may send it.
  const std::string file = directory_.File("body");
  ASSERT_TRUE(kube::WritePrivateFile(file, std::string(2 << 20, 'x')).ok());
  EXPECT_EQ(*OutputOf(fmt::format("{}/api -X PUT --data-binary @{}", curl, file)),
            "PUT /api as kubernetes-admin with 2097152 bytes");
  EXPECT_THAT(*OutputOf(curl + "/api -H 'Host: evil.example'"), HasSubstr("\"code\":403"));
}

TEST_F(HttpServerTest, OpensslVerifiesTheServer) {
  Start();
  const auto output = OutputOf(fmt::format(
      "echo | openssl s_client -connect 127.0.0.1:{} -CAfile {}/ca.crt -verify_hostname localhost "
      "-verify_return_error -x509_strict -alpn h2,http/1.1",
      server_->port(), directory_.path()));
  if (!output) GTEST_SKIP() << "openssl is not installed";
  EXPECT_THAT(*output, HasSubstr("Verify return code: 0 (ok)"));
  EXPECT_THAT(*output, HasSubstr("TLSv1.3"));
  EXPECT_THAT(*output, HasSubstr("koord-ca")) << "names the CA that clients should show";
}

TEST_F(HttpServerTest, KubectlGetsInWithTheKubeconfig) {
  Start();
  const std::string kubeconfig = directory_.File("kubeconfig");
  ASSERT_TRUE(WriteAdminKubeconfig(kubeconfig, credentials_, server_->url()).ok());
  const auto output = OutputOf(
      fmt::format("kubectl --kubeconfig {} --request-timeout 20s get --raw /api", kubeconfig));
  if (!output) GTEST_SKIP() << "kubectl is not installed";
  EXPECT_THAT(*output, StartsWith("GET /api"));
  EXPECT_THAT(*output, HasSubstr("as kubernetes-admin"));
}

}  // namespace
}  // namespace koord::apiserver::http_server_test
