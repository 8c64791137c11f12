#pragma once
#include <absl/container/btree_set.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/string_map.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/framework/plugin_context.h"

namespace koord::scheduler {

// Keeps nodes from being given more volumes than their storage drivers can attach.
//
// For each CSI driver that a pod's claims need, the volumes that the pods of the node use or that
// are attached to it, each counted once, and the pod's own ones may not exceed what the node's
// CSINode allows. A claim that is still to be provisioned counts as one volume of its own.
//
// Most nodes are far from their limit: that is seen from two columns, and only the others are
// counted out.
class NodeVolumeLimits final : public PreFilterPlugin,
                               public FilterPlugin,
                               public RequeuePlugin,
                               public LedgerListener {
 public:
  static constexpr std::string_view kName = "NodeVolumeLimits";

  explicit NodeVolumeLimits(const PluginContext& context);

  std::string_view name() const override { return kName; }
  std::unique_ptr<PluginState> Compile(const PodShape& shape) override;
  uint64_t VersionFor(const PodShape& shape) const override;
  PreFilterResult PreFilter(PodQuery& query) override;
  void Filter(const PodQuery& query, RowRange rows, uint8_t* keep) override;
  RowVerdict Check(const PodQuery& query, const RowView& row) override;
  bool Wants(EventKind kind) const override;
  bool MightCure(const kube::Pod&, const ClusterEvent& event) override { return Wants(event.kind); }
  size_t remembered() const override { return drivers_.size() + attached_.size(); }

  void OnNodeAdded(NodeRow row) override;
  void OnNodeRemoved(NodeRow row) override;
  void OnPodAdded(const PodInfo& pod) override;
  void OnPodRemoved(const PodInfo& pod) override;

 private:
  // A volume by its driver and what the driver calls it.
  using Volume = std::pair<std::string, std::string>;
  using Volumes = absl::btree_set<Volume>;
  // How many volumes of a driver each node can attach.
  struct Driver {
    std::string name;
    std::vector<int32_t> limits;  // by row; kUnlimited
  };
  struct State;
  static constexpr int32_t kUnlimited = -1;

  using DriverPtr = std::shared_ptr<Driver>;

  DriverPtr DriverOf(const std::string& name);
  void GrowTo(size_t rows);
  int32_t LimitOf(const std::string& driver, std::string_view node) const;
  void SetLimits(NodeRow row, const kube::CsiNode* node);
  void SetAttachment(const kube::VolumeAttachment& attachment, int sign);

  void AddVolumes(const kube::Pod& pod, Volumes& volumes) const;
  Volumes VolumesOn(const RowView& row) const;
  bool Fits(const State& state, const RowView& row) const;

  PluginContext context_;
  StringMap<DriverPtr> drivers_;  // by name; those that nobody asks about are dropped
  size_t drop_drivers_at_ = 16;
  std::vector<int32_t> claims_;       // of the pods of each row, not looked at closer
  std::vector<int32_t> attachments_;  // of each row
  // What is attached to each node: driver and PersistentVolume.
  StringMap<std::vector<Volume>> attached_;
  ReasonId exceeded_;
};

}  // namespace koord::scheduler
