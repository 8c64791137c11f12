#pragma once
#include <memory>
#include <string_view>

#include "scheduler/config/volume_args.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/framework/plugin_context.h"
#include "scheduler/plugins/volume_binding/assumed_volumes.h"
#include "scheduler/plugins/volume_binding/claim_binder.h"
#include "scheduler/plugins/volume_binding/claim_plan.h"

namespace koord::scheduler {

// Brings pods and their volumes together.
//
// A pod whose claims are missing, lost, being deleted, or unbound although nothing has to wait for
// the pod, is not tried on any node. A volume that is bound already decides where the pod can run.
// A claim that waits for its first pod (WaitForFirstConsumer) needs a node on which an unused
// volume fits, the smallest of which is taken, or on which its class can provision one.
//
// What was found is promised to the pod's claims when it gets the node, and written down and waited
// for before the pod is bound.
class VolumeBinding final : public PreFilterPlugin,
                            public FilterPlugin,
                            public ReservePlugin,
                            public PreBindPlugin,
                            public RequeuePlugin {
 public:
  static constexpr std::string_view kName = "VolumeBinding";

  VolumeBinding(const PluginContext& context, const VolumeBindingArgs& args);

  std::string_view name() const override { return kName; }
  std::unique_ptr<PluginState> Compile(const PodShape& shape) override;
  uint64_t VersionFor(const PodShape& shape) const override;
  PreFilterResult PreFilter(PodQuery& query) override;
  void Filter(const PodQuery& query, RowRange rows, uint8_t* keep) override;
  RowVerdict Check(const PodQuery& query, const RowView& row) override;
  PodsRead Reads(const PodQuery&) override { return PodsRead::kNone; }
  Verdict Reserve(Attempt& attempt) override;
  void Unreserve(Attempt& attempt) override;
  void PreBind(Attempt& attempt, VerdictDone done) override;
  bool Wants(EventKind kind) const override;
  bool MightCure(const kube::Pod&, const ClusterEvent& event) override { return Wants(event.kind); }

 private:
  struct State;
  struct Promise;
  struct RowPlan;

  Verdict FindClaims(const kube::Pod& pod, State& state) const;
  RowPlan PlanRow(State& state, NodeRow row) const;
  void Release(const ClaimBindings& bindings);

  PluginContext context_;
  AssumedVolumes assumed_;
  ClaimBinder binder_;
  ReasonId node_conflict_, bind_conflict_, no_space_, no_volume_;
};

}  // namespace koord::scheduler
