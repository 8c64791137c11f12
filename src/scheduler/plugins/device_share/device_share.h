#pragma once
#include <absl/container/flat_hash_map.h>

#include <memory>
#include <string_view>
#include <vector>

#include "base/metrics/metrics.h"
#include "base/scope.h"
#include "scheduler/config/device_share_args.h"
#include "scheduler/framework/hint_provider.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/framework/plugin_context.h"
#include "scheduler/framework/service_plugin.h"
#include "scheduler/plugins/device_share/device_trial.h"
#include "scheduler/plugins/device_share/pod_devices.h"

namespace koord::scheduler {

// Gives pods the devices of their node that they ask for: whole cards, parts of them, RDMA and FPGA
// devices, virtual functions.
//
// What a node has is what its Device object says; of a node without one nothing is said here, and
// what pods ask for is the kubelet's business. Cards come from partitions of the machine where it
// has them, otherwise from the smallest part of it that will do, beside cards that are in use.
// Types that a pod wants together come from the same PCIe switches, as far as that is possible or
// as it is demanded. Of nodes that can do, scores prefer those whose devices are emptier or fuller.
//
// What filters promise is what Reserve charges: both run the same trial. Whether there are enough
// free cards, or parts of cards, mostly follows from what is kept per node, without one.
class DeviceShare final : public PreFilterPlugin,
                          public FilterPlugin,
                          public ScorePlugin,
                          public ReservePlugin,
                          public PreBindPlugin,
                          public RequeuePlugin,
                          public ServicePlugin,
                          public HintProvider,
                          public LedgerListener {
 public:
  static constexpr std::string_view kName = "DeviceShare";

  DeviceShare(const PluginContext& context, DeviceShareArgs args);
  ~DeviceShare() override;

  std::string_view name() const override { return kName; }
  std::unique_ptr<PluginState> Compile(const PodShape& shape) override;
  uint64_t VersionFor(const PodShape& shape) const override {
    return reader_.AsksForDevices(shape) ? templates_version_ : 0;
  }
  size_t remembered() const override { return by_shape_.size(); }

  PreFilterResult PreFilter(PodQuery& query) override;
  void Filter(const PodQuery& query, RowRange rows, uint8_t* keep) override;
  RowVerdict Check(const PodQuery& query, const RowView& row) override;

  Verdict PreScore(PodQuery& query, std::span<const uint8_t>) override;
  std::optional<int64_t> SameForAll(const PodQuery& query) override;
  void Score(const PodQuery& query, RowRange rows, int64_t* scores) override;
  int64_t ScoreRow(const PodQuery& query, const RowView& row) override;
  bool normalizes() const override { return true; }
  void Normalize(const PodQuery& query, ScoreRange range, std::span<int64_t> scores) override;

  std::unique_ptr<HintTrial> Try(const TrialQuestion& question) override;
  std::vector<std::string> Explain(const TrialQuestion& question) override;

  Verdict Reserve(Attempt& attempt) override;
  void Unreserve(Attempt&) override {}  // the ledger takes back what it was given
  void PreBind(Attempt& attempt, VerdictDone done) override;

  bool Wants(EventKind kind) const override;
  bool MightCure(const kube::Pod& rejected, const ClusterEvent& event) override;

  void OnNodeAdded(NodeRow row) override;
  void OnNodeChanged(NodeRow row, const NodeChanges& changes) override;

  // nodeDeviceSummaries, nodeDeviceSummaries/{node}: what there is, what is left, who has what.
  std::vector<Endpoint> Endpoints() override;

 private:
  struct Given;  // what an attempt was given

  // Null: it asks for no devices, or for none that can be given.
  PodDevices* PodOf(const PodQuery& query) const;

  const PodDevices* PodOfShape(const PodShape& shape);
  DeviceTrial TrialFor(const PodDevices& pod, const TrialQuestion& question) const;
  // What the node's labels say against the pod.
  Verdict Refusal(const PodDevices& pod, NodeRow row) const;
  bool Passes(const PodDevices& pod, const PodShape& shape, NodeRow row) const;
  Verdict Ask(const PodDevices& pod, const PodShape& shape, const RowView& view);
  Verdict AskReservations(const PodDevices& pod, const PodShape& shape, const RowView& view);
  RowVerdict ToRowVerdict(PodDevices& pod, const Verdict& verdict);
  void SetCards(NodeRow row);
  void OnTemplates(const kube::ConfigMap* config);
  StatusOr<api::DeviceAllocations> AllocationsOf(const Attempt& attempt, const Given& given) const;
  // Tells the device plugin of the vendor, where that is switched on.
  void Adapt(Attempt& attempt, const api::DeviceAllocations& allocations, VerdictDone done);
  // Lets one pod at a time at the device plugin of a node.
  void LockNode(const Attempt& attempt, std::string_view vendor, const std::string& lock,
                VerdictDone done);

  PluginContext context_;
  const DeviceBook& book_;
  const DeviceShareArgs args_;
  model::DeviceScoring scoring_;
  PodDevicesReader reader_;
  uint64_t templates_version_ = 1;
  std::vector<NodeCards> cards_;            // by row
  std::vector<uint8_t> honors_partitions_;  // the same of them, by row
  // Pods by the id of their shape, for those who know no more. Few: old ones are read again.
  absl::flat_hash_map<uint32_t, std::unique_ptr<PodDevices>> by_shape_;
  metrics::Gauges* not_well_planned_ = nullptr;
  Scope scope_;
};

}  // namespace koord::scheduler
