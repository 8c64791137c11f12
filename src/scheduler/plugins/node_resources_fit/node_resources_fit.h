#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/config/node_resources_args.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/framework/plugin_context.h"
#include "scheduler/scoring/percent.h"

namespace koord::scheduler {

// Keeps pods off nodes that have too little left of what they ask for, and prefers nodes by how
// full they would be.
//
// A node is dropped when it runs as many pods as it may, or when what the pod requests of some
// resource is more than what is allocatable less what the pods there have requested. A request that
// the node could not even fulfil when empty is not worth preempting anybody for, and is reported
// so. What no node offers at all is found when the pod's shape is compiled: then no row is looked
// at, however many such resources a pod names.
//
// The score is the weighted mean over the configured resources of what would be free (spread pods
// out), of what would be used (pack them), or of a function of the latter. Containers that do not
// say what cpu and memory they need count with 100m and 200Mi here, so that they are spread too.
class NodeResourcesFit final : public FilterPlugin, public ScorePlugin, public RequeuePlugin {
 public:
  static constexpr std::string_view kName = "NodeResourcesFit";

  NodeResourcesFit(const PluginContext& context, NodeResourcesFitArgs args);

  std::string_view name() const override { return kName; }
  std::unique_ptr<PluginState> Compile(const PodShape& shape) override;
  // Which resources some node offers is part of what is compiled.
  uint64_t VersionFor(const PodShape& shape) const override;
  void Filter(const PodQuery& query, RowRange rows, uint8_t* keep) override;
  RowVerdict Check(const PodQuery& query, const RowView& row) override;
  void Diagnose(const PodQuery& query, uint8_t* keep, DiagnosisTable& why) override;
  PodsRead Reads(const PodQuery& query) override;
  ResourceAmounts RoomFor(const PodQuery& query) override;
  void Score(const PodQuery& query, RowRange rows, int64_t* scores) override;
  int64_t ScoreRow(const PodQuery& query, const RowView& row) override;
  bool Wants(EventKind kind) const override {
    return kind == EventKind::kAssignedPodRemoved || kind == EventKind::kAssignedPodUpdated ||
           kind == EventKind::kNodeAdded || kind == EventKind::kNodeUpdated ||
           kind == EventKind::kPodUpdated;
  }
  bool MightCure(const kube::Pod& rejected, const ClusterEvent& event) override;

 private:
  struct Configured {
    ResourceId id;
    int32_t weight;
  };

  void ScoreTerms(std::span<const ShareTerm> terms, RowRange rows, int64_t* scores) const;
  bool IsIgnored(std::string_view resource) const;
  bool MightFitAfter(const kube::Pod& rejected, const ClusterEvent& event) const;
  bool IsScaledDown(const kube::Pod& rejected, const ClusterEvent& event) const;

  const NodeTable& nodes_;
  ResourceNames& resources_;
  Reasons& reasons_;
  ReasonId too_many_pods_;
  std::vector<std::string> ignored_;
  std::vector<std::string> ignored_groups_;
  Share share_ = Share::kFree;
  std::vector<Configured> scored_;
  std::vector<int32_t> score_of_percent_;  // 0..100; empty unless scored along a shape
};

}  // namespace koord::scheduler
