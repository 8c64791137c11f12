#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/event_loop.h"
#include "base/metrics/metrics.h"
#include "base/scope.h"
#include "component/component_api.h"
#include "kube/client/client.h"
#include "kube/client/event_recorder.h"
#include "manager/cluster/manager_informers.h"
#include "manager/cluster/node_controller.h"
#include "manager/config/manager_gates.h"
#include "manager/config/slo_config_keeper.h"
#include "manager/noderesource/node_resource_controller.h"
#include "manager/profile/colocation_profile_controller.h"

namespace koord::manager {

// Which of several named things are switched on: "a,-b,*". The first entry that is a name, or a
// name after a dash, decides about it; about all others whether there is a star.
bool IsSwitchedOn(const std::vector<std::string>& list, std::string_view name);

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
    // Copies that the process keeps anyway (see ManagerInformers); null: keep our own.
    kube::Informer<kube::Node>* nodes = nullptr;
    kube::Informer<kube::Pod>* pods = nullptr;
    // Where it shows its metrics; null: nowhere. Must not be asked once the app is gone.
    component::ComponentApi* api = nullptr;
  };

  // `client` must write only while this instance leads.
  ManagerApp(kube::Client& client, Options options);
  ~ManagerApp();

  // Starts to watch the cluster. Standby instances do that too, so as to take over at once.
  void Watch() { informers_.Start(); }
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
  ManagerInformers::Options InformerOptions() const;
  void MakeControllers();
  void MakeProfileControllers();
  void Serve(component::ComponentApi& api);
  kube::HttpResponse ExplainNode(const std::string& node, std::string_view resource);
  void Begin();
  kube::EventRecorder& RecorderFor(std::string_view component);
  void FinishWhenIdle();

  kube::Client& client_;
  const Options options_;
  metrics::Registry metrics_;  // of the controllers
  std::map<std::string, std::unique_ptr<kube::EventRecorder>, std::less<>> recorders_;
  ManagerInformers informers_;
  SloConfigKeeper config_;
  ManagerContext context_;
  std::vector<std::unique_ptr<Controller>> controllers_;
  NodeResourceController* node_resources_ = nullptr;
  metrics::Gauge& is_leader_;
  bool leads_ = false;
  Task stopped_;
  Timer stopping_;
  Scope scope_;
};

}  // namespace koord::manager
