#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/event_loop.h"
#include "base/random.h"
#include "base/string_map.h"
#include "kube/client/client.h"
#include "kube/events/event_recorder.h"
#include "scheduler/binding/binding_cycle.h"
#include "scheduler/binding/object_writers.h"
#include "scheduler/binding/pod_patcher.h"
#include "scheduler/binding/waiting_pods.h"
#include "scheduler/cluster/ledger.h"
#include "scheduler/cycle/attempt_observer.h"
#include "scheduler/cycle/runtime.h"
#include "scheduler/framework/cluster_objects.h"
#include "scheduler/framework/plugin_context.h"
#include "scheduler/framework/plugin_lineup.h"
#include "scheduler/nomination/nominations.h"
#include "scheduler/pipeline/node_order.h"
#include "scheduler/queue/scheduling_queue.h"

namespace koord::scheduler {

struct ProfileOptions {
  std::string name;  // schedulerName
  std::unique_ptr<kube::EventRecorder> recorder;
  // Makes its plugins; the context is theirs for good.
  std::function<StatusOr<PluginLineup>(const PluginContext&)> make;
};

// The profiles at work: makes the plugins, the pipeline and the binding cycle of each, and the
// queue that all of them share.
class Profiles {
 public:
  // What all profiles have in common.
  struct Parts {
    EventLoop& loop;
    kube::Client& client;
    Ledger& ledger;
    Books& books;
    ClusterObjects& objects;
    Reasons& reasons;
    Nominations& nominations;
    WaitingPods& waiting;
    PendingPods& pending;
    LeaderParts& leader_parts;
    AttemptObserver& observer;
    metrics::Registry* metrics = nullptr;
    const FeatureGates* gates = nullptr;
  };
  struct BindingHooks {
    BindingCycle::StillWanted still_wanted;
    BindingCycle::PointDone point_done;
    BindingCycle::BindInstead bind_instead = {};
  };
  Profiles(const Parts& parts, BindingHooks hooks, uint64_t seed);

  // Once, before anything else.
  StatusOr<std::unique_ptr<SchedulingQueue>> Make(std::vector<ProfileOptions> profiles,
                                                  QueueOptions options);

  // Who serves a pod; null: nobody.
  Runtime* For(const kube::Pod& pod) const;
  std::vector<const PluginLineup*> lineups() const;
  // Those of all profiles, in their order.
  std::vector<NextPodPlugin*> next_pod_plugins() const;
  // Pods that the API server has not answered about.
  size_t writing() const;

 private:
  // What the queue needs to know of it.
  StatusOr<QueueProfile> Add(ProfileOptions profile);

  const Parts parts_;
  const BindingHooks hooks_;
  ObjectWriters writers_;
  PodPatcher patcher_;
  Random random_;
  NodeOrder order_;
  Runtime::Shared shared_;
  std::vector<std::unique_ptr<Runtime>> runtimes_;
  StringMap<Runtime*> by_name_;
};

}  // namespace koord::scheduler
