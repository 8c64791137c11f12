#include "kube/client/http_connection.h"

#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <concepts>
#include <optional>
#include <utility>
#include <vector>

#include "base/event_loop.h"

namespace koord::kube {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
namespace ssl = boost::asio::ssl;
using tcp = asio::ip::tcp;
using boost::system::error_code;

constexpr uint32_t kHeaderLimit = 64 << 10;
constexpr size_t kReadSize = 64 << 10;

void SetSocketOption(int socket, int level, int option, int value) {
  // A platform without one of these only loses the early notice of a dead peer.
  (void)::setsockopt(socket, level, option, &value, sizeof(value));
}

// Makes the kernel notice a peer that vanished: three unanswered probes in the last third of the
// allowed time, and data that stays unacknowledged.
void WatchPeer(int socket, Duration dead_peer) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(dead_peer).count();
  const int idle = std::max(1, static_cast<int>(seconds * 2 / 3));
  const int interval = std::max(1, static_cast<int>(seconds / 9));
  SetSocketOption(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  SetSocketOption(socket, IPPROTO_TCP, TCP_KEEPIDLE, idle);
  SetSocketOption(socket, IPPROTO_TCP, TCP_KEEPINTVL, interval);
  SetSocketOption(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
  SetSocketOption(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(seconds * 1000));
}

http::request<http::string_body> ToBeast(const HttpRequest& request) {
  http::request<http::string_body> out;
  out.version(11);
  out.method_string(request.method);
  out.target(request.target);
  for (const auto& [name, value] : request.headers) out.insert(name, value);
  out.body() = request.body;
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
      error == ssl::error::stream_truncated || error == asio::error::eof) {
    return Unavailable("the server closed the connection before the answer was complete");
  }
  if (error.category() == http::make_error_code(http::error::bad_version).category()) {
    return Internal("the server does not speak HTTP/1.1: {}", error.message());
  }
  return Unavailable("connection lost: {}", error.message());
}

}  // namespace

class HttpConnection::Impl final : public std::enable_shared_from_this<Impl> {
 private:
  // Keeps this object alive until the operation has ended, and hides its end after Close.
  template <class F>
  auto Guard(F function) {
    return [ self = shared_from_this(), function = std::move(function) ]<class... Args>(
        Args && ... args) mutable requires std::invocable<F&, Args...> {
      if (!self->closed_) function(std::forward<Args>(args)...);
    };
  }

 public:
  Impl(AsioLoop& loop, HttpEndpoint endpoint, HttpTimeouts timeouts)
      : endpoint_(std::move(endpoint)),
        timeouts_(timeouts),
        resolver_(loop.context()),
        socket_(loop.context()),
        timer_(loop) {}

  void Connect(absl::AnyInvocable<void(Status)> done) {
    on_connected_ = std::move(done);
    SetDeadline(timeouts_.connect, "connecting");
    const bool proxied = !endpoint_.proxy_host.empty();
    resolver_.async_resolve(
        proxied ? endpoint_.proxy_host : endpoint_.host,
        proxied ? endpoint_.proxy_port : endpoint_.port,
        Guard([this](const error_code& error, const tcp::resolver::results_type& addresses) {
          if (error) return FailConnect("cannot resolve", error.message());
          ConnectTo(addresses);
        }));
  }

  void Exchange(const HttpRequest& request, uint64_t body_limit, Events events) {
    events_ = std::move(events);
    request_.emplace(ToBeast(request));
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
    timer_.Cancel();
    resolver_.cancel();
    error_code ignored;
    socket_.close(ignored);
  }

  bool LooksAlive() {
    if (closed_ || buffer_.size() > 0) return false;
    char byte = 0;
    const ssize_t count = ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  }

 private:
  using Parser = http::response_parser<http::buffer_body>;

  template <class F>
  void WithStream(F function) {
    if (tls_) {
      function(*tls_);
    } else {
      function(socket_);
    }
  }

  // ---- opening ----

