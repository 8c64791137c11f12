#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/asio_loop.h"
#include "base/event_loop.h"
#include "base/status.h"
#include "kube/client/client.h"
#include "kube/http.h"
#include "localcluster/apiserver/api_server.h"
#include "localcluster/assembly/summary.h"
#include "localcluster/nodes/node_shape.h"
#include "scheduler/config/scheduler_configuration.h"

namespace koord::localcluster {

struct LocalClusterOptions {
  std::string database;  // SQLite file; empty keeps everything in memory
  uint64_t seed = 1;     // of names, ids and jitter
  int nodes = 20;
  std::vector<NodeShape> shapes;
  std::string load = "diurnal";
  // Scenarios bring their own Node objects: those are simulated too.
  bool adopt_nodes = false;
  // What an installation has from the start: see InstallDefaults. Scenarios bring their own.
  bool defaults = false;
  // Services and batch jobs to look at: see Demo.
  bool demo = false;
  // How pods are placed; nothing: as LocalSchedulerConfiguration says.
  std::optional<scheduler::SchedulerConfiguration> scheduler;
  // What koord-manager is told on its command line.
  std::vector<std::string> manager_flags;
  // With it, webhooks are called over HTTPS. Without it they are called in this process.
  AsioLoop* sockets = nullptr;
  // What needs sockets or keys: addresses, webhook transports, service account tokens.
  apiserver::ApiServer::Options api = {};
  // The database can no longer be written: nothing is acknowledged any more.
  std::function<void(const Status&)> on_fatal = {};
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
  virtual const apiserver::ApiServer& api_server() const = 0;
  // Of an administrator, in-process, without a rate limit.
  virtual kube::Client& client() = 0;
  virtual Summary Summarize() const = 0;
  // It can be used: every node is registered and Ready, everybody knows the cluster, and webhooks
  // are answered. /readyz says the same, with what is missing.
  virtual bool ready() = 0;
  // Besides, nothing but heart-beats and load reports is under way.
  virtual bool quiet() = 0;
  // Ends all watches and refuses further requests.
  virtual void Shutdown() = 0;
};

}  // namespace koord::localcluster
