#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/virtual_loop.h"
#include "scheduler/cluster/ledger.h"
#include "scheduler/framework/cluster_objects.h"
#include "scheduler/framework/plugin_context.h"
#include "scheduler/framework/plugin_lineup.h"
#include "scheduler/nomination/nominations.h"
#include "scheduler/pipeline/node_order.h"
#include "scheduler/pipeline/pipeline.h"
#include "scheduler/queue/scheduling_queue.h"

namespace koord::scheduler {

// The scheduling core by itself: queue, pipeline and ledger, with nobody to bind pods or to tell of
// it. A pod that is placed is bound at once; victims of a preemption are gone at once.
class CoreDriver final : private SchedulerHandle {
 public:
  // The profile comes from a KubeSchedulerConfiguration; its first profile is used. Pods without a
  // node are told to plugins if it has quotas.
  static StatusOr<std::unique_ptr<CoreDriver>> Make(std::string_view configuration, uint64_t seed);

  ClusterObjects& objects() { return objects_; }
  Ledger& ledger() { return ledger_; }
  Pipeline& pipeline() { return *pipeline_; }
  Reasons& reasons() { return reasons_; }

  void Add(std::shared_ptr<const kube::Pod> pod);
  // Promises a node to a pod that is not in the queue.
  void Nominate(const std::shared_ptr<const kube::Pod>& pod, std::string_view node) {
    nominations_.Nominate(pod, node);
  }
  // One attempt for the pod whose turn it is. False if there is none.
  bool TryNext();
  void TryAll();  // until there is none
  // What plugins do later is done.
  void RunReady() { loop_.RunReady(); }
  // What happens in the cluster, as the queue hears of it.
  void DeletePod(std::string_view uid);
  void SetMetric(std::shared_ptr<const api::NodeMetric> metric);
  // With the pod that stands for it, while it holds room.
  void SetReservation(std::shared_ptr<const api::Reservation> reservation);
  void RemoveReservation(const std::string& name);
  size_t bound() const { return bound_; }
  size_t evicted() const { return evicted_; }

 private:
  CoreDriver();

  bool Place(Attempt& attempt);
  void OnUnfit(Attempt& attempt);
  void OnRefused(Attempt& attempt, const Diagnosis& diagnosis);
  KnownUnfit FindOut(Attempt& attempt, const Diagnosis& diagnosis);

  RowVerdict CheckRow(PodQuery& query, const RowView& row) override;
  const RowNeeds* NeedsOf(PodQuery& query) override;
  uint64_t RowsVersion(PodQuery& query) override;
  void Preempt(const Attempt& preemptor, const std::string& node,
               std::vector<std::shared_ptr<const kube::Pod>> victims, PreemptDone done) override;
  void ForEachWaiting(const std::function<void(const Attempt&)>&) override {}
  bool Allow(std::string_view, std::string_view) override { return false; }
  bool Reject(std::string_view, std::string_view, std::string, PromiseAfter) override {
    return false;
  }
  void Activate(const std::vector<kube::ObjectKey>& pods) override { queue_->Activate(pods); }
  std::vector<std::shared_ptr<const kube::Pod>> NominatedTo(std::string_view node) override;
  void ClearNomination(const kube::Pod& pod) override { nominations_.Revoke(pod); }
  std::string NominatedNodeOf(const kube::Pod& pod) override;

  VirtualLoop loop_;
  Random random_{1};
  Reasons reasons_;
  Ledger ledger_;
  ClusterObjects objects_;
  Books books_{ledger_, objects_.node_topologies, objects_.devices};
  PendingPods pending_;
  bool tells_pending_ = false;
  Nominations nominations_;
  NodeOrder order_;
  PluginLineup lineup_;
  std::vector<ReservePlugin*> giving_;  // something beyond amounts; the others only keep accounts
  std::unique_ptr<Pipeline> pipeline_;
  std::unique_ptr<SchedulingQueue> queue_;
  std::string current_uid_;
  size_t bound_ = 0;
  size_t evicted_ = 0;
};

}  // namespace koord::scheduler
