#pragma once
#include <absl/container/flat_hash_map.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/reservation/reservation_matching.h"
#include "scheduler/config/reservation_args.h"
#include "scheduler/framework/plugin_context.h"
#include "scheduler/plugins/reservation/offer.h"

namespace koord::scheduler {

// A reservation that may be placed over running pods, which from then on are its owners: room is
// secured before it is free.
//
// Which pods: those that the reservation is for and that draw from none (mode Default), or all that
// say they may be taken, the most urgent first (mode Cluster). A node will do if the reservation
// fits it without one of these pods, which must fit into the reservation; or, where several may be
// taken, without as many as it takes. While it is placed, nodes look as if all of them were gone.
class PreAllocation {
 public:
  struct Context {
    const NodeTable& nodes;
    ResourceNames& resources;
    Reasons& reasons;
    model::MatchOptions match;
    PreAllocationConfig settings;
  };

  PreAllocation(const PodShape& reserve_pod, const api::Reservation& reservation, Context context);

  // Why it cannot be placed over pods anywhere; "": it can, or need not.
  const std::string& problem() const { return problem_; }
  bool is_required() const { return is_required_; }
  bool takes_several() const { return takes_several_; }
  bool HasCandidates();

  std::span<const NodeRow> rows();  // with candidates
  const RowDelta* DeltaOf(NodeRow row);

  // Whether it may have the row, which looks like this to it.
  RowVerdict Check(const RowView& row, ReasonHold& texts);
  // The pods that it takes on a row; nothing: it must take some and cannot. May be none.
  using Pods = std::vector<const PodInfo*>;
  std::optional<Pods> Nominate(NodeRow row, ReasonHold& texts);
  // How full the pod that it would take makes it.
  int64_t Score(NodeRow row, ReasonHold& texts);

 private:
  struct Candidates {
    uint64_t position = 0;  // in the log of changed rows
    Pods pods;
    RowDelta delta;  // without them
  };
  struct Trial {
    bool fits = false;
    Pods taken;                     // of several
    std::vector<ReasonId> of_node;  // shortages
    std::vector<ReasonId> of_reservation;
  };

  Candidates& At(NodeRow row);
  Pods Find(NodeRow row) const;
  bool IsCandidate(const PodInfo& pod, const kube::Labels& node_labels) const;
  Trial TryOne(const RowView& row, const Pods& pods, ReasonHold& texts) const;
  Trial TrySeveral(const RowView& row, const Pods& pods, ReasonHold& texts) const;
  // With these pods taken.
  std::vector<ReasonId> NodeShortage(const RowView& row, const Pods& taken,
                                     ReasonHold& texts) const;
  std::vector<ReasonId> ReservationShortage(const Pods& taken, ReasonHold& texts) const;
  int64_t FullnessWith(const PodInfo& pod) const;

  const PodShape& shape_;
  const Context context_;
  std::string problem_;
  bool is_required_ = false;
  bool takes_several_ = false;
  bool is_cluster_mode_ = false;
  Offer offer_;
  std::vector<kube::LabelMatcher> selectors_;  // of its owners
  absl::flat_hash_map<NodeRow, std::unique_ptr<Candidates>> by_row_;
  std::vector<NodeRow> rows_;
};

}  // namespace koord::scheduler
