#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/asio_loop.h"
#include "kube/transport/http_connection.h"
#include "kube/transport/open_socket.h"

namespace koord::kube::http1_connection_test {
namespace {

// A client's connection whose other end says what the test wants, in pieces.
class Http1ConnectionTest : public testing::Test {
 protected:
  ~Http1ConnectionTest() override { CloseServer(); }

  void Begin() {
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    server_ = ends[1];
    body_.clear();
    end_.reset();
    connection_ = MakeHttp1Connection(
        {boost::asio::ip::tcp::socket(loop_.context(), boost::asio::ip::tcp::v4(), ends[0]),
         nullptr});
    connection_->Begin({.target = "/"}, 1 << 20,
                       {.head = [](HttpResponse) {},
                        .data = [this](std::string_view data) { body_ += data; },
                        .end = [this](const Status& status) { end_ = status; }});
    RunReady();
  }

  void Say(std::string_view text) {
    ASSERT_EQ(send(server_, text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
    RunReady();
  }

  void CloseServer() {
    if (server_ < 0) return;
    char request[4096];  // a socket that is closed with something unread resets the connection
    while (recv(server_, request, sizeof request, 0) > 0) {
    }
    close(server_);
    server_ = -1;
    RunReady();
  }

  void RunReady() {
    loop_.context().restart();
    loop_.context().poll();
  }

  AsioLoop loop_;
  int server_ = -1;
  std::string body_;
  std::optional<Status> end_;
  std::unique_ptr<HttpConnection> connection_;
};

TEST_F(Http1ConnectionTest, AChunkedAnswerMayBreakOffAnywhere) {
  constexpr std::string_view kAnswers[] = {
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n0\r\n\r\n1\r\n0\r\n0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n00;x\r\nTrailer: t\r\n\r\n",
  };
  constexpr std::string_view kBodies[] = {"", "0\r\n0", "ab"};
  for (size_t i = 0; i < std::size(kAnswers); ++i) {
    const std::string_view answer = kAnswers[i];
    for (size_t first = 0; first < answer.size(); ++first) {
      for (size_t second = first; second < answer.size(); ++second) {
        Begin();
        if (first > 0) Say(answer.substr(0, first));
        if (second > first) Say(answer.substr(first, second - first));
        ASSERT_FALSE(end_.has_value()) << answer.substr(0, second);
        Say(answer.substr(second));
        ASSERT_TRUE(end_.has_value()) << "broken off after " << first << " and " << second;
        EXPECT_TRUE(end_->ok()) << *end_;
        EXPECT_EQ(body_, kBodies[i]);
        CloseServer();
      }
    }
  }
}

TEST_F(Http1ConnectionTest, AnEventOfAWatchArrivesWithoutTheNext) {
  Begin();
  Say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{}");
  EXPECT_EQ(body_, "{}");
  Say("0\n");
  Say("\r\n");
  EXPECT_EQ(body_, "{}0\n");
  Say("1\r\n\n\r\n");
  EXPECT_EQ(body_, "{}0\n\n");
}

TEST_F(Http1ConnectionTest, ABodyWithoutALengthEndsWithTheConnection) {
  Begin();
  Say("HTTP/1.1 200 OK\r\n\r\nall of");
  Say(" it");
  EXPECT_FALSE(end_.has_value());
  CloseServer();
  ASSERT_TRUE(end_.has_value());
  EXPECT_TRUE(end_->ok()) << *end_;
  EXPECT_EQ(body_, "all of it");
}

TEST_F(Http1ConnectionTest, AnEndlessChunkHeaderIsRefused) {
  Begin();
  Say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;");
  const std::string more(30 << 10, 'x');
  for (int i = 0; i < 10 && !end_.has_value(); ++i) Say(more);
  ASSERT_TRUE(end_.has_value());
  EXPECT_THAT(std::string(end_->message()), testing::HasSubstr("larger than"));
}

}  // namespace
}  // namespace koord::kube::http1_connection_test
