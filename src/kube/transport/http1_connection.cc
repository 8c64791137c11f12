#include <sys/socket.h>

#include <array>
#include <boost/asio/compose.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/transport/guarded.h"
#include "kube/transport/http_connection.h"
#include "kube/transport/open_socket.h"

namespace koord::kube {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;
using boost::system::error_code;

constexpr uint32_t kHeaderLimit = 64 << 10;
constexpr size_t kReadSize = 64 << 10;
constexpr std::string_view kLastChunk = "0\r\n\r\n";

// A TlsSocket in the shape in which Beast wants its streams.
class TlsStream {
 public:
  using executor_type = tcp::socket::executor_type;

  explicit TlsStream(OpenSocket& open) : open_(open) {}
  executor_type get_executor() { return open_.socket.get_executor(); }

  template <class Buffers, class Handler>
  auto async_read_some(const Buffers& buffers, Handler&& handler) {
    const asio::mutable_buffer buffer = *asio::buffer_sequence_begin(buffers);
    return Run(
        [this, buffer] {
          return open_.tls->Read({static_cast<char*>(buffer.data()), buffer.size()});
        },
        std::forward<Handler>(handler));
  }

  template <class Buffers, class Handler>
  auto async_write_some(const Buffers& buffers, Handler&& handler) {
    return Run(
        [this, buffers] {
          // The head and the body of a request leave in one record, if they are small.
          std::array<char, 16 << 10> record;
          const size_t size = asio::buffer_copy(asio::buffer(record), buffers);
          return open_.tls->Write({record.data(), size});
        },
        std::forward<Handler>(handler));
  }

 private:
  // Tries, and waits and tries again, until something could be done.
  template <class Operation, class Handler>
  auto Run(Operation operation, Handler&& handler) {
    return asio::async_compose<Handler, void(error_code, size_t)>(
        [this, operation = std::move(operation), at_once = true](auto& self,
                                                                 error_code error = {}) mutable {
          if (error) return self.complete(error, 0);
          const TlsSocket::Result result = operation();
          if (result.wait != TlsSocket::Wait::kNone) {
            at_once = false;
            return open_.socket.async_wait(WaitType(result.wait), std::move(self));
          }
          if (!at_once) return self.complete(result.error, result.count);
          asio::post(get_executor(), [self = std::move(self), result]() mutable {
            self.complete(result.error, result.count);
          });
        },
        handler, open_.socket);
  }

  OpenSocket& open_;
};

http::request<http::string_body> ToBeast(HttpRequest request) {
  http::request<http::string_body> out;
  out.version(11);
  out.method_string(request.method);
  out.target(request.target);
  for (const auto& [name, value] : request.headers) out.insert(name, value);
  out.body() = std::move(request.body);
  out.prepare_payload();
  return out;
}

HttpResponse FromBeast(const http::response<http::buffer_body>& in) {
  HttpResponse out;
  out.status = in.result_int();
  for (const auto& field : in) {
    const auto name = field.name_string();
    const auto value = field.value();
    out.headers.Add({name.data(), name.size()}, std::string(value.data(), value.size()));
  }
  return out;
}

Status ReadError(const error_code& error) {
  if (error == http::error::body_limit) {
    return Internal("the answer is larger than this client accepts");
  }
  if (error == http::error::header_limit) {
    return Internal("the answer's header is larger than {} KiB", kHeaderLimit >> 10);
  }
  if (error == http::error::partial_message || error == http::error::end_of_stream ||
      error == asio::error::eof) {
    return Unavailable("the server closed the connection before the answer was complete");
  }
  if (error.category() == http::make_error_code(http::error::bad_version).category()) {
    return Internal("the server does not speak HTTP/1.1: {}", error.message());
  }
  return Unavailable("connection lost: {}", error.message());
}

class Http1Impl final : public Guarded<Http1Impl> {
 public:
  using Events = HttpConnection::Events;

  explicit Http1Impl(OpenSocket open) : open_(std::move(open)) {}

  void Begin(HttpRequest request, uint64_t body_limit, Events events) {
    busy_ = true;
    events_ = std::move(events);
    request_.emplace(ToBeast(std::move(request)));
    body_limit_ = body_limit;
    WithStream([this](auto& stream) {
      http::async_write(stream, *request_, Guard([this](const error_code& error, size_t) {
                          request_.reset();
                          if (error) return Fail(ReadError(error));
                          ReadHead();
                        }));
    });
  }

  void Close() {
    closed_ = true;
    error_code ignored;
    open_.socket.close(ignored);
  }

