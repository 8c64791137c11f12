#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/asio_loop.h"
#include "base/status.h"
#include "kube/client/client.h"
#include "kube/http.h"
#include "program/delegated_auth.h"
#include "program/options.h"
#include "program/plain_view.h"

namespace koord::program {

// Carries what a component answers to sockets: plain ports, where whoever reaches them learns of
// its health alone, and a secure one, where callers must show who they are and be allowed by the
// cluster.
//
// The certificate of the secure port, the CAs of clients in a file and those that the cluster
// publishes (ConfigMap kube-system/extension-apiserver-authentication) are looked at every minute;
// what is new counts for new connections, what is broken is logged and changes nothing.
class ComponentServer {
 public:
  struct Plain {
    std::string address;
    uint16_t port = 0;  // 0: any that is free
    PlainViewOptions view = {};
  };
  struct Secure {
    std::string program;
    SecureServingOptions options;
    uint16_t port = 0;  // 0: any that is free
  };

  // `client` asks the API server about callers; it and `api` must outlive the server.
  static StatusOr<std::unique_ptr<ComponentServer>> Start(AsioLoop& loop, kube::HttpHandler& api,
                                                          kube::Client& client,
                                                          const std::optional<Plain>& plain,
                                                          const std::optional<Secure>& secure);
  virtual ~ComponentServer() = default;

  virtual uint16_t plain_port() const = 0;   // 0: there is none
  virtual uint16_t secure_port() const = 0;  // likewise
  // Looks at certificates now instead of within a minute.
  virtual void CheckCertificates() = 0;
  // Answers what is under way, for less than a second.
  virtual void Stop(Task done) = 0;
};

}  // namespace koord::program
