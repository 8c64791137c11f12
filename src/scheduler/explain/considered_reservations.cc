#include "scheduler/explain/considered_reservations.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"
#include "model/reservation/reservation_state.h"

namespace koord::scheduler {
namespace {

using model::MatchOutcome;

std::string TextOf(const model::ReservationMatch& match) {
  switch (match.outcome) {
    case MatchOutcome::kNotOwner:
      return "is not for this pod: no item of its owners matches";
    case MatchOutcome::kNameUnmatched:
      return "is not the one that the pod names";
    case MatchOutcome::kUnschedulable:
      return "is unschedulable or being deleted";
    case MatchOutcome::kTaint:
      return fmt::format("has the taint {}, which the pod's reservation affinity does not tolerate",
                         model::TaintText(*match.taint));
    case MatchOutcome::kAffinityUnmatched:
      return "does not have the labels that the pod's reservation affinity asks for";
    case MatchOutcome::kNotExact:
      return "does not hold exactly what the pod asks for, as the pod wants it";
    default:
      return "";
  }
}

// What keeps the pod off a node, whichever of its reservations it would draw from.
std::string WhyNotOn(Scheduler& scheduler, const Scheduler::PodPtr& pod, NodeRow row) {
  Pipeline* pipeline = scheduler.PipelineFor(*pod);
  if (pipeline == nullptr) return "no profile here schedules the pod";
  const ShapePtr shape = scheduler.ShapeOf(pod);
  pipeline->BeginCycle(scheduler.clock().Now());
  CompiledQuery& query = pipeline->QueryFor(shape);
  const PodInfo* held = scheduler.ledger().Find(pod->metadata.uid);
  RowDelta own;
  if (held != nullptr && held->row == row) own.removed.push_back(held);
  RowDiagnosis found;
  found.verdict =
      query.Check({row, own.removed.empty() ? nullptr : &own}, pod->metadata.uid, &found);
  if (found.verdict.ok()) return "";
  std::vector<std::string> reasons;
  for (const ReasonId id : found.verdict.reasons) {
    scheduler.reasons().ForEachText(id, [&](std::string_view text) { reasons.emplace_back(text); });
  }
  return Join(reasons, ", ");
}

std::string PhaseText(const api::Reservation& reservation) {
  if (model::IsExpired(reservation)) return "has expired";
  if (reservation.status.phase == api::kReservationFailed) return "has failed";
  if (reservation.status.phase == api::kReservationSucceeded) return "was used up";
  if (!model::IsActive(reservation)) return "waits for a node itself";
  return "";
}

class Considered {
 public:
  Considered(Scheduler& scheduler, const Scheduler::PodPtr& pod, model::ReservationSeeker seeker)
      : scheduler_(scheduler), pod_(pod), seeker_(std::move(seeker)) {
    const PodInfo* held = scheduler.ledger().Find(pod->metadata.uid);
    if (held != nullptr && held->held != nullptr && held->held->draws_from) {
      drawn_from_ = held->held->draws_from->uid;
    }
  }

  void Add(const api::Reservation& reservation) {
    const std::string& name = reservation.metadata.name;
    const auto offer = model::ReservationOffer::Of(reservation);
    if (!offer.ok()) {
      if (seeker_.wanted_name() != name) return;
      return Put(name, "",
                 {false, fmt::format("cannot be used by anybody: {}", Message(offer.status()))});
    }
    if (!IsOfInterest(*offer)) return;
    const std::string& node = reservation.status.node_name;
    if (drawn_from_ == offer->uid) return PutUsed(name, node);
    if (const std::string phase = PhaseText(reservation); !phase.empty()) {
      // Of what has ended long ago only what the pod names is news.
      if (model::HasEnded(reservation) && seeker_.wanted_name() != name) return;
      return Put(name, node, {false, phase});
    }
    Judge(*offer, node);
  }
  void Add(const kube::Pod& acting, const std::string& node) {
    const auto offer = model::ReservationOffer::Of(acting);
    if (!offer.ok() || !IsOfInterest(*offer)) return;
    if (drawn_from_ == offer->uid) return PutUsed(offer->name, node);
    Judge(*offer, node);
  }

