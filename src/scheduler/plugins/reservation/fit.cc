#include "scheduler/plugins/reservation/fit.h"

#include <fmt/format.h>

#include <algorithm>

namespace koord::scheduler {

ReservationFit::ReservationFit(Ledger& ledger, Reasons& reasons, IsIgnoredResource is_ignored)
    : nodes_(ledger.nodes()),
      resources_(ledger.resources()),
      reasons_(reasons),
      is_ignored_(std::move(is_ignored)),
      no_ports_(reasons.Intern("node(s) didn't have free ports for the requested pod ports")),
      no_place_(reasons.Intern("Insufficient pods by node")),
      too_many_pods_(reasons.Intern("Reservation(s) Too many pods")) {}

bool ReservationFit::Counts(const ResourceAmount& need) const {
  return need.amount > 0 && (is_ignored_ == nullptr || !is_ignored_(resources_.NameOf(need.id)));
}

void ReservationFit::SortByText(std::vector<ReasonId>& reasons) const {
  std::ranges::sort(reasons, {}, [&](ReasonId id) { return reasons_.TextOf(id); });
}

ReservationFit::OnRow::OnRow(ReservationFit& fit, const PodShape& pod, const RowView& row,
                             const Seeker::Row& of_row, ReasonHold& texts)
    : fit_(fit), pod_(pod), of_row_(of_row), texts_(texts) {
  if (row.delta != nullptr && row.delta != &of_row.delta) {
    rest_ = *row.delta;
    std::erase_if(rest_.removed, [&](const PodInfo* removed) {
      return std::ranges::find(of_row.delta.removed, removed) != of_row.delta.removed.end();
    });
  }
  is_changed_ = !rest_.empty();
  view_ = {row.row, is_changed_ ? &rest_ : nullptr};
}

ResourceAmounts ReservationFit::OnRow::FreedIn(const Offer& offer, size_t* pods) const {
  ResourceAmounts freed;
  *pods = 0;
  for (const PodInfo* pod : rest_.removed) {
    if (pod->held == nullptr || !pod->held->draws_from) continue;
    if (pod->held->draws_from->uid != offer.terms.uid) continue;
    AddTo(freed, pod->requests());
    ++*pods;
  }
  return freed;
}

// Ports of reservations are for those who draw from them, each for its own.
bool ReservationFit::OnRow::HasFreePorts(const Offer* offer) const {
  if (pod_.host_ports.empty()) return true;
  return std::ranges::none_of(of_row_.matched, [&](const Offer* other) {
    if (other == offer) return false;
    return std::ranges::any_of(other->reserve_pod->shape->host_ports, [&](const HostPort& theirs) {
      return std::ranges::any_of(pod_.host_ports,
                                 [&](const HostPort& ours) { return Conflict(ours, theirs); });
    });
  });
}

std::vector<ReasonId> ReservationFit::OnRow::NodeShortage(const Offer* offer) const {
  const NodeTable& nodes = fit_.nodes_;
  std::vector<ReasonId> reasons;
  size_t gone = 0;
  const ResourceAmounts freed =
      offer == nullptr || !is_changed_ ? ResourceAmounts() : FreedIn(*offer, &gone);
  // A reservation without owners keeps a place for the first of them.
  const int64_t place = offer != nullptr && offer->owners == gone ? 1 : 0;
  if (view_.PodCount(nodes) - place + 1 > nodes.allocatable_pods()[view_.row]) {
    reasons.push_back(fit_.no_place_);
  }
  for (const ResourceAmount& need : pod_.requests) {
    if (!fit_.Counts(need)) continue;
    // What no node has cannot be left, whatever a reservation says.
    const bool may_be_left = offer != nullptr && nodes.IsOffered(need.id);
    const int64_t left = may_be_left ? offer->Left(need.id, freed) : 0;
    const int64_t free = nodes.allocatable(need.id)[view_.row] - view_.Requested(nodes, need.id);
    if (need.amount <= free + left) continue;
    reasons.push_back(fit_.reasons_.Intern(
        fmt::format("Insufficient {} by node", fit_.resources_.NameOf(need.id)), texts_));
  }
  if (!HasFreePorts(offer)) reasons.push_back(fit_.no_ports_);
  return reasons;
}

std::vector<ReasonId> ReservationFit::OnRow::ReservationShortage(const Offer& offer,
                                                                 bool detailed) const {
  std::vector<ReasonId> reasons;
  size_t gone = 0;
  const ResourceAmounts freed = is_changed_ ? FreedIn(offer, &gone) : ResourceAmounts();
  const auto owners = static_cast<int64_t>(offer.owners - gone);
  if (offer.max_pods && owners + 1 > *offer.max_pods) {
    reasons.push_back(
        detailed ? fit_.reasons_.Intern(fmt::format("Reservation(s) Too many pods, requested: 1, "
                                                    "used: {}, capacity: {}",
                                                    owners, *offer.max_pods),
                                        texts_)
                 : fit_.too_many_pods_);
  }
  for (const ResourceId id : offer.resources) {
    const auto need = std::ranges::find(pod_.requests, id, &ResourceAmount::id);
    if (need == pod_.requests.end() || !fit_.Counts(*need)) continue;
    const int64_t capacity = AmountOf(offer.allocatable, id) - AmountOf(offer.kept_back, id);
    const int64_t used = std::max<int64_t>(0, AmountOf(offer.used, id) - AmountOf(freed, id));
    if (need->amount <= capacity - used) continue;
    std::string text = fmt::format("Reservation(s) Insufficient {}", fit_.resources_.NameOf(id));
    if (detailed) {
      text += fmt::format(", requested: {}, used: {}, capacity: {}", need->amount, used, capacity);
    }
    reasons.push_back(fit_.reasons_.Intern(text, texts_));
  }
  return reasons;
}

}  // namespace koord::scheduler
