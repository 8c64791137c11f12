#pragma once
#include <functional>
#include <memory>
#include <string>

#include "base/asio_loop.h"
#include "base/status.h"
#include "localcluster/assembly/local_cluster.h"

namespace koord::localcluster {

struct LocalServerOptions {
  std::string data_dir = ".koord";
  bool in_memory = false;  // state is not kept; credentials still are
  std::string address = "127.0.0.1";
  uint16_t port = 0;  // 0: the one used last time if it is free, else any
  bool allow_remote = false;
  double speed = 1;  // how fast the cluster's time passes
  LocalClusterOptions cluster;
};

// A local cluster that real clients can reach: HTTPS, credentials, a kubeconfig, state on disk.
class LocalServer {
 public:
  // Serves as soon as it returns; the cluster may still be getting ready.
  static StatusOr<std::unique_ptr<LocalServer>> Start(AsioLoop& loop, LocalServerOptions options);
  virtual ~LocalServer() = default;

  virtual LocalCluster& cluster() = 0;
  virtual std::string url() const = 0;
  virtual std::string kubeconfig() const = 0;  // path
  // Ends watches and connections; `done` runs when nothing is open any more.
  virtual void Stop(Task done) = 0;
};

}  // namespace koord::localcluster