  std::vector<Explanation::Reservation> Take() {
    std::ranges::sort(found_, {}, &Explanation::Reservation::name);
    return std::move(found_);
  }

 private:
  bool IsOfInterest(const model::ReservationOffer& offer) const {
    return drawn_from_ == offer.uid || seeker_.wanted_name() == offer.name ||
           (!seeker_.ignores_all && model::IsOwner(*pod_, seeker_, offer));
  }
  void Judge(const model::ReservationOffer& offer, const std::string& node) {
    Put(offer.name, node, JudgeOffer(scheduler_, pod_, seeker_, offer, node));
  }
  void Put(const std::string& name, const std::string& node, OfferVerdict verdict) {
    found_.push_back(
        {.name = name, .node = node, .usable = verdict.usable, .text = std::move(verdict.text)});
  }
  void PutUsed(const std::string& name, const std::string& node) {
    Put(name, node, {true, "is used by this pod"});
    found_.back().used = true;
  }

  Scheduler& scheduler_;
  const Scheduler::PodPtr pod_;
  const model::ReservationSeeker seeker_;
  std::string drawn_from_;  // the uid of the reservation that the pod uses
  std::vector<Explanation::Reservation> found_;
};

}  // namespace

std::vector<Explanation::Reservation> ReservationsConsidered(Scheduler& scheduler,
                                                             const Scheduler::PodPtr& pod) {
  auto seeker = model::ReservationSeeker::Of(*pod);
  if (IsReservePod(*pod) || !seeker.ok()) return {};
  Considered considered(scheduler, pod, *std::move(seeker));
  for (const auto& [key, reservation] : scheduler.objects().reservations.objects()) {
    considered.Add(*reservation);
  }
  const NodeTable& nodes = scheduler.ledger().nodes();
  for (NodeRow row{0}; row < nodes.rows(); ++row) {
    for (const PodInfo* each : nodes.pods(row)) {
      if (model::IsOffering(*each->pod)) considered.Add(*each->pod, nodes.name(row));
    }
  }
  return considered.Take();
}

OfferVerdict JudgeOffer(Scheduler& scheduler, const Scheduler::PodPtr& pod,
                        const model::ReservationSeeker& seeker,
                        const model::ReservationOffer& offer, const std::string& node) {
  const auto row = scheduler.ledger().nodes().Find(node);
  if (!row) return {false, "is on a node that is gone"};
  const kube::Labels& labels = scheduler.ledger().nodes().node(*row).metadata.labels;
  const model::ReservationMatch match = model::Match(*pod, seeker, offer, labels, {});
  if (!match.is_match()) return {false, TextOf(match)};
  if (offer.allocate_once) {
    if (const std::string users = UsersOf(scheduler, offer.uid); !users.empty()) {
      return {false, fmt::format("can be used once, and is used by {}", users)};
    }
    if (!offer.consumer_uid.empty() && offer.consumer_uid != pod->metadata.uid) {
      return {false, "can be used once, and was used"};
    }
  }
  const std::string why = WhyNotOn(scheduler, pod, *row);
  if (why.empty()) return {true, "can be used"};
  return {false, fmt::format("does not help on its node: {}", why)};
}

std::string UsersOf(const Scheduler& scheduler, std::string_view reservation_uid) {
  const ReservationBook::Entry* entry = scheduler.books().reservations.FindByUid(reservation_uid);
  if (entry == nullptr || entry->reserve_pod == nullptr) return "";
  std::vector<std::string> names;
  for (const PodInfo* owner : entry->owners) {
    if (owner->row == entry->reserve_pod->row) {
      names.push_back(KeyOf(owner->pod->metadata).ToString());
    }
  }
  std::ranges::sort(names);
  return Join(names, ", ");
}

}  // namespace koord::scheduler
