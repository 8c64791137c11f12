#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/asio_loop.h"
#include "kube/http.h"

namespace koord::kube {

struct PemPair {
  std::string certificate, key;
};

// For tests: a certificate authority that lives as long as the test.
class TestAuthority {
 public:
  explicit TestAuthority(const std::string& name);
  ~TestAuthority();

  const std::string& pem() const { return pem_; }
  // Names are DNS names or addresses.
  PemPair Issue(const std::string& common_name, const std::vector<std::string>& names) const;

 private:
  struct Key;
  std::unique_ptr<Key> key_;
  std::string pem_;
};

// For tests: a real HTTP/1.1 server on a port of 127.0.0.1, with or without TLS, that runs on the
// test's own loop. A handler that drops its ResponseWriter breaks the connection.
class HttpTestServer {
 public:
  struct Tls {
    PemPair identity;
    std::string client_authority;  // who signs clients; a client's common name becomes request.user
  };

  HttpTestServer(AsioLoop& loop, HttpHandler& handler, std::optional<Tls> tls);
  ~HttpTestServer();

  std::string port() const;
  size_t accepted() const;  // connections so far
  size_t open() const;      // connections now
  void CloseConnections();
  // Accepts connections but never reads from them.
  void PlayDead(bool dead);

 private:
  class Impl;
  class Session;
  std::shared_ptr<Impl> impl_;
};

// For tests: an HTTP proxy that answers every CONNECT with the given code, and if that is 200,
// connects to the port asked for on 127.0.0.1.
class TestProxy {
 public:
  TestProxy(AsioLoop& loop, int answer);
  ~TestProxy();

  std::string port() const;
  const std::vector<std::string>& requests() const;  // "CONNECT host:port <authorization>"

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace koord::kube
