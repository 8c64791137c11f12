#pragma once
#include <absl/container/flat_hash_map.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/metrics/metrics.h"
#include "base/string_map.h"
#include "scheduler/config/reservation_args.h"
#include "scheduler/plugins/reservation/offers.h"

namespace koord::scheduler {

// Reservations by their own labels, as far as the settings name these: what a pod's
// reservationSelector would have to be compared with.
//
// Pods find reservations by their owners here, which is narrower; where they go is the same with
// and without this index. What it would have given is counted, so that dashboards stay true.
class ReservationLabelIndex final : private OfferFollower {
 public:
  // `metrics`: null: nothing is counted.
  ReservationLabelIndex(const ReservationSelectorIndexArgs& args, Offers& offers,
                        metrics::Registry* metrics);
  ReservationLabelIndex(const ReservationLabelIndex&) = delete;
  ReservationLabelIndex& operator=(const ReservationLabelIndex&) = delete;

  // On how many nodes reservations have one of the pairs: the least of those that are indexed,
  // exact keys before prefixes. Nothing: none of the pairs is.
  std::optional<size_t> NodesWith(const kube::Labels& selector) const;
  // A pod with this selector was looked at.
  void Count(const kube::Labels& selector);

 private:
  using Rows = absl::flat_hash_map<NodeRow, size_t>;

  void OnOffered(const Offer& offer) override { Book(offer, 1); }
  void OnWithdrawn(const Offer& offer) override { Book(offer, -1); }
  void Book(const Offer& offer, int sign);
  bool IsKey(std::string_view label) const;
  bool HasPrefix(std::string_view label) const;

  const ReservationSelectorIndexArgs args_;
  StringMap<Rows> rows_;  // by "key=value"
  metrics::Counter* hits_ = nullptr;
  metrics::Counter* misses_ = nullptr;
  metrics::Histogram* candidates_ = nullptr;
};

}  // namespace koord::scheduler
