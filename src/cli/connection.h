#pragma once
#include <memory>
#include <string>

#include "base/asio_loop.h"
#include "base/status.h"
#include "kube/client/client.h"
#include "kube/transport/client_config.h"

namespace CLI {
class App;
}

namespace koord::cli {

struct ConnectionOptions {
  std::string kubeconfig;
  std::string context;
  std::string data_dir = ".koord";
};
void AddConnectionOptions(CLI::App& app, ConnectionOptions& options);

// A server beside the API server.
struct DirectAddress {
  std::string url;      // https://127.0.0.1:10259; with http:// nobody is told who asks
  std::string ca_file;  // who vouches for it; empty: the cluster's authority
  bool insecure_skip_tls_verify = false;
};

// An API server that a command asks one thing after the other.
//
// Which one: --kubeconfig, then $KUBECONFIG, then the local cluster that runs in --data-dir, then
// ~/.kube/config.
class Connection {
 public:
  static StatusOr<std::unique_ptr<Connection>> Open(const ConnectionOptions& options);

  const std::string& server() const { return server_; }
  StatusOr<kube::Json> List(const kube::Resource& resource, const std::string& ns,
                            const kube::ListOptions& options);
  StatusOr<kube::Json> Get(const kube::Resource& resource, const kube::ObjectKey& key);
  // Any path of the API server; whatever it answers.
  StatusOr<kube::HttpResponse> Raw(kube::HttpRequest request);
  StatusOr<kube::HttpResponse> Raw(const std::string& target);
  // Of another server that knows the cluster's users, as the same user.
  StatusOr<kube::HttpResponse> RawAt(const DirectAddress& address, const std::string& target);

 private:
  Connection() = default;

  AsioLoop loop_;
  std::unique_ptr<kube::Client> client_;
  std::string server_;
  kube::ClientConfig config_;
};

}  // namespace koord::cli
