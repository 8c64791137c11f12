#pragma once
#include <absl/functional/any_invocable.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/asio_loop.h"
#include "base/status.h"
#include "kube/http.h"

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
  // An HTTP proxy that is asked to CONNECT; none if the host is empty.
  std::string proxy_host, proxy_port, proxy_authorization;
};

struct HttpTimeouts {
  Duration connect = std::chrono::seconds(30);
  Duration handshake = std::chrono::seconds(10);
  // A peer that does not even acknowledge for this long is gone.
  Duration dead_peer = std::chrono::seconds(45);
};

// One HTTP/1.1 connection: opened once, then one request after the other. Callbacks never run
// inside a call, and not at all after Close.
class HttpConnection {
 public:
  // `head` comes without body. `end` is called once: OK after a complete answer, with `reusable` if
  // another request may follow.
  struct Events {
    absl::AnyInvocable<void(HttpResponse head)> head;
    absl::AnyInvocable<void(std::string_view data)> data;
    absl::AnyInvocable<void(Status status, bool reusable)> end;
  };

  HttpConnection(AsioLoop& loop, HttpEndpoint endpoint, HttpTimeouts timeouts);
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;
  ~HttpConnection();

  // Failures say what could not be reached and why.
  void Connect(absl::AnyInvocable<void(Status)> done);
  // `body_limit` of zero is none.
  void Exchange(const HttpRequest& request, uint64_t body_limit, Events events);
  void Close();

  // False if the peer has closed an idle connection, or sent what nobody asked for.
  bool LooksAlive();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace koord::kube
