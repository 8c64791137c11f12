#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/event_loop.h"
#include "base/metrics/metrics.h"
#include "base/scope.h"
#include "kube/client/client.h"
#include "kube/controller/controller.h"
#include "kube/events/event_recorders.h"
#include "manager/config/manager_gates.h"
#include "manager/config/slo_config_keeper.h"
#include "manager/controller/node_controller.h"
#include "manager/informers/manager_informers.h"
#include "manager/noderesource/node_resource_controller.h"
#include "manager/profile/colocation_profile_controller.h"
#include "program/component_api.h"

namespace koord::manager {

// Which of several named things are switched on: "a,-b,*". The first entry that is a name, or a
// name after a dash, decides about it; about all others whether there is a star.
bool IsSwitchedOn(const std::vector<std::string>& list, std::string_view name);

// Whether all that is switched on or off is there to be; the error names what is.
Status CheckSwitches(std::string_view flag, const std::vector<std::string>& list,
                     std::span<const std::string_view> known);
std::span<const std::string_view> KnownControllers();
std::span<const std::string_view> KnownNodeResourcePlugins();

// The controllers of koord-manager without their shell: everything but flags, sockets and leader
// election, so that the program, the local cluster and simulations run the same thing.
class ManagerApp {
 public:
  struct Options {
    std::vector<std::string> controllers{"*"};
    std::vector<std::string> noderesource_plugins{"*"};
    kube::ObjectKey slo_config{"koordinator-system", "slo-controller-config"};
    std::string only_namespace = {};  // of pods; empty: all
    Duration resync{0};               // how often every node is looked at again; zero: never
    FeatureGates gates = ManagerFeatureGates();
    ColocationProfileController::Options colocation_profile = {};
    bool webhooks = false;  // whether webhooks share what is known of the cluster
    uint64_t seed = 1;
    // Copies that the process keeps anyway; null: all are our own.
    kube::InformerSet* lender = nullptr;
    // Where it shows its metrics; null: nowhere. Must not be asked once the app is gone.
    program::ComponentApi* api = nullptr;
  };

  // `client` must write only while this instance leads.
  ManagerApp(kube::Client& client, Options options);
  ~ManagerApp();

  // Starts to watch the cluster. Standby instances do that too, so as to take over at once.
  void Watch();
  // Runs `callback` when the whole cluster is known; at once if it is.
  void WhenSynced(std::function<void()> callback) { informers_.WhenSynced(std::move(callback)); }
  // Acts as soon as the whole cluster is known.
  void Lead();
  // Stops acting; `done` runs when what is under way is finished.
  void Stop(Task done = [] {});

  bool synced() const { return informers_.synced(); }
  // Knows the whole cluster, and nothing is to be looked at or under way.
  bool quiet() const;

  ManagerInformers& informers() { return informers_; }
  SloConfigKeeper& config() { return config_; }
  // Null if it is switched off.
  NodeResourceController* node_resources() { return node_resources_; }

 private:
  bool Runs(std::string_view controller) const;
  void MakeControllers();
  void MakeProfileControllers();
  void MakeQuotaUsageController();
  void Serve(program::ComponentApi& api);
  kube::HttpResponse ExplainNode(const std::string& node, std::string_view resource);
  void Begin();
  kube::ControllerParts PartsOf(std::string_view component);
  void FinishWhenIdle();

  kube::Client& client_;
  const Options options_;
  metrics::Registry metrics_;  // of the controllers
  kube::EventRecorders recorders_;
  ManagerInformers informers_;
  SloConfigKeeper config_;
  ManagerContext context_;
  std::vector<std::unique_ptr<kube::Controller>> controllers_;
  NodeResourceController* node_resources_ = nullptr;
  metrics::Gauge& is_leader_;
  bool leads_ = false;
  Task stopped_;
  Timer stopping_;
  Scope scope_;
};

}  // namespace koord::manager
