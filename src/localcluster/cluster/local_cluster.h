#pragma once
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/event_loop.h"
#include "base/status.h"
#include "kube/client/client.h"
#include "kube/http.h"
#include "localcluster/nodes/node_shape.h"

namespace koord::localcluster {

struct LocalClusterOptions {
  std::string database;  // SQLite file; empty keeps everything in memory
  uint64_t seed = 1;     // of names, ids and jitter
  int nodes = 20;
  std::vector<NodeShape> shapes;
  std::string load = "diurnal";
  // Scenarios bring their own Node objects: those are simulated too.
  bool adopt_nodes = false;
  // Components that are left out, to be run by hand against the cluster: see ComponentNames.
  std::set<std::string, std::less<>> without;
};

// What `without` may name.
const std::vector<std::string>& ComponentNames();

// A whole cluster on one event loop: API server, controllers, simulated nodes and the components of
// this project. Nothing here knows of sockets; `handler()` is what a listener serves.
class LocalCluster {
 public:
  static StatusOr<std::unique_ptr<LocalCluster>> Start(EventLoop& loop,
                                                       LocalClusterOptions options);
  virtual ~LocalCluster() = default;

  virtual kube::HttpHandler& handler() = 0;
  // Of an administrator, in-process, without a rate limit.
  virtual kube::Client& client() = 0;
  // Writes asked of the API server so far, heart-beats and load reports aside. When it stands still
  // nothing is under way.
  virtual uint64_t writes() const = 0;
  // Every node is registered and the controllers are in step with the API server.
  virtual bool ready() const = 0;
};

}  // namespace koord::localcluster
