#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/asio_loop.h"
#include "base/status.h"
#include "kube/http.h"
#include "kube/serving/session_group.h"

namespace koord::kube {

// What a TLS server shows and trusts, as PEM.
struct TlsIdentity {
  std::string certificate;
  std::string key;
  std::string client_ca;      // certificates of clients are verified with this
  bool only_tls_1_3 = false;  // otherwise TLS 1.2 is spoken too
  bool operator==(const TlsIdentity&) const = default;
};

// HTTPS/1.1 on a socket, for any HttpHandler.
//
// Listens on loopback only and answers only requests that name it in their Host header, unless told
// otherwise. A client certificate that verifies becomes the request's user; what else a request
// needs to be let in is the handler's business, and the gate's, where there is one.
//
// Holds no more for strangers than it is told to (SessionOptions): connections, in all and of one
// peer; bodies of requests; the time that each step may take.
class HttpServer {
 public:
  struct Options {
    std::string address = "127.0.0.1";
    uint16_t port = 0;                    // 0: any that is free
    bool allow_remote = false;            // needed for an address that other machines can reach
    std::optional<TlsIdentity> tls = {};  // without it plain HTTP is spoken
    std::vector<std::string> host_names = {};  // further names under which it is called
    bool any_host = false;        // answers whatever name it is called by, such as a pod's address
    RequestGate* gate = nullptr;  // refuses requests before their bodies are read
    SessionOptions session = {};
  };

  static StatusOr<std::unique_ptr<HttpServer>> Start(AsioLoop& loop, Options options,
                                                     HttpHandler& handler);
  virtual ~HttpServer() = default;  // closes everything at once

  virtual uint16_t port() const = 0;
  virtual std::string url() const = 0;  // "https://127.0.0.1:6443"
  virtual size_t connections() const = 0;
  virtual size_t streams() const = 0;
  virtual ServingStats stats() const = 0;

  // Shows another certificate to connections from now on.
  virtual Status SetTls(const TlsIdentity& tls) = 0;

  // Takes no more connections, ends streams, lets other answers be finished for a moment. `done`
  // runs when all are closed, after less than a second.
  virtual void Stop(Task done) = 0;
};

}  // namespace koord::kube
