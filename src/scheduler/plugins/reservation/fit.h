#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "scheduler/cluster/node_table.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/plugins/reservation/seeker.h"

namespace koord::scheduler {

// Whether a resource takes no part; null: all do.
using IsIgnoredResource = std::function<bool(std::string_view)>;

// What stands against a pod on one node, by reservation or without one.
struct Shortage {
  std::vector<ReasonId> of_node;
  std::vector<ReasonId> of_reservation;

  bool none() const { return of_node.empty() && of_reservation.empty(); }
};

// Whether a pod fits a node by drawing from one of its reservations.
//
// The columns are what a stranger sees: each reservation counts with the larger of what it reserves
// and what its owners use. A pod that draws from reservation r may have besides what is left of r:
// not what is left of others, also if they are for it as well.
class ReservationFit {
 public:
  ReservationFit(Ledger& ledger, Reasons& reasons, IsIgnoredResource is_ignored);

  // One row as a pod sees it; `row.delta` may have victims and pods that are promised the node.
  class OnRow {
   public:
    // `of_row` is what is there for the pod; `texts` keeps reasons with numbers in them.
    OnRow(ReservationFit& fit, const PodShape& pod, const RowView& row, const Seeker::Row& of_row,
          ReasonHold& texts);

    // With what is left of a reservation; null: without any.
    std::vector<ReasonId> NodeShortage(const Offer* offer) const;
    // Of one that gives what it is about only out of itself. `detailed`: with the numbers.
    std::vector<ReasonId> ReservationShortage(const Offer& offer, bool detailed) const;

   private:
    bool HasFreePorts(const Offer* offer) const;
    // Of what owners of the reservation use: what is given back by those that the view removes.
    ResourceAmounts FreedIn(const Offer& offer, size_t* pods) const;

    ReservationFit& fit_;
    const PodShape& pod_;
    const Seeker::Row& of_row_;
    ReasonHold& texts_;
    RowDelta rest_;    // the view, with the reserve pods that the pod does not see
    bool is_changed_;  // there is something in it
    RowView view_;
  };

  // Node shortages are told by text.
  void SortByText(std::vector<ReasonId>& reasons) const;

 private:
  // Whether what is asked for takes part.
  bool Counts(const ResourceAmount& need) const;

  const NodeTable& nodes_;
  const ResourceNames& resources_;
  Reasons& reasons_;
  const IsIgnoredResource is_ignored_;
  const ReasonId no_ports_;
  const ReasonId no_place_;
  const ReasonId too_many_pods_;
};

}  // namespace koord::scheduler
