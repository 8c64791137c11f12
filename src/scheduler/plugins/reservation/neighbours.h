#pragma once
#include <string_view>

#include "scheduler/framework/plugin.h"
#include "scheduler/plugins/reservation/offers.h"

namespace koord::scheduler {

// What a reservation, or a pod that acts as one, asks of its node because it is one.
//
// The deprecated policy "" does not stand beside others: it says nothing of where owners take their
// room from, and the others do. Aligned and Restricted get along.
class Neighbours {
 public:
  Neighbours(const NodeTable& nodes, const Offers& offers, Reasons& reasons);

  // Of a shape whose pods are such; others ask for nothing.
  struct Asks {
    bool any = false;
    bool has_default_policy = false;
    std::string_view node;  // "": any
  };
  static Asks Of(const PodShape& shape);

  void Filter(const Asks& asks, RowRange rows, uint8_t* keep) const;
  RowVerdict Check(const Asks& asks, NodeRow row) const;

 private:
  bool Conflicts(const Asks& asks, std::span<const Offer* const> offers) const;

  const NodeTable& nodes_;
  const Offers& offers_;
  const ReasonId other_policy_;
  const ReasonId other_node_;
};

}  // namespace koord::scheduler
