#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/event_loop.h"
#include "base/feature_gates.h"
#include "base/metrics/metrics.h"
#include "base/random.h"
#include "kube/client/client.h"
#include "kube/events/event_recorder.h"
#include "scheduler/books/books.h"
#include "scheduler/cluster/ledger.h"
#include "scheduler/cluster/pending_pods.h"
#include "scheduler/framework/cluster_objects.h"
#include "scheduler/framework/hint_provider.h"
#include "scheduler/framework/leader_parts.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/framework/row_needs.h"

namespace koord::scheduler {

// What plugins may ask of the scheduler around them.
class SchedulerHandle {
 public:
  virtual ~SchedulerHandle() = default;

  // Whether a pod would pass all filters on a row that looks different, with the pods that are
  // promised the node considered. The first rejection, in profile order.
  virtual RowVerdict CheckRow(PodQuery& query, const RowView& row) = 0;
  // What CheckRow asks, taken apart; good until anything changes. Null: it cannot be.
  virtual const RowNeeds* NeedsOf(PodQuery&) { return nullptr; }
  // As long as this number stays, what CheckRow says of a row stays true until the row changes. 0:
  // it may change without.
  virtual uint64_t RowsVersion(PodQuery& query) = 0;

  // Makes room: evicts the victims, which hold a node, for a pod that is promised it. `done` runs
  // when the API server has been told of all of them: with whether all leave now or are gone.
  using PreemptDone = absl::AnyInvocable<void(bool all_leave)>;
  virtual void Preempt(const Attempt& preemptor, const std::string& node,
                       std::vector<std::shared_ptr<const kube::Pod>> victims, PreemptDone done) = 0;

  // Pods that wait for a permit.
  virtual void ForEachWaiting(const std::function<void(const Attempt&)>& visit) = 0;
  virtual bool Allow(std::string_view uid, std::string_view plugin) = 0;
  // `promise`: what the pod is promised from then on.
  virtual bool Reject(std::string_view uid, std::string_view plugin, std::string reason,
                      PromiseAfter promise) = 0;

  // Moves pods to the active queue, whatever they waited for.
  virtual void Activate(const std::vector<kube::ObjectKey>& pods) = 0;

  // Pods that are promised a node and have none yet.
  virtual std::vector<std::shared_ptr<const kube::Pod>> NominatedTo(std::string_view node) = 0;
  virtual void ClearNomination(const kube::Pod& pod) = 0;
  // Where a pod is promised room; "" if nowhere.
  virtual std::string NominatedNodeOf(const kube::Pod& pod) = 0;
};

// What a plugin is made from. Everything outlives the plugin.
struct PluginContext {
  Ledger& ledger;
  Books& books;
  ClusterObjects& objects;
  Reasons& reasons;
  EventLoop& loop;
  Random& random;
  // Null where nothing is written: benchmarks, `explain`, tests of placement alone.
  SchedulerHandle* handle = nullptr;
  kube::Client* client = nullptr;
  kube::EventRecorder* recorder = nullptr;
  // For those who must know of pods without a node.
  PendingPods* pending = nullptr;
  // For those who write of their own accord: controllers.
  LeaderParts* leader_parts = nullptr;
  std::string profile;  // schedulerName
  // Where plugins count; null: nowhere.
  metrics::Registry* metrics = nullptr;
  // The program's switches; null: all are as by default, that is off.
  const FeatureGates* gates = nullptr;
  // Of the profile: where those meet who give pods more than amounts. Never null.
  std::shared_ptr<ProfileTrials> trials = std::make_shared<ProfileTrials>();

  // Of a gate that is off by default.
  bool Enabled(std::string_view gate) const { return gates != nullptr && gates->Enabled(gate); }
  const NodeTable& nodes() const { return ledger.nodes(); }
};

}  // namespace koord::scheduler
