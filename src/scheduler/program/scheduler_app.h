#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/event_loop.h"
#include "base/feature_gates.h"
#include "base/scope.h"
#include "kube/client/client.h"
#include "kube/transport/client_config.h"
#include "kube/transport/transport.h"
#include "model/transform/transform.h"
#include "program/component_api.h"
#include "scheduler/config/expand_plugins.h"
#include "scheduler/config/load_configuration.h"
#include "scheduler/core/cluster_feed.h"
#include "scheduler/core/scheduler.h"
#include "scheduler/explain/decision_log.h"
#include "scheduler/metrics/attempt_monitor.h"
#include "scheduler/metrics/scheduler_metrics.h"
#include "scheduler/program/problem_reporter.h"
#include "scheduler/service/debug_log.h"

namespace koord::scheduler {

// koord-scheduler without its shell: everything but flags, sockets and leader election, so that the
// program, the local cluster and simulations run the same thing.
class SchedulerApp {
 public:
  struct Options {
    SchedulerConfiguration configuration;
    FeatureGates gates;
    uint64_t seed = 1;
    Duration flush_after = 5min;  // --pod-max-in-unschedulable-pods-duration
    DebugFlags debug = {};
    MonitorOptions monitor = {};
    // Whether this instance leads; asked before every write and every answer.
    std::function<bool()> may_write = [] { return true; };
    AttemptObserver* observer = nullptr;  // besides its own
    // Where it shows metrics, its configuration and the service API; null: nowhere. Must not be
    // asked once the app is gone.
    program::ComponentApi* api = nullptr;
    // Copies that the process keeps anyway; null: all are our own.
    kube::InformerSet* lender = nullptr;
    // How extenders are reached; null: not at all, and a warning says so.
    using Connect =
        std::function<StatusOr<std::shared_ptr<kube::Transport>>(const kube::ClientConfig&)>;
    Connect connect = nullptr;
  };

  // Fails on a configuration that cannot be run, with all of its mistakes.
  static StatusOr<std::unique_ptr<SchedulerApp>> Make(EventLoop& loop, kube::Client& client,
                                                      Options options);

  // Starts to watch the cluster. Standby instances do that too, so as to take over at once.
  void Watch();
  // Runs `callback` when the whole cluster is known; at once if it is.
  void WhenSynced(std::function<void()> callback) { feed_->WhenSynced(std::move(callback)); }
  // Places pods as soon as the whole cluster is known: with what another has bound that led until
  // a moment ago, if there may have been one.
  void Lead(bool another_led = true);
  // Stops placing pods; `done` runs when the bindings that are under way are finished.
  void Stop(Task done = [] {});

  Scheduler& scheduler() { return *scheduler_; }
  const SchedulerConfiguration& configuration() const { return options_.configuration; }
  const std::vector<std::string>& warnings() const { return warnings_; }
  bool synced() const { return feed_->synced(); }
  // A pod that has not ended, as the scheduler sees it; null if there is none.
  Scheduler::PodPtr FindPod(const kube::ObjectKey& key) const { return feed_->FindPod(key); }
  // Knows the whole cluster, and nothing is to be tried or being bound.
  bool quiet() const { return feed_->synced() && scheduler_->idle(); }

 private:
  SchedulerApp(EventLoop& loop, kube::Client& client, Options options);
  Status MakeScheduler();
  void Begin();
  StatusOr<std::unique_ptr<Extenders>> MakeExtenders() const;  // null: there are none
  void MakeFeed();
  void MakeObservers();
  void Serve(program::ComponentApi& api);
  Scheduler::PodPtr TransformPod(const Scheduler::PodPtr& pod);
  Scheduler::NodePtr TransformNode(const Scheduler::NodePtr& node);

  EventLoop& loop_;
  kube::Client& client_;
  Options options_;
  model::TransformOptions transforms_;
  std::vector<std::string> warnings_;
  std::unique_ptr<kube::EventRecorder> recorder_;
  ProblemReporter problems_;
  ObserverList observers_;
  std::unique_ptr<SchedulerMetrics> metrics_;
  std::unique_ptr<AttemptMonitor> monitor_;
  std::unique_ptr<DebugLog> debug_;
  std::unique_ptr<DecisionLog> decisions_;
  std::unique_ptr<Scheduler> scheduler_;
  std::unique_ptr<ClusterFeed> feed_;
  bool leads_ = false;
  Scope scope_;
};

}  // namespace koord::scheduler
