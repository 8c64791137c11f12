#pragma once
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kube/transport/http_server_testing.h"
#include "kube/transport/http_transport.h"
#include "kube/transport/scripted_handler.h"

namespace koord::kube {

// For tests: a transport, and a server that is played by hand.
class HttpTransportTest : public testing::Test {
 protected:
  HttpTransportTest() {
    folder_ = std::filesystem::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder_);
  }
  ~HttpTransportTest() override {
    stream_ = nullptr;
    transport_ = nullptr;
    server_ = nullptr;
    loop_.context().restart();
    loop_.context().poll();
    std::filesystem::remove_all(folder_);
  }

  void ServePlain() { server_ = std::make_unique<HttpTestServer>(loop_, handler_, std::nullopt); }
  void ServeTls(std::vector<std::string> names = {"127.0.0.1"}, std::string clients = "") {
    server_ = std::make_unique<HttpTestServer>(
        loop_, handler_,
        HttpTestServer::Tls{authority_.Issue("server", names), std::move(clients)});
  }
  ClientConfig PlainConfig() const {
    ClientConfig config;
    config.server = "http://127.0.0.1:" + server_->port();
    return config;
  }
  ClientConfig TlsConfig() const {
    ClientConfig config;
    config.server = "https://127.0.0.1:" + server_->port();
    config.ca_data = authority_.pem();
    return config;
  }
  void Connect(const ClientConfig& config, HttpTransport::Options options = {}) {
    auto transport = HttpTransport::Make(loop_, config, options);
    ASSERT_TRUE(transport.ok()) << transport.status();
    transport_ = *transport;
  }

  // Runs the loop until the condition holds, up to a deadline that only a broken build reaches.
  bool RunUntil(const std::function<bool()>& condition) {
    const SteadyTime deadline = loop_.clock().Steady() + 20s;
    loop_.context().restart();
    while (!condition()) {
      if (loop_.clock().Steady() > deadline) return false;
      if (loop_.context().run_one_for(100ms) == 0) loop_.context().restart();
    }
    return true;
  }
  ScriptedHandler::Exchange Next() {
    EXPECT_TRUE(RunUntil([&] { return handler_.waiting() > 0; })) << "no request came";
    return handler_.Take();
  }
  std::shared_ptr<Transport::Call> Send(std::string method, std::string target,
                                        Duration timeout = 30s) {
    HttpRequest request;
    request.method = std::move(method);
    request.target = std::move(target);
    request.body = request.method == "GET" ? "" : "body";
    return transport_->Send(request, timeout, [this](StatusOr<HttpResponse> answer) {
      answers_.push_back(std::move(answer));
    });
  }
  StatusOr<HttpResponse> Answer() {
    EXPECT_TRUE(RunUntil([&] { return !answers_.empty(); })) << "no answer came";
    if (answers_.empty()) return Internal("none");
    auto answer = std::move(answers_.front());
    answers_.erase(answers_.begin());
    return answer;
  }
  std::string AnswerError() { return std::string(Message(Answer().status())); }
  void Open(std::string target) {
    HttpRequest request;
    request.target = std::move(target);
    Transport::StreamEvents events;
    events.head = [this](const HttpResponse& head) {
      heads_.push_back(std::to_string(head.status) + head.body);
    };
    events.data = [this](std::string_view data) { text_ += data; };
    events.end = [this](const Status& status) { end_ = status; };
    stream_ = transport_->Open(std::move(request), std::move(events));
  }
  // What is the same in all protocols.
  void ExpectThatAStreamMayBeClosedFromWithin() {
    HttpRequest request;
    request.target = "/watch";
    Transport::StreamEvents events;
    events.head = [](const HttpResponse&) {};
    events.data = [this](std::string_view data) {
      stream_ = nullptr;
      text_ += data;
    };
    events.end = [this](const Status& status) { end_ = status; };
    stream_ = transport_->Open(request, std::move(events));
    auto watch = Next();
    watch.StartWatch();
    watch.Write("once");
    EXPECT_TRUE(RunUntil([&] { return watch.disconnected(); }));
    EXPECT_EQ(text_, "once");
    EXPECT_FALSE(end_.has_value());
  }
  void ExpectThatARefusedWatchArrivesWithItsBody() {
    Open("/watch");
    Next().Answer(403, " no");
    EXPECT_TRUE(RunUntil([&] { return end_.has_value(); }));
    EXPECT_EQ(heads_, std::vector<std::string>{"403 no"});
  }
  std::string WriteFile(const std::string& name, const std::string& text, int mode = 0600) {
    const std::string path = folder_ / name;
    // Replaced as a whole, as kubelet does.
    std::ofstream(path + ".new") << text;
    ::chmod((path + ".new").c_str(), static_cast<mode_t>(mode));
    std::filesystem::rename(path + ".new", path);
    return path;
  }
  size_t CountLines(const std::string& file) {
    std::ifstream in(folder_ / file);
    return static_cast<size_t>(std::count(std::istreambuf_iterator<char>(in), {}, '\n'));
  }

  AsioLoop loop_;
  ScriptedHandler handler_;
  TestAuthority authority_{"test authority"};
  std::unique_ptr<HttpTestServer> server_;
  std::shared_ptr<Transport> transport_;
  std::vector<StatusOr<HttpResponse>> answers_;
  std::unique_ptr<Transport::Stream> stream_;
  std::vector<std::string> heads_;
  std::string text_;
  std::optional<Status> end_;
  std::filesystem::path folder_;
};

}  // namespace koord::kube
