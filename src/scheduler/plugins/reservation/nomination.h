#pragma once
#include <absl/container/inlined_vector.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "scheduler/framework/hint_provider.h"
#include "scheduler/plugins/reservation/fit.h"
#include "scheduler/plugins/reservation/seeker.h"

namespace koord::scheduler {

// What the settings say of how pods and reservations are brought together.
struct ReservationRules {
  IsIgnoredResource is_ignored = {};
  // A node's only reservation for a pod is not asked whether the node has room besides it.
  bool skip_fits_node = false;
};

// The reservation that a pod would draw from on a node, and what that node is worth.
class ReservationChoice {
 public:
  // `trials`: those who give CPUs and devices have a say, too.
  ReservationChoice(Ledger& ledger, Reasons& reasons, ProfileTrials& trials,
                    ReservationRules rules);

  // Whether pods of the shape may have the row, in the words that users know: by one of its
  // reservations, or, if they need not use any, with what is free besides all of them.
  RowVerdict Check(const Seeker& seeker, const RowView& row, ReasonHold& texts);

  // Those that are for pods of the shape on a row, as Nominate prefers them, whether they have the
  // room or not.
  std::vector<const Offer*> InOrder(const Seeker& seeker, NodeRow row) const;

  // Of those that would do: the one with the smallest order, otherwise the one that becomes
  // fullest; of equal ones the oldest, then by name. Null: none would do, or the pod ignores them.
  const Offer* Nominate(const Seeker& seeker, const RowView& row, ReasonHold& texts);

  // For choosing among nodes: how full the nominated reservation becomes (0 to 100); a row that has
  // a reservation with an order is above all others, the smaller the order the more.
  int64_t Score(const Seeker& seeker, const RowView& row, ReasonHold& texts);
  // The smallest order of all makes a row 100 and leaves the others a tenth of what they are worth;
  // rows that share it are preferred alike. Without any, the best is 100.
  static void Normalize(ScoreRange range, std::span<int64_t> scores);

 private:
  Shortage ShortageOf(const ReservationFit::OnRow& on_row, const Seeker& seeker,
                      const RowView& view, const Offer& offer, ReasonHold& texts);
  // What stands against CPUs and devices, drawn from an offer (null: from none).
  std::vector<std::string> Refusals(const Seeker& seeker, const RowView& view, const Offer* offer);
  using Drawables = absl::InlinedVector<const Seeker::Drawable*, 4>;
  static Drawables Sorted(Drawables drawables);
  const Seeker::Drawable* Best(const Seeker& seeker, const RowView& row, ReasonHold& texts);

  ReservationFit fit_;
  Reasons& reasons_;
  ProfileTrials& trials_;
  const bool skip_fits_node_;
  const ReasonId no_match_;
  const ReasonId no_room_;
};

}  // namespace koord::scheduler
