#include "scheduler/plugins/reservation/nomination.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "model/reservation/reservation_score.h"
#include "scheduler/plugins/reservation/words.h"

namespace koord::scheduler {
namespace {

// Orders are brought below this; beyond it they are all alike.
constexpr int64_t kLargestOrder = int64_t{1} << 54;
constexpr int64_t kWorthBits = 7;  // of 0 to 100
constexpr int64_t kOrdered = int64_t{1} << kWorthBits;
constexpr int64_t kPreferred = 1000;  // against which the others count

int64_t RawOf(int64_t order, int64_t worth) {
  if (order == 0) return worth;
  const int64_t bounded = std::clamp(order, -kLargestOrder, kLargestOrder);
  return ((kLargestOrder - bounded + 1) << kWorthBits) + worth;
}

int64_t SmallestOrder(std::span<const Offer* const> offers) {
  int64_t smallest = 0;
  for (const Offer* offer : offers) {
    const int64_t order = offer->terms.order;
    if (order != 0 && (smallest == 0 || order < smallest)) smallest = order;
  }
  return smallest;
}

kube::ResourceList ListOf(const ResourceAmounts& amounts, const ResourceNames& resources) {
  kube::ResourceList list;
  for (const ResourceAmount& each : amounts) {
    list.emplace(resources.NameOf(each.id), each.id == kCpuId
                                                ? kube::Quantity::FromMilli(each.amount)
                                                : kube::Quantity(each.amount));
  }
  return list;
}

}  // namespace

ReservationChoice::ReservationChoice(Ledger& ledger, Reasons& reasons, ProfileTrials& trials,
                                     ReservationRules rules)
    : fit_(ledger, reasons, std::move(rules.is_ignored)),
      reasons_(reasons),
      trials_(trials),
      resources_(ledger.resources()),
      skip_fits_node_(rules.skip_fits_node),
      no_match_(reasons.Intern(kNoReservationMatches)),
      no_room_(reasons.Intern("node(s) no reservation(s) to meet the requirements")) {}

std::vector<std::string> ReservationChoice::Refusals(const Seeker& seeker, const RowView& view,
                                                     const Offer* offer) {
  const PodInfo* const reserve_pod = offer == nullptr ? nullptr : offer->reserve_pod;
  const bool restricted = offer != nullptr && offer->is_restricted();
  const auto verdict_of = [&](bool only_reserved) {
    return trials_.Run({seeker.shape(), view, {reserve_pod, only_reserved}}).verdict;
  };
  if (offer != nullptr && !restricted && verdict_of(true).ok()) return {};
  return verdict_of(restricted).reasons;
}

Shortage ReservationChoice::ShortageOf(const ReservationFit::OnRow& on_row, const Seeker& seeker,
                                       const RowView& view, const Offer& offer, ReasonHold& texts) {
  Shortage shortage;
  const Seeker::Row& row = *seeker.Find(view.row);
  if (!skip_fits_node_ || row.matched.size() != 1) shortage.of_node = on_row.NodeShortage(&offer);
  if (offer.is_restricted()) {
    const bool by_name = seeker.terms().wanted_name() == offer.terms.name;
    shortage.of_reservation = on_row.ReservationShortage(offer, by_name);
  }
  for (const std::string& reason : Refusals(seeker, view, &offer)) {
    shortage.of_reservation.push_back(reasons_.Intern("Reservation(s) " + reason, texts));
  }
  return shortage;
}

RowVerdict ReservationChoice::Check(const Seeker& seeker, const RowView& row, ReasonHold& texts) {
  const Seeker::Row* const of_row = seeker.Find(row.row);
  if (seeker.ignores_all()) return {};
  if (of_row == nullptr || of_row->matched.empty()) {
    return seeker.has_affinity() ? RowVerdict::Unresolvable(no_match_) : RowVerdict();
  }
  const ReservationFit::OnRow on_row(fit_, seeker.shape(), row, *of_row, texts);
  std::vector<ReasonId> of_node;
  RowVerdict verdict{Code::kUnschedulable, {}};
  for (const Offer* offer : of_row->matched) {
    if (!seeker.has_affinity() && !offer->SharesNamesWith(seeker.shape().requests)) continue;
    const Shortage shortage = ShortageOf(on_row, seeker, row, *offer, texts);
    if (shortage.none()) return {};
    for (const ReasonId reason : shortage.of_node) {
      if (std::ranges::find(of_node, reason) == of_node.end()) of_node.push_back(reason);
    }
    verdict.reasons.insert(verdict.reasons.end(), shortage.of_reservation.begin(),
                           shortage.of_reservation.end());
  }
  if (!seeker.has_affinity()) {
    if (of_node.empty()) of_node = on_row.NodeShortage(nullptr);
    verdict.reasons.clear();
    if (of_node.empty()) {
      const std::vector<std::string> refusals = Refusals(seeker, row, nullptr);
      if (refusals.empty()) return {};  // with what is free besides
      for (const std::string& each : refusals) of_node.push_back(reasons_.Intern(each, texts));
    }
  }
  fit_.SortByText(of_node);
  verdict.reasons.insert(verdict.reasons.begin(), of_node.begin(), of_node.end());
  if (verdict.reasons.empty()) verdict.reasons.push_back(no_room_);
  return verdict;
}

std::vector<const Offer*> ReservationChoice::Sorted(const Seeker& seeker,
                                                    std::vector<const Offer*> offers) const {
  if (offers.size() <= 1) return offers;
  const int64_t smallest = SmallestOrder(offers);
  const auto rank = [&](const Offer* offer) {
    const bool first = smallest != 0 && offer->terms.order == smallest;
    return std::tuple(first ? 0 : 1, first ? 0 : -FullnessOf(seeker, *offer), offer->terms.created,
                      offer->terms.name);
  };
  std::ranges::sort(offers, {}, rank);
  return offers;
}

std::vector<const Offer*> ReservationChoice::InOrder(const Seeker& seeker, NodeRow row) const {
  const Seeker::Row* const of_row = seeker.Find(row);
  if (of_row == nullptr) return {};
  std::vector<const Offer*> offers = of_row->matched;
  if (!seeker.has_affinity()) {
    std::erase_if(offers, [&](const Offer* offer) {
      return !offer->SharesNamesWith(seeker.shape().requests);
    });
  }
  return Sorted(seeker, std::move(offers));
}

const Offer* ReservationChoice::Nominate(const Seeker& seeker, const RowView& row,
                                         ReasonHold& texts) {
  const Seeker::Row* const of_row = seeker.Find(row.row);
  if (of_row == nullptr || of_row->matched.empty()) return nullptr;
  if (of_row->matched.size() == 1 && seeker.has_affinity()) return of_row->matched.front();
  const ReservationFit::OnRow on_row(fit_, seeker.shape(), row, *of_row, texts);
  // A pod that may do without uses what would do; without an order that is the fullest, for which
  // all must be known.
  std::vector<const Offer*> left;
  for (const Offer* offer : of_row->matched) {
    if (!seeker.has_affinity() && !offer->SharesNamesWith(seeker.shape().requests)) continue;
    if (ShortageOf(on_row, seeker, row, *offer, texts).none()) left.push_back(offer);
  }
  left = Sorted(seeker, std::move(left));
  return left.empty() ? nullptr : left.front();
}

int64_t ReservationChoice::FullnessOf(const Seeker& seeker, const Offer& offer) const {
  return model::ReservationScore(seeker.terms().requests, offer.terms.allocatable,
                                 ListOf(offer.Allocated(), resources_));
}

int64_t ReservationChoice::Score(const Seeker& seeker, const RowView& row, ReasonHold& texts) {
  const Seeker::Row* const of_row = seeker.Find(row.row);
  if (of_row == nullptr || of_row->matched.empty()) return 0;
  const Offer* const nominated = Nominate(seeker, row, texts);
  const int64_t worth = nominated == nullptr ? 0 : FullnessOf(seeker, *nominated);
  return RawOf(SmallestOrder(of_row->matched), worth);
}

void ReservationChoice::Normalize(ScoreRange range, std::span<int64_t> scores) {
  if (range.max < kOrdered) {
    if (range.max == 0) return;
    for (int64_t& score : scores) score = score * kMaxScore / range.max;
    return;
  }
  const int64_t smallest_order = range.max >> kWorthBits;
  for (int64_t& score : scores) {
    const bool preferred = score >> kWorthBits == smallest_order;
    score = preferred ? kMaxScore : (score & (kOrdered - 1)) * kMaxScore / kPreferred;
  }
}

}  // namespace koord::scheduler
