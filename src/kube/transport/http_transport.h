#pragma once
#include <memory>

#include "base/asio_loop.h"
#include "base/status.h"
#include "kube/transport/client_config.h"
#include "kube/transport/http_dialer.h"
#include "kube/transport/transport.h"

namespace koord::kube {

// Carries requests to a real API server, with TLS unless the URL says http. Over TLS the server may
// choose HTTP/2, where one connection carries all requests and watches; else it is HTTP/1.1, where
// each that is under way has a connection of its own.
//
// Connections are kept and used again. A request beyond the limit waits for another to end. What
// the server sees of us (tokens, certificates) may change while we run: token files and certificate
// files are read again, exec programs asked again, and an answer of 401 leads to one more attempt
// with a new credential, if there is one. When a certificate changes, all connections are closed
// and made anew.
class HttpTransport final : public Transport {
 public:
  struct Options {
    HttpTimeouts timeouts;
    bool http2 = true;            // where the server speaks it
    size_t max_connections = 64;  // or requests at a time, besides watches
    Duration idle_timeout = std::chrono::seconds(60);
    Duration certificate_check = std::chrono::minutes(5);
    uint64_t max_answer = 512 << 20;  // bytes; lists may be long
  };

  // Fails on a configuration that can never work: bad URL, unreadable certificates.
  static StatusOr<std::shared_ptr<Transport>> Make(AsioLoop& loop, const ClientConfig& config,
                                                   Options options);
  static StatusOr<std::shared_ptr<Transport>> Make(AsioLoop& loop, const ClientConfig& config) {
    return Make(loop, config, Options());
  }
  ~HttpTransport() override;

  std::shared_ptr<Call> Send(HttpRequest request, Duration timeout, Done done) override;
  std::unique_ptr<Stream> Open(HttpRequest request, StreamEvents events) override;

 private:
  class Core;
  class Job;
  class JobCall;
  class JobStream;

  explicit HttpTransport(std::shared_ptr<Core> core);

  std::shared_ptr<Core> core_;
};

}  // namespace koord::kube
