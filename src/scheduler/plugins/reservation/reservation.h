#pragma once
#include <absl/container/flat_hash_map.h>

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "scheduler/config/reservation_args.h"
#include "scheduler/framework/hint_provider.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/framework/plugin_context.h"
#include "scheduler/plugins/reservation/adoption.h"
#include "scheduler/plugins/reservation/consumption.h"
#include "scheduler/plugins/reservation/eviction_rules.h"
#include "scheduler/plugins/reservation/label_index.h"
#include "scheduler/plugins/reservation/messages.h"
#include "scheduler/plugins/reservation/neighbours.h"
#include "scheduler/plugins/reservation/nomination.h"
#include "scheduler/plugins/reservation/offers.h"
#include "scheduler/plugins/reservation/pre_allocation.h"
#include "scheduler/plugins/reservation/reservation_binder.h"
#include "scheduler/preemption/preemption.h"
#include "scheduler/reservation_service/reservation_service.h"

namespace koord::scheduler {

// Lets pods use what was reserved for them, and finds nodes for reservations.
//
// A reservation is placed like a pod, by its reserve pod. Once it is available, pods that it is for
// see its node without that pod: its room is free to them, and to nobody else. Where several are
// for a pod, each is a way of its own to fit the node; the pod draws from one of them, or from
// none if it need not and fits beside them. A node is charged the larger of what is reserved and
// what is used of it, so that nobody is charged twice and nothing is given twice.
class ReservationPlugin final : public PreFilterPlugin,
                                public AdmitPlugin,
                                public FilterPlugin,
                                public FilterTransformer,
                                public PostFilterPlugin,
                                public AfterPostFilterPlugin,
                                public ScorePlugin,
                                public ReservePlugin,
                                public PreBindPlugin,
                                public BindPlugin,
                                public RequeuePlugin,
                                public ServicePlugin,
                                public ReservedRooms {
 public:
  static constexpr std::string_view kName = "Reservation";

  ReservationPlugin(const PluginContext& context, const ReservationArgs& args);
  ~ReservationPlugin() override;

  std::string_view name() const override { return kName; }
  std::unique_ptr<PluginState> Compile(const PodShape& shape) override;
  uint64_t VersionFor(const PodShape& shape) const override;
  size_t remembered() const override {
    return first_found_.size() + (preemption_ ? preemption_->remembered() : 0);
  }

  PreFilterResult PreFilter(PodQuery& query) override;
  Verdict Admit(const kube::Pod& pod, const PodQuery& query) override;
  void Filter(const PodQuery& query, RowRange rows, uint8_t* keep) override;
  RowVerdict Check(const PodQuery& query, const RowView& row) override;
  PodsRead Reads(const PodQuery& query) override;

  std::span<const NodeRow> TransformedRows(const PodQuery& query) override;
  const RowDelta* DeltaOf(const PodQuery& query, NodeRow row) override;
  AbsentPods Absent(const PodQuery& query) override;

  PostFilterResult PostFilter(Attempt& attempt, PodQuery& query,
                              const Diagnosis& diagnosis) override;
  bool MightHelp(const PodShape& shape, NodeRow row, Code code) const override;
  std::vector<EvictionPlan> Plans(const Attempt& attempt, PodQuery& query,
                                  const Diagnosis& diagnosis) override;
  PostFilterResult Choose(const Attempt& attempt, const std::vector<EvictionPlan>& plans) override;
  void AfterPostFilter(const Attempt& attempt, const Diagnosis& diagnosis,
                       const PostFilterResult& result) override;

  Verdict PreScore(PodQuery& query, std::span<const uint8_t> feasible) override;
  void Score(const PodQuery& query, RowRange rows, int64_t* scores) override;
  int64_t ScoreRow(const PodQuery& query, const RowView& row) override;
  bool normalizes() const override { return true; }
  void Normalize(const PodQuery& query, ScoreRange range, std::span<int64_t> scores) override;

  Verdict Reserve(Attempt& attempt) override;
  void Unreserve(Attempt& attempt) override;
  void PreBind(Attempt& attempt, VerdictDone done) override;
  void Bind(Attempt& attempt, VerdictDone done) override;

  Found RoomsFor(const PodShape& shape, NodeRow row) override;

  bool Wants(EventKind kind) const override {
    switch (kind) {
      case EventKind::kAssignedPodUpdated:
      case EventKind::kAssignedPodRemoved:
      case EventKind::kNodeAdded:
      case EventKind::kNodeUpdated:
      case EventKind::kReservationChanged:
        return true;
      default:
        return false;
    }
  }
  bool MightCure(const kube::Pod& rejected, const ClusterEvent& event) override;

  std::vector<Endpoint> Endpoints() override { return ReservationEndpoints(context_, args_); }
  // What becomes free for a pod when a reservation for it is available is news to no other plugin.
  bool cures_others() const override { return true; }

 private:
  struct State;
  // Null: reservations are nothing to the shape.
  State* StateOf(const PodQuery& query) const;
  Seeker* SeekerOf(const PodQuery& query) const;
  const Seeker* SeekerOf(uint32_t shape) const;
  Verdict AdmitReservation(const kube::Pod& reserve_pod, const State& state) const;
  Verdict ReserveForReservation(Attempt& attempt);
  std::unique_ptr<PreAllocation> PreAllocationOf(const PodShape& shape) const;
  InspectedNodes InspectedFor(const Seeker& seeker) const;
  bool MightCureByUpdate(const kube::Pod& rejected, const ClusterEvent& event) const;
  static bool GivesWay(const ClusterEvent& event);
  bool MightServe(const kube::Pod& rejected, const ClusterEvent& event) const;
  bool MayDrawFrom(const kube::Pod& pod, const api::Reservation& reservation) const;

  const PluginContext context_;
  const ReservationArgs args_;
  const model::MatchOptions match_options_;
  std::shared_ptr<Offers> offers_;
  ReservationLabelIndex selector_index_;
  Neighbours neighbours_;
  ReservationChoice choice_;
  ReservationBinder binder_;
  Consumption consumption_;
  Adoption adoption_;
  ReservationEvictionRules eviction_rules_;
  std::optional<Preemption> preemption_;  // if it is enabled
  ReasonHold texts_;
  // Shapes for which the first offer came after they were compiled: how many queries know of none.
  absl::flat_hash_map<uint32_t, size_t> first_found_;
  absl::flat_hash_map<uint32_t, std::vector<State*>> states_;  // with a seeker, by shape
};

}  // namespace koord::scheduler
