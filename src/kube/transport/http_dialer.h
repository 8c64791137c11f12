#pragma once
#include <absl/functional/any_invocable.h>

#include <memory>
#include <string>

#include "base/asio_loop.h"
#include "base/status.h"
#include "kube/transport/http_connection.h"

namespace boost::asio::ssl {
class context;
}

namespace koord::kube {

// Where a connection leads and through what.
struct HttpEndpoint {
  std::string host;
  std::string port;
  std::shared_ptr<boost::asio::ssl::context> tls;  // null: plain HTTP
  std::string tls_name;                            // that the certificate must be for
  bool verify = true;
  bool http2 = false;  // offered to the server, which chooses; only with TLS
  // An HTTP proxy that is asked to CONNECT; none if the host is empty.
  std::string proxy_host, proxy_port, proxy_authorization;
};

struct HttpTimeouts {
  Duration connect = std::chrono::seconds(30);
  Duration handshake = std::chrono::seconds(10);
  // A peer that does not even acknowledge for this long is gone.
  Duration dead_peer = std::chrono::seconds(45);
};

// Opens one connection. Failures say what could not be reached and why. `done` never runs inside
// the constructor, nor after the destructor, which gives up.
class HttpDialer {
 public:
  using Done = absl::AnyInvocable<void(StatusOr<std::unique_ptr<HttpConnection>>)>;

  HttpDialer(AsioLoop& loop, HttpEndpoint endpoint, HttpTimeouts timeouts, Done done);
  HttpDialer(const HttpDialer&) = delete;
  HttpDialer& operator=(const HttpDialer&) = delete;
  ~HttpDialer();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace koord::kube
