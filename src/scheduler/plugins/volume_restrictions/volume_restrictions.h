#pragma once
#include <absl/container/btree_map.h>
#include <absl/container/flat_hash_map.h>

#include <memory>
#include <string_view>
#include <vector>

#include "scheduler/framework/plugin.h"
#include "scheduler/framework/plugin_context.h"

namespace koord::scheduler {

// Keeps two pods from using what only one may use.
//
// Cloud disks, iSCSI targets and RBD images cannot be attached twice to a node, unless both uses
// are read-only. A claim with access mode ReadWriteOncePod belongs to one pod of the cluster: while
// that one has a node, no other pod that names the claim runs anywhere.
class VolumeRestrictions final : public PreFilterPlugin,
                                 public FilterPlugin,
                                 public RequeuePlugin,
                                 public LedgerListener {
 public:
  static constexpr std::string_view kName = "VolumeRestrictions";

  explicit VolumeRestrictions(const PluginContext& context);

  std::string_view name() const override { return kName; }
  std::unique_ptr<PluginState> Compile(const PodShape& shape) override;
  uint64_t VersionFor(const PodShape& shape) const override;
  PreFilterResult PreFilter(PodQuery& query) override;
  void Filter(const PodQuery& query, RowRange rows, uint8_t* keep) override;
  RowVerdict Check(const PodQuery& query, const RowView& row) override;
  // Who uses a claim matters on every row.
  bool wide() const override { return true; }
  uint64_t WideVersion(const PodQuery& query) override;
  bool Wants(EventKind kind) const override;
  bool MightCure(const kube::Pod&, const ClusterEvent& event) override { return Wants(event.kind); }

  void OnPodAdded(const PodInfo& pod) override;
  void OnPodRemoved(const PodInfo& pod) override;

 private:
  struct State;

  void CountClaims(const PodInfo& pod, int sign);
  // Whether another pod uses the claim, if the pods of the row were as the delta says.
  bool IsInUse(const kube::ObjectKey& claim, const RowDelta* delta) const;

  const ClusterObjects& objects_;
  absl::btree_map<kube::ObjectKey, int> uses_;                            // of claims, by pods
  absl::flat_hash_map<NodeRow, std::vector<const PodInfo*>> disk_users_;  // few nodes have any
  uint64_t version_ = 1;
  ReasonId disk_conflict_, in_use_;
};

}  // namespace koord::scheduler