  bool busy() const { return busy_; }
  bool usable() const { return !closed_ && reusable_; }
  bool LooksAlive() {
    if (!usable() || buffer_.size() > 0) return false;
    if (open_.tls != nullptr && open_.tls->has_pending()) return false;
    char byte = 0;
    const ssize_t count = ::recv(open_.socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  }

 private:
  using Parser = http::response_parser<http::buffer_body>;

  template <class F>
  void WithStream(F function) {
    if (open_.tls != nullptr) {
      function(stream_);
    } else {
      function(open_.socket);
    }
  }

  void ReadHead() {
    parser_.emplace();
    parser_->header_limit(kHeaderLimit);
    parser_->body_limit(body_limit_ == 0 ? boost::optional<uint64_t>() : body_limit_);
    WithStream([this](auto& stream) {
      http::async_read_header(stream, buffer_, *parser_,
                              Guard([this](const error_code& error, size_t) {
                                if (error) return Fail(ReadError(error));
                                OnHead();
                              }));
    });
  }

  void OnHead() {
    events_.head(FromBeast(parser_->get()));
    if (!closed_) ReadBody();
  }

  // Takes what has arrived, and waits for more once that is not enough.
  void ReadBody() {
    while (!closed_) {
      if (parser_->is_done()) return Finish();
      if (buffer_.size() == 0 || MayBreakOffInTheLastChunk()) return ReceiveMore();
      error_code error;
      buffer_.consume(Parse(error));
      if (closed_) return;
      if (error == http::error::need_more) return ReceiveMore();
      if (error && error != http::error::need_buffer) return Fail(ReadError(error));
    }
  }

  size_t Parse(error_code& error) {
    if (data_.empty()) data_.resize(kReadSize);
    auto& body = parser_->get().body();
    body.data = data_.data();
    body.size = data_.size();
    body.more = true;
    const size_t parsed = parser_->put(buffer_.data(), error);
    const size_t count = data_.size() - parser_->get().body().size;
    if (count > 0) events_.data({data_.data(), count});
    return parsed;
  }

  // The parser of this Boost asserts that the end of a chunked body, once it has begun, arrives
  // whole. Data that looks like it is held back for its line end at most.
  bool MayBreakOffInTheLastChunk() const {
    const auto bytes = buffer_.data();
    return parser_->chunked() && bytes.size() < kLastChunk.size() &&
           std::string_view(static_cast<const char*>(bytes.data()), bytes.size())
               .starts_with("0\r\n");
  }

  void ReceiveMore() {
    if (buffer_.size() > kHeaderLimit) return Fail(ReadError(http::error::header_limit));
    WithStream([this](auto& stream) {
      stream.async_read_some(
          buffer_.prepare(kReadSize),
          Guard([this](const error_code& error, size_t count) { OnReceived(error, count); }));
    });
  }

  void OnReceived(error_code error, size_t count) {
    buffer_.commit(count);
    if (error == asio::error::eof) parser_->put_eof(error = {});
    if (error) return Fail(ReadError(error));
    ReadBody();
  }

  void Finish() {
    reusable_ = parser_->get().keep_alive() && !parser_->get().need_eof();
    busy_ = false;
    parser_.reset();
    auto end = std::exchange(events_, {}).end;
    end(absl::OkStatus());
  }

  void Fail(const Status& status) {
    auto end = std::exchange(events_, {}).end;
    Close();
    end(status);
  }

  OpenSocket open_;
  TlsStream stream_{open_};
  boost::beast::flat_buffer buffer_;
  std::optional<http::request<http::string_body>> request_;
  std::optional<Parser> parser_;
  std::vector<char> data_;
  uint64_t body_limit_ = 0;
  Events events_;
  bool busy_ = false;
  bool reusable_ = true;
};

class Http1Connection final : public HttpConnection {
 public:
  explicit Http1Connection(OpenSocket open) : impl_(std::make_shared<Http1Impl>(std::move(open))) {}
  ~Http1Connection() override { impl_->Close(); }

  ExchangeId Begin(HttpRequest request, uint64_t body_limit, Events events) override {
    impl_->Begin(std::move(request), body_limit, std::move(events));
    return 0;
  }
  // An answer that is under way cannot be stopped otherwise.
  void Cancel(ExchangeId) override { impl_->Close(); }
  bool multiplexed() const override { return false; }
  bool has_room() const override { return usable() && !impl_->busy(); }
  bool usable() const override { return impl_->usable(); }
  bool LooksAlive() override { return impl_->LooksAlive(); }

 private:
  std::shared_ptr<Http1Impl> impl_;
};

}  // namespace

std::unique_ptr<HttpConnection> MakeHttp1Connection(OpenSocket socket) {
  return std::make_unique<Http1Connection>(std::move(socket));
}

}  // namespace koord::kube
