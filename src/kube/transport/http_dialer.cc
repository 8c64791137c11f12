#include "kube/transport/http_dialer.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <optional>
#include <utility>

#include "base/event_loop.h"
#include "kube/transport/certificate_error.h"
#include "kube/transport/guarded.h"
#include "kube/transport/open_socket.h"

namespace koord::kube {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;
using boost::system::error_code;

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

}  // namespace

class HttpDialer::Impl final : public Guarded<Impl> {
 public:
  Impl(AsioLoop& loop, HttpEndpoint endpoint, HttpTimeouts timeouts, Done done)
      : loop_(loop),
        endpoint_(std::move(endpoint)),
        timeouts_(timeouts),
        done_(std::move(done)),
        resolver_(loop.context()),
        socket_(loop.context()),
        timer_(loop) {}

  void Start() {
    SetDeadline(timeouts_.connect, "connecting");
    const bool proxied = !endpoint_.proxy_host.empty();
    resolver_.async_resolve(
        proxied ? endpoint_.proxy_host : endpoint_.host,
        proxied ? endpoint_.proxy_port : endpoint_.port,
        Guard([this](const error_code& error, const tcp::resolver::results_type& addresses) {
          if (error) return Fail("cannot resolve", error.message());
          ConnectTo(addresses);
        }));
  }

  void Close() {
    closed_ = true;
    timer_.Cancel();
    resolver_.cancel();
    error_code ignored;
    socket_.close(ignored);
  }

 private:
  void SetDeadline(Duration limit, std::string_view what) {
    timer_.Set(limit, [this, limit, what] {
      const auto self = shared_from_this();
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit).count();
      Fail("cannot connect to", fmt::format("{} took longer than {} s", what, seconds));
    });
  }

  void Fail(std::string_view what, std::string_view why, bool is_refusal = false) {
    const std::string where =
        endpoint_.proxy_host.empty()
            ? fmt::format("{}:{}", endpoint_.host, endpoint_.port)
            : fmt::format("{}:{} through proxy {}:{}", endpoint_.host, endpoint_.port,
                          endpoint_.proxy_host, endpoint_.proxy_port);
    Close();
    auto done = std::move(done_);
    const std::string message = fmt::format("{} {}: {}", what, where, why);
    done(is_refusal ? CertificateRefusedError(message) : Unavailable("{}", message));
  }

  void ConnectTo(const tcp::resolver::results_type& addresses) {
    asio::async_connect(socket_, addresses,
                        Guard([this](const error_code& error, const tcp::endpoint&) {
                          if (error) return Fail("cannot connect to", error.message());
                          error_code ignored;
                          socket_.set_option(tcp::no_delay(true), ignored);
                          WatchPeer(socket_.native_handle(), timeouts_.dead_peer);
                          if (endpoint_.proxy_host.empty()) return StartTls();
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
                        if (error) return Fail("cannot connect to", error.message());
                        ReadProxyAnswer();
                      }));
  }

  void ReadProxyAnswer() {
    proxy_parser_.emplace();
    proxy_parser_->skip(true);  // an answer to CONNECT has no body
    http::async_read_header(
        socket_, buffer_, *proxy_parser_, Guard([this](const error_code& error, size_t) {
          if (error) return Fail("cannot connect to", error.message());
          const int status = static_cast<int>(proxy_parser_->get().result_int());
          if (status / 100 != 2) {
            return Fail("cannot connect to", fmt::format("the proxy answered {}", status));
          }
          StartTls();
        }));
  }

  void StartTls() {
    if (endpoint_.tls == nullptr) return Connected();
    tls_ = std::make_unique<TlsSocket>(endpoint_.tls->native_handle(), socket_.native_handle());
    if (endpoint_.http2) tls_->OfferHttp2();
    SetDeadline(timeouts_.handshake, "the TLS handshake");
    if (!tls_->SetPeerName(endpoint_.tls_name, endpoint_.verify)) {
      return Fail("cannot verify", "the server name is not usable");
    }
    Handshake();
  }

  void Handshake() {
    const TlsSocket::Result result = tls_->Handshake();
    if (result.error) return FailHandshake(result.error);
    if (result.wait == TlsSocket::Wait::kNone) return Connected();
    socket_.async_wait(WaitType(result.wait), Guard([this](const error_code& error) {
                         if (error) return Fail("TLS with", error.message());
                         Handshake();
                       }));
  }

  void FailHandshake(const error_code& error) {
    const std::string refusal = tls_->CertificateError();
    if (refusal.empty()) return Fail("TLS with", error.message());
    Fail("TLS with",
         fmt::format("the server's certificate is not acceptable for {}: {}", endpoint_.tls_name,
                     refusal),
         /*is_refusal=*/true);
  }

  void Connected() {
    const bool http2 = tls_ != nullptr && tls_->chose_http2();
    OpenSocket open{std::move(socket_), std::move(tls_)};
    Close();
    auto done = std::move(done_);
    done(http2 ? MakeHttp2Connection(loop_, std::move(open), timeouts_.dead_peer)
               : MakeHttp1Connection(std::move(open)));
  }

  AsioLoop& loop_;
  const HttpEndpoint endpoint_;
  const HttpTimeouts timeouts_;
  Done done_;
  tcp::resolver resolver_;
  tcp::socket socket_;
  std::unique_ptr<TlsSocket> tls_;
  boost::beast::flat_buffer buffer_;
  std::optional<http::request<http::empty_body>> proxy_request_;
  std::optional<http::response_parser<http::empty_body>> proxy_parser_;
  Timer timer_;
};

HttpDialer::HttpDialer(AsioLoop& loop, HttpEndpoint endpoint, HttpTimeouts timeouts, Done done)
    : impl_(std::make_shared<Impl>(loop, std::move(endpoint), timeouts, std::move(done))) {
  impl_->Start();
}
HttpDialer::~HttpDialer() { impl_->Close(); }

}  // namespace koord::kube
