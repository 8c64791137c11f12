// Requests a second over loopback TLS, client and server in one process on two threads.
#include <benchmark/benchmark.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <thread>

#include "base/asio_loop.h"
#include "base/temp_dir.h"
#include "kube/serving/http_server.h"
#include "localcluster/apiserver/serving/authentication.h"
#include "localcluster/apiserver/serving/certificates.h"

namespace koord::apiserver {
namespace {

namespace asio = boost::asio;
namespace ssl = asio::ssl;
using asio::ip::tcp;

constexpr size_t kBodySize = 1500;  // about a small pod

class Echo final : public kube::HttpHandler {
 public:
  void Handle(kube::HttpRequest request, std::shared_ptr<kube::ResponseWriter> response) override {
    kube::HttpResponse answer;
    answer.status = 201;
    answer.headers.Add("Content-Type", "application/json");
    answer.headers.Add("Cache-Control", "no-cache, private");
    answer.headers.Add("Audit-Id", "4f8f8a0e-7d0d-4a1e-9a52-000000000000");
    answer.body = std::move(request.body);
    response->Finish(std::move(answer));
  }
};

// One server for all runs, on its own thread.
class Fixture {
 public:
  Fixture() {
    credentials_ = *LoadOrMakeCredentials(directory_.path(), {}, loop_.clock().Now());
    authenticator_.emplace(loop_.clock(),
                           Authenticator::Options{.tokens = {AdminToken(credentials_.admin_token)}},
                           echo_);
    server_ = *kube::HttpServer::Start(loop_, {.tls = credentials_.tls()}, *authenticator_);
    thread_ = std::thread([this] { loop_.Run(); });
  }
  ~Fixture() {
    loop_.Post([this] { server_->Stop([this] { loop_.Stop(); }); });
    thread_.join();
  }

  std::string Request() const {
    return fmt::format(
        "POST /api/v1/namespaces/default/pods HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n"
        "User-Agent: bench\r\nAccept: application/json\r\nContent-Type: application/json\r\n"
        "Authorization: Bearer {}\r\nContent-Length: {}\r\n\r\n{}",
        server_->port(), credentials_.admin_token, kBodySize, std::string(kBodySize, 'x'));
  }
  tcp::endpoint endpoint() const { return {asio::ip::address_v4::loopback(), server_->port()}; }

 private:
  AsioLoop loop_;
  TempDir directory_;
  Credentials credentials_;
  Echo echo_;
  std::optional<Authenticator> authenticator_;
  std::unique_ptr<kube::HttpServer> server_;
  std::thread thread_;
};

// Sends one request after the other until the run has had enough.
class Client : public std::enable_shared_from_this<Client> {
 public:
  Client(asio::io_context& io, ssl::context& tls, const std::string& request, int& left)
      : stream_(io, tls), request_(request), left_(left) {}

  void Connect(const tcp::endpoint& endpoint) {
    stream_.lowest_layer().connect(endpoint);
    stream_.lowest_layer().set_option(tcp::no_delay(true));
    stream_.handshake(ssl::stream_base::client);
  }
  void Next() {
    if (left_ == 0) return;
    --left_;
    asio::async_write(stream_, asio::buffer(request_),
                      [this](const auto& error, size_t) { error ? std::abort() : Read(); });
  }

 private:
  void Read() {
    stream_.async_read_some(asio::buffer(input_) + got_, [this](const auto& error, size_t size) {
      if (error) std::abort();
      got_ += size;
      if (expected_ == 0) {
        const std::string_view text(input_.data(), got_);
        if (const size_t end = text.find("\r\n\r\n"); end != text.npos) {
          expected_ = end + 4 + kBodySize;
        }
      }
      if (expected_ == 0 || got_ < expected_) return Read();
      got_ = 0;
      Next();
    });
  }

  ssl::stream<tcp::socket> stream_;
  const std::string& request_;
  int& left_;
  std::array<char, 8192> input_;
  size_t got_ = 0;
  size_t expected_ = 0;
};

void BM_Requests(benchmark::State& state) {
  Fixture fixture;
  asio::io_context io(1);
  ssl::context tls(ssl::context::tls_client);
  const std::string request = fixture.Request();
  int left = 0;
  std::vector<std::shared_ptr<Client>> clients;
  for (int i = 0; i < state.range(0); ++i) {
    clients.push_back(std::make_shared<Client>(io, tls, request, left));
    clients.back()->Connect(fixture.endpoint());
  }
  constexpr int kRequests = 5000;
  for (auto _ : state) {
    left = kRequests;
    for (const auto& client : clients) client->Next();
    io.restart();
    io.run();
  }
  state.SetItemsProcessed(state.iterations() * kRequests);
}
BENCHMARK(BM_Requests)
    ->Arg(1)
    ->Arg(32)
    ->UseRealTime()
    ->MeasureProcessCPUTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace koord::apiserver
