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

bool IsOlder(const Offer& a, const Offer& b) {
  return std::tie(a.terms.created, a.terms.name) < std::tie(b.terms.created, b.terms.name);
}

}  // namespace

ReservationChoice::ReservationChoice(Ledger& ledger, Reasons& reasons, ReservationRules rules)
    : fit_(ledger, reasons, std::move(rules.is_ignored)),
      resources_(ledger.resources()),
      skip_fits_node_(rules.skip_fits_node),
      no_match_(reasons.Intern(kNoReservationMatches)),
      no_room_(reasons.Intern("node(s) no reservation(s) to meet the requirements")) {}

Shortage ReservationChoice::ShortageOf(const ReservationFit::OnRow& on_row, const Seeker& seeker,
                                       const Seeker::Row& row, const Offer& offer) const {
  Shortage shortage;
  if (!skip_fits_node_ || row.matched.size() != 1) shortage.of_node = on_row.NodeShortage(&offer);
  if (offer.is_restricted()) {
    const bool by_name = seeker.terms().wanted_name() == offer.terms.name;
    shortage.of_reservation = on_row.ReservationShortage(offer, by_name);
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
    const Shortage shortage = ShortageOf(on_row, seeker, *of_row, *offer);
    if (shortage.none()) return {};
    for (const ReasonId reason : shortage.of_node) {
      if (std::ranges::find(of_node, reason) == of_node.end()) of_node.push_back(reason);
    }
    verdict.reasons.insert(verdict.reasons.end(), shortage.of_reservation.begin(),
                           shortage.of_reservation.end());
  }
  if (!seeker.has_affinity()) {
    if (of_node.empty()) of_node = on_row.NodeShortage(nullptr);
    if (of_node.empty()) return {};  // with what is free besides
    verdict.reasons.clear();
  }
  fit_.SortByText(of_node);
  verdict.reasons.insert(verdict.reasons.begin(), of_node.begin(), of_node.end());
  if (verdict.reasons.empty()) verdict.reasons.push_back(no_room_);
  return verdict;
}

const Offer* ReservationChoice::Nominate(const Seeker& seeker, const RowView& row,
                                         ReasonHold& texts) {
  const Seeker::Row* const of_row = seeker.Find(row.row);
  if (of_row == nullptr || of_row->matched.empty()) return nullptr;
  if (of_row->matched.size() == 1 && seeker.has_affinity()) return of_row->matched.front();
  const ReservationFit::OnRow on_row(fit_, seeker.shape(), row, *of_row, texts);
  std::vector<const Offer*> left;
  for (const Offer* offer : of_row->matched) {
    if (!seeker.has_affinity() && !offer->SharesNamesWith(seeker.shape().requests)) continue;
    if (ShortageOf(on_row, seeker, *of_row, *offer).none()) left.push_back(offer);
  }
  if (left.size() <= 1) return left.empty() ? nullptr : left.front();
  if (const int64_t smallest = SmallestOrder(left); smallest != 0) {
    std::erase_if(left, [&](const Offer* offer) { return offer->terms.order != smallest; });
    return *std::ranges::min_element(
        left, [](const Offer* a, const Offer* b) { return IsOlder(*a, *b); });
  }
  const Offer* best = nullptr;
  int64_t best_score = -1;
  for (const Offer* offer : left) {
    const int64_t score = FullnessOf(seeker, *offer);
    if (score < best_score || (score == best_score && !IsOlder(*offer, *best))) continue;
    best = offer;
    best_score = score;
  }
  return best;
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