  void SetDeadline(Duration limit, std::string_view what) {
    timer_.Set(limit, [this, limit, what] {
      const auto self = shared_from_this();
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit).count();
      FailConnect("cannot connect to", fmt::format("{} took longer than {} s", what, seconds));
    });
  }

  void FailConnect(std::string_view what, std::string_view why) {
    auto done = std::move(on_connected_);
    const std::string where =
        endpoint_.proxy_host.empty()
            ? fmt::format("{}:{}", endpoint_.host, endpoint_.port)
            : fmt::format("{}:{} through proxy {}:{}", endpoint_.host, endpoint_.port,
                          endpoint_.proxy_host, endpoint_.proxy_port);
    Close();
    if (done) done(Unavailable("{} {}: {}", what, where, why));
  }

  void ConnectTo(const tcp::resolver::results_type& addresses) {
    asio::async_connect(socket_, addresses,
                        Guard([this](const error_code& error, const tcp::endpoint&) {
                          if (error) return FailConnect("cannot connect to", error.message());
                          error_code ignored;
                          socket_.set_option(tcp::no_delay(true), ignored);
                          WatchPeer(socket_.native_handle(), timeouts_.dead_peer);
                          if (endpoint_.proxy_host.empty()) return Handshake();
                          AskProxy();
                        }));
  }

  void AskProxy() {
    const std::string target = endpoint_.host + ":" + endpoint_.port;
    proxy_request_.emplace(http::verb::connect, target, 11);
    proxy_request_->set(http::field::host, target);
    if (!endpoint_.proxy_authorization.empty()) {
      proxy_request_->set(http::field::proxy_authorization, endpoint_.proxy_authorization);
    }
    http::async_write(socket_, *proxy_request_, Guard([this](const error_code& error, size_t) {
                        if (error) return FailConnect("cannot connect to", error.message());
                        ReadProxyAnswer();
                      }));
  }

  void ReadProxyAnswer() {
    proxy_parser_.emplace();
    proxy_parser_->skip(true);  // an answer to CONNECT has no body
    http::async_read_header(
        socket_, buffer_, *proxy_parser_, Guard([this](const error_code& error, size_t) {
          if (error) return FailConnect("cannot connect to", error.message());
          const int status = static_cast<int>(proxy_parser_->get().result_int());
          if (status / 100 != 2) {
            return FailConnect("cannot connect to", fmt::format("the proxy answered {}", status));
          }
          Handshake();
        }));
  }

  void Handshake() {
    if (endpoint_.tls == nullptr) return Connected();
    tls_.emplace(socket_, *endpoint_.tls);
    SetDeadline(timeouts_.handshake, "the TLS handshake");
    if (!SetPeerName()) return FailConnect("cannot verify", "the server name is not usable");
    tls_->async_handshake(ssl::stream_base::client, Guard([this](const error_code& error) {
                            if (error) return FailConnect("TLS with", HandshakeError(error));
                            Connected();
                          }));
  }

  bool SetPeerName() {
    SSL* handle = tls_->native_handle();
    error_code not_an_address;
    asio::ip::make_address(endpoint_.tls_name, not_an_address);
    if (not_an_address) SSL_set_tlsext_host_name(handle, endpoint_.tls_name.c_str());
    if (!endpoint_.verify) return true;
    X509_VERIFY_PARAM* parameters = SSL_get0_param(handle);
    X509_VERIFY_PARAM_set_hostflags(parameters, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return not_an_address
               ? X509_VERIFY_PARAM_set1_host(parameters, endpoint_.tls_name.data(),
                                             endpoint_.tls_name.size()) == 1
               : X509_VERIFY_PARAM_set1_ip_asc(parameters, endpoint_.tls_name.c_str()) == 1;
  }

  std::string HandshakeError(const error_code& error) {
    const long result = SSL_get_verify_result(tls_->native_handle());
    if (result == X509_V_OK) return error.message();
    return fmt::format("the server's certificate is not acceptable for {}: {}", endpoint_.tls_name,
                       X509_verify_cert_error_string(result));
  }

  void Connected() {
    timer_.Cancel();
    auto done = std::move(on_connected_);
    done(absl::OkStatus());
  }

  // ---- one request ----

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

  void ReadBody() {
    if (parser_->is_done()) return Finish();
    auto& body = parser_->get().body();
    if (data_.empty()) data_.resize(kReadSize);
    body.data = data_.data();
    body.size = data_.size();
    body.more = true;
    WithStream([this](auto& stream) {
      http::async_read_some(stream, buffer_, *parser_,
                            Guard([this](const error_code& error, size_t) { OnBody(error); }));
    });
  }

  void OnBody(const error_code& error) {
    const size_t count = data_.size() - parser_->get().body().size;
    if (count > 0) events_.data({data_.data(), count});
    if (closed_) return;
    if (error && error != http::error::need_buffer) return Fail(ReadError(error));
    ReadBody();
  }

  void Finish() {
    const bool reusable = parser_->get().keep_alive() && !parser_->get().need_eof();
    parser_.reset();
    auto end = std::exchange(events_, {}).end;
    end(absl::OkStatus(), reusable);
  }

  void Fail(const Status& status) {
    auto end = std::exchange(events_, {}).end;
    Close();
    end(status, false);
  }

  HttpEndpoint endpoint_;
  const HttpTimeouts timeouts_;
  tcp::resolver resolver_;
  tcp::socket socket_;
  std::optional<ssl::stream<tcp::socket&>> tls_;  // on top of the socket, unless plain HTTP
  boost::beast::flat_buffer buffer_;
  std::optional<http::request<http::empty_body>> proxy_request_;
  std::optional<http::response_parser<http::empty_body>> proxy_parser_;

  std::optional<http::request<http::string_body>> request_;
  std::optional<Parser> parser_;
  std::vector<char> data_;
  uint64_t body_limit_ = 0;

  absl::AnyInvocable<void(Status)> on_connected_;
  Events events_;
  bool closed_ = false;
  Timer timer_;
};

HttpConnection::HttpConnection(AsioLoop& loop, HttpEndpoint endpoint, HttpTimeouts timeouts)
    : impl_(std::make_shared<Impl>(loop, std::move(endpoint), timeouts)) {}
HttpConnection::~HttpConnection() { impl_->Close(); }

void HttpConnection::Connect(absl::AnyInvocable<void(Status)> done) {
  impl_->Connect(std::move(done));
}
void HttpConnection::Exchange(const HttpRequest& request, uint64_t body_limit, Events events) {
  impl_->Exchange(request, body_limit, std::move(events));
}
void HttpConnection::Close() { impl_->Close(); }
bool HttpConnection::LooksAlive() { return impl_->LooksAlive(); }

}  // namespace koord::kube
