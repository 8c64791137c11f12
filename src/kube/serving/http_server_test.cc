// What strangers can make the server hold, on real sockets.
#include "kube/serving/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <future>
#include <thread>

namespace koord::kube::http_server_test {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr size_t kMegabyte = 1024 * 1024;

class CountingHandler final : public HttpHandler {
 public:
  void Handle(HttpRequest request, std::shared_ptr<ResponseWriter> response) override {
    HttpResponse answer;
    answer.body = fmt::format("{} bytes\n", request.body.size());
    response->Finish(std::move(answer));
  }
};

class TokenGate final : public RequestGate {
 public:
  void Check(const HttpRequest& head, Done done) override {
    if (head.headers.Get("Authorization") == "Bearer good") return done(std::nullopt);
    done(HttpResponse{.status = 401, .headers = {}, .body = "Unauthorized\n"});
  }
};

// A blocking client.
class PlainClient {
 public:
  // Of another address of this machine, if told so.
  explicit PlainClient(uint16_t port, const char* from = "127.0.0.1") {
    socket_.open(tcp::v4());
    socket_.bind({asio::ip::make_address(from), 0});
    socket_.connect({asio::ip::address_v4::loopback(), port});
  }
  void Send(const std::string& text) {
    error_code gone;
    asio::write(socket_, asio::buffer(text), gone);
  }
  void Post(size_t promised, size_t sent, const std::string& token = "good") {
    Send(
        fmt::format("POST / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n"
                    "Content-Length: {}\r\n\r\n{}",
                    token, promised, std::string(sent, 'x')));
  }
  std::string ReadLine() {
    asio::streambuf buffer;
    error_code end;
    const size_t size = asio::read_until(socket_, buffer, '\n', end);
    return {asio::buffers_begin(buffer.data()),
            asio::buffers_begin(buffer.data()) + static_cast<std::ptrdiff_t>(size)};
  }

 private:
  asio::io_context io_;
  tcp::socket socket_{io_};
};

class CrowdedServerTest : public ::testing::Test {
 protected:
  CrowdedServerTest() {
    options_.session.body_budget = 8 * kMegabyte;
    options_.session.queue_timeout = 1s;
  }
  ~CrowdedServerTest() override {
    if (!thread_.joinable()) return;
    loop_.Post([this] {
      server_.reset();
      loop_.Stop();
    });
    thread_.join();
  }
  void Start() {
    options_.gate = &gate_;
    auto server = HttpServer::Start(loop_, options_, handler_);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = std::move(*server);
    port_ = server_->port();
    thread_ = std::thread([this] { loop_.Run(); });
  }
  ServingStats Stats() {
    std::promise<ServingStats> stats;
    loop_.Post([&] { stats.set_value(server_->stats()); });
    return stats.get_future().get();
  }
  // Asks again and again, for as long as even a very busy machine needs.
  bool Eventually(const std::function<bool(const ServingStats&)>& holds) {
    const SteadyTime deadline = loop_.clock().Steady() + 120s;
    while (loop_.clock().Steady() < deadline) {
      if (holds(Stats())) return true;
      std::this_thread::yield();
    }
    return false;
  }
  std::vector<std::unique_ptr<PlainClient>> Strangers(int count, const std::string& token) {
    std::vector<std::unique_ptr<PlainClient>> strangers;
    for (int i = 0; i < count; ++i) {
      strangers.push_back(std::make_unique<PlainClient>(port_));
      strangers.back()->Post(3 * kMegabyte, 20'000, token);
    }
    return strangers;
  }

  AsioLoop loop_;
  HttpServer::Options options_;
  CountingHandler handler_;
  TokenGate gate_;
  std::unique_ptr<HttpServer> server_;
  uint16_t port_ = 0;
  std::thread thread_;
};

TEST_F(CrowdedServerTest, AClientIsAnsweredAmong200SlowStrangers) {
  Start();
  const auto strangers = Strangers(200, "good");
  ASSERT_TRUE(Eventually(
      [](const ServingStats& stats) { return stats.waiting_bodies + stats.dropped_slow >= 190; }));
  PlainClient small(port_);
  small.Post(4, 4);
  EXPECT_THAT(small.ReadLine(), StartsWith("HTTP/1.1 200 OK"));
  // There is room for a large body once the strangers are found to be slow. Those that wait like
  // this one may be served before, so it may be told to come back.
  for (;;) {
    PlainClient large(port_);
    large.Post(3 * kMegabyte, 3 * kMegabyte);
    const std::string answer = large.ReadLine();
    if (answer.starts_with("HTTP/1.1 200 OK")) break;
    ASSERT_THAT(answer, StartsWith("HTTP/1.1 429 "));
  }
  EXPECT_LE(Stats().most_body_bytes, 8 * kMegabyte);
}

TEST_F(CrowdedServerTest, NothingIsHeldForWhoIsNotLetIn) {
  Start();
  auto strangers = Strangers(200, "bad");
  for (const auto& stranger : strangers) {
    EXPECT_THAT(stranger->ReadLine(), StartsWith("HTTP/1.1 401 "));
  }
  EXPECT_EQ(Stats().most_body_bytes, 0u);
}

TEST_F(CrowdedServerTest, TheOldestIdleConnectionMakesWayWhenAllAreTaken) {
  options_.session.max_connections = 20;
  Start();
  std::vector<std::unique_ptr<PlainClient>> idle;
  for (int i = 0; i < 20; ++i) idle.push_back(std::make_unique<PlainClient>(port_));
  ASSERT_TRUE(Eventually([](const ServingStats& stats) { return stats.connections == 20; }));
  PlainClient client(port_);
  client.Post(4, 4);
  EXPECT_THAT(client.ReadLine(), StartsWith("HTTP/1.1 200 OK"));
  EXPECT_EQ(idle.front()->ReadLine(), "") << "it was closed";
  EXPECT_EQ(Stats().dropped_idle, 1u);
  idle.back()->Post(4, 4);
  EXPECT_THAT(idle.back()->ReadLine(), StartsWith("HTTP/1.1 200 OK"));
}

TEST_F(CrowdedServerTest, OnePeerDoesNotTakeAllConnections) {
  options_.session.max_connections = 20;
  options_.session.max_connections_of_loopback = 10;
  Start();
  std::vector<std::unique_ptr<PlainClient>> strangers;
  for (int i = 0; i < 100; ++i) strangers.push_back(std::make_unique<PlainClient>(port_));
  ASSERT_TRUE(Eventually([](const ServingStats& stats) { return stats.dropped_idle == 90; }));
  EXPECT_EQ(Stats().connections, 10u);
  PlainClient other(port_, "127.0.0.2");
  other.Post(4, 4);
  EXPECT_THAT(other.ReadLine(), StartsWith("HTTP/1.1 200 OK"));
  EXPECT_EQ(Stats().connections, 11u);
  EXPECT_EQ(Stats().dropped_idle, 90u);
}

}  // namespace
}  // namespace koord::kube::http_server_test
