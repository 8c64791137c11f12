#include "scheduler/plugins/reservation/nomination.h"

#include <algorithm>
#include <tuple>

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

// 0 is none.
int64_t SmallerOrder(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return a + b;
  return std::min(a, b);
}

}  // namespace

ReservationChoice::ReservationChoice(Ledger& ledger, Reasons& reasons, ProfileTrials& trials,
                                     ReservationRules rules)
    : fit_(ledger, reasons, std::move(rules.is_ignored)),
      reasons_(reasons),
      trials_(trials),
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
  for (const Seeker::Drawable& each : of_row->drawable) {
    const Shortage shortage = ShortageOf(on_row, seeker, row, each.offer(), texts);
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

ReservationChoice::Drawables ReservationChoice::Sorted(Drawables drawables) {
  if (drawables.size() <= 1) return drawables;
  int64_t smallest = 0;
  for (const Seeker::Drawable* each : drawables) {
    smallest = SmallerOrder(smallest, each->offer().terms.order);
  }
  const auto rank = [&](const Seeker::Drawable* each) {
    const model::ReservationOffer& terms = each->offer().terms;
    const bool first = smallest != 0 && terms.order == smallest;
    return std::tuple(first ? 0 : 1, first ? 0 : -each->Fullness(), terms.created,
                      std::string_view(terms.name));
  };
  std::ranges::sort(drawables, {}, rank);
  return drawables;
}

std::vector<const Offer*> ReservationChoice::InOrder(const Seeker& seeker, NodeRow row) const {
  const Seeker::Row* const of_row = seeker.Find(row);
  if (of_row == nullptr) return {};
  Drawables drawables;
  for (const Seeker::Drawable& each : of_row->drawable) drawables.push_back(&each);
  std::vector<const Offer*> offers;
  for (const Seeker::Drawable* each : Sorted(std::move(drawables))) {
    offers.push_back(&each->offer());
  }
  return offers;
}

const Seeker::Drawable* ReservationChoice::Best(const Seeker& seeker, const RowView& row,
                                                ReasonHold& texts) {
  const Seeker::Row* const of_row = seeker.Find(row.row);
  if (of_row == nullptr || of_row->drawable.empty()) return nullptr;
  if (of_row->matched.size() == 1 && seeker.has_affinity()) return &of_row->drawable.front();
  const ReservationFit::OnRow on_row(fit_, seeker.shape(), row, *of_row, texts);
  // A pod that may do without uses what would do; without an order that is the fullest, for which
  // all must be known.
  Drawables left;
  for (const Seeker::Drawable& each : of_row->drawable) {
    if (ShortageOf(on_row, seeker, row, each.offer(), texts).none()) left.push_back(&each);
  }
  left = Sorted(std::move(left));
  return left.empty() ? nullptr : left.front();
}

const Offer* ReservationChoice::Nominate(const Seeker& seeker, const RowView& row,
                                         ReasonHold& texts) {
  const Seeker::Drawable* const best = Best(seeker, row, texts);
  return best == nullptr ? nullptr : &best->offer();
}

int64_t ReservationChoice::Score(const Seeker& seeker, const RowView& row, ReasonHold& texts) {
  const Seeker::Row* const of_row = seeker.Find(row.row);
  if (of_row == nullptr || of_row->matched.empty()) return 0;
  const Seeker::Drawable* const nominated = Best(seeker, row, texts);
  int64_t order = 0;
  for (const Offer* offer : of_row->matched) order = SmallerOrder(order, offer->terms.order);
  return RawOf(order, nominated == nullptr ? 0 : nominated->Fullness());
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
