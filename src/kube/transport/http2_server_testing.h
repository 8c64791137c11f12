#pragma once
#include <memory>
#include <string>

#include "base/asio_loop.h"
#include "kube/http.h"
#include "kube/transport/http_server_testing.h"

namespace koord::kube {

// For tests: a real HTTP/2 server with TLS on a port of 127.0.0.1, that runs on the test's own
// loop. A handler that drops its ResponseWriter breaks off that one answer.
class Http2TestServer {
 public:
  Http2TestServer(AsioLoop& loop, HttpHandler& handler, const PemPair& identity,
                  uint32_t max_streams = 100);
  ~Http2TestServer();

  std::string port() const;
  size_t accepted() const;  // connections so far
  size_t open() const;      // connections now
  size_t pings() const;     // that clients have sent
  size_t reads() const;     // TLS records that have come, or less
  void CloseConnections();
  // Stops reading, and with that answering.
  void PlayDead();
  // Further requests are answered with REFUSED_STREAM.
  void RefuseRequests(int count);
  // Tells clients that no request after the first `handled` of a connection was looked at. These
  // must not have been answered yet.
  void GoAway(int handled);

 private:
  class Impl;
  class Session;
  std::shared_ptr<Impl> impl_;
};

}  // namespace koord::kube
