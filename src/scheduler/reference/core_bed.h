#pragma once
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/virtual_loop.h"
#include "scheduler/cluster/ledger.h"
#include "scheduler/config/expand_plugins.h"
#include "scheduler/framework/cluster_objects.h"
#include "scheduler/framework/plugin_context.h"
#include "scheduler/framework/plugin_lineup.h"
#include "scheduler/nomination/nominations.h"
#include "scheduler/pipeline/node_order.h"
#include "scheduler/pipeline/pipeline.h"

namespace koord::scheduler::reference {

// The real scheduler as far as it decides, without queue and API: tests show it the cluster and ask
// where pods go.
class CoreBed final : private SchedulerHandle {
 public:
  // With the first profile of a KubeSchedulerConfiguration.
  static StatusOr<std::unique_ptr<CoreBed>> Make(std::string_view configuration, uint64_t seed);

  VirtualLoop loop;
  Ledger ledger;
  ClusterObjects objects;
  Books books{ledger, objects.node_topologies, objects.devices};
  Reasons reasons;
  Profile profile;
  ProfilePlugins plugins;

  using PodPtr = std::shared_ptr<const kube::Pod>;

  Decision Decide(const PodPtr& pod);
  CompiledQuery& QueryFor(const PodPtr& pod);
  Diagnosis Diagnose(const PodPtr& pod);
  Pipeline::Ranking Rank(const PodPtr& pod);  // all nodes
  const Plugin& PluginAt(size_t slot) const { return *lineup_.plugins[slot]; }

  struct Evictions {
    std::string message;  // of all post filters; "": one of them has found a node
    std::optional<std::string> nominated;
    std::string node;               // "": nobody is evicted
    std::set<std::string> victims;  // uids
  };
  Evictions PostFilter(const PodPtr& pod, const Diagnosis& diagnosis);

  // As the API server shows them: the object, and the pod that stands for it while it has a node.
  void SetReservation(std::shared_ptr<const api::Reservation> reservation);
  void RemoveReservation(const std::string& name);
  // What the pod is given beyond amounts once it is given the row.
  StatusOr<std::unique_ptr<Holdings>> Reserve(const PodPtr& pod, NodeRow row);

  void Nominate(const PodPtr& pod, std::string_view node) { nominations_.Nominate(pod, node); }
  std::string NominatedNodeOf(const kube::Pod& pod) override {
    return std::string(nominations_.NodeOf(pod.metadata.uid));
  }

 private:
  CoreBed();

  RowVerdict CheckRow(PodQuery& query, const RowView& row) override;
  const RowNeeds* NeedsOf(PodQuery& query) override;
  uint64_t RowsVersion(PodQuery& query) override;
  void Preempt(const Attempt& preemptor, const std::string& node, std::vector<PodPtr> victims,
               PreemptDone done) override;
  void ForEachWaiting(const std::function<void(const Attempt&)>&) override {}
  bool Allow(std::string_view, std::string_view) override { return false; }
  bool Reject(std::string_view, std::string_view, std::string, PromiseAfter) override {
    return false;
  }
  void Activate(const std::vector<kube::ObjectKey>&) override {}
  std::vector<PodPtr> NominatedTo(std::string_view node) override;
  void ClearNomination(const kube::Pod& pod) override { nominations_.Revoke(pod); }

  Random random_{1};
  Nominations nominations_;
  NodeOrder order_;
  PluginLineup lineup_;
  std::unique_ptr<Pipeline> pipeline_;
  std::string current_uid_;
  Evictions evictions_;
};

}  // namespace koord::scheduler::reference
