#include "scheduler/explain/reservation_explanation.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/duration.h"
#include "base/strings.h"
#include "kube/objects/pod_resources.h"
#include "kube/selectors.h"
#include "model/reservation/reservation_matching.h"
#include "model/reservation/reservation_state.h"
#include "model/reservation/reservation_status.h"
#include "scheduler/explain/considered_reservations.h"
#include "scheduler/explain/explain.h"
#include "scheduler/explain/wrapped_text.h"

namespace koord::scheduler {
namespace {

constexpr size_t kCandidates = 5;

ReservationExplanation::Amounts AmountTexts(const kube::ResourceList& list) {
  ReservationExplanation::Amounts texts;
  for (const auto& [name, amount] : list) texts.emplace(name, amount.ToString());
  return texts;
}

std::string AmountLine(const ReservationExplanation::Amounts& amounts) {
  std::vector<std::string> parts;
  for (const auto& [name, amount] : amounts) parts.push_back(fmt::format("{} {}", amount, name));
  return parts.empty() ? "nothing" : Join(parts, ", ");
}

class ReservationExplainer {
 public:
  ReservationExplainer(Scheduler& scheduler, const api::Reservation& reservation)
      : scheduler_(scheduler), reservation_(reservation) {}

  ReservationExplanation Make() {
    const api::ReservationStatus& status = reservation_.status;
    result_.name = reservation_.metadata.name;
    result_.uid = reservation_.metadata.uid;
    result_.state = status.phase.empty() ? std::string(api::kReservationPending) : status.phase;
    result_.node = status.node_name;
    result_.policy = reservation_.spec.allocate_policy;
    result_.allocate_once = api::AllocatesOnce(reservation_.spec);
    DescribeOwners();
    result_.holds = AmountTexts(model::RequestsOf(reservation_));
    DescribeEnd();
    if (const auto offer = CheckedOffer()) {
      DescribeUse(*offer);
      if (model::IsActive(reservation_)) DescribeCandidates(*offer);
    }
    if (model::IsUnassigned(reservation_)) DescribePlacement();
    result_.summary = Summary();
    return std::move(result_);
  }

 private:
  std::optional<model::ReservationOffer> CheckedOffer() {
    Status valid = api::Validate(reservation_.spec);
    auto offer = model::ReservationOffer::Of(reservation_);
    if (valid.ok()) valid = offer.status();
    result_.problem = Message(valid);
    if (!valid.ok()) return std::nullopt;
    return *std::move(offer);
  }

  void DescribeOwners() {
    for (const api::ReservationOwner& owner : reservation_.spec.owners) {
      result_.may_use.push_back(OwnerText(owner));
    }
    if (result_.may_use.empty()) {
      result_.may_use.push_back(fmt::format(
          "pods that name it, by a reservation affinity or the label {}", api::kLabelReservation));
    }
  }

  void DescribeUse(const model::ReservationOffer& offer) {
    const auto* entry = scheduler_.books().reservations.FindByUid(offer.uid);
    kube::ResourceList used;
    if (entry != nullptr && entry->reserve_pod != nullptr) {
      for (const PodInfo* owner : entry->owners) {
        if (owner->row != entry->reserve_pod->row) continue;
        const kube::ResourceList requests = kube::PodRequests(*owner->pod);
        kube::AddTo(used, requests);
        result_.used_by.push_back({KeyOf(owner->pod->metadata).ToString(), AmountTexts(requests)});
      }
    }
    std::ranges::sort(result_.used_by, {}, &ReservationExplanation::User::pod);
    if (model::IsActive(reservation_)) {
      result_.left = AmountTexts(model::LeftOf(offer, model::Masked(used, offer.resource_names)));
    }
  }

  void DescribeEnd() {
    if (model::HasEnded(reservation_)) return;
    const auto end = model::EndOf(reservation_);
    if (!end) {
      result_.ends = "never";
      return;
    }
    const WallTime now = scheduler_.clock().Now();
    const Duration left = std::chrono::ceil<std::chrono::seconds>(*end - now);
    result_.ends = left <= 0s
                       ? fmt::format("now: its time was over at {}", kube::FormatTime(*end))
                       : fmt::format("in {}, at {}", FormatDuration(left), kube::FormatTime(*end));
    if (result_.node.empty()) result_.ends += ", once it has a node";
  }

  void DescribeCandidates(const model::ReservationOffer& offer) {
    std::vector<Scheduler::PodPtr> pods;
    scheduler_.ForEachPending([&](const kube::Pod& pod) {
      if (IsReservePod(pod)) return;
      const auto seeker = model::ReservationSeeker::Of(pod);
      if (!seeker.ok() || !model::IsOwner(pod, *seeker, offer)) return;
      pods.push_back(std::make_shared<const kube::Pod>(pod));
    });
    std::ranges::sort(pods, [](const auto& a, const auto& b) {
      const auto key = [](const kube::ObjectMeta& meta) {
        return std::tuple(meta.creation_timestamp, meta.ns, meta.name);
      };
      return key(a->metadata) > key(b->metadata);
    });
    for (const auto& pod : pods) {
      if (result_.candidates.size() == kCandidates) {
        ++result_.more_candidates;
        continue;
      }
      const auto seeker = model::ReservationSeeker::Of(*pod);
      OfferVerdict verdict = JudgeOffer(scheduler_, pod, *seeker, offer, result_.node);
      result_.candidates.push_back(
          {KeyOf(pod->metadata).ToString(), verdict.usable, std::move(verdict.text)});
    }
  }

  void DescribePlacement() {
    Scheduler::PodPtr reserve_pod;
    scheduler_.ForEachPending([&](const kube::Pod& pod) {
      if (pod.metadata.uid == result_.uid) reserve_pod = std::make_shared<const kube::Pod>(pod);
    });
    if (reserve_pod != nullptr) result_.placement = Explain(scheduler_, reserve_pod);
  }

  std::string Summary() const {
    if (model::IsExpired(reservation_)) return "has expired, and holds nothing any more";
    if (result_.state == api::kReservationFailed) return "has failed, and holds nothing";
    if (result_.state == api::kReservationSucceeded) {
      std::vector<std::string> owners;
      for (const auto& owner : reservation_.status.current_owners) {
        owners.push_back(fmt::format("{}/{}", owner.ns, owner.name));
      }
      return owners.empty() ? "was used up" : fmt::format("was used up by {}", Join(owners, ", "));
    }
    if (!result_.problem.empty()) {
      return fmt::format("cannot be used by anybody: {}", result_.problem);
    }
    if (result_.placement) return result_.placement->summary;
    if (!model::IsActive(reservation_)) return "waits for a node";
    return fmt::format("holds {} on node {}; {} left", AmountLine(result_.holds), result_.node,
                       AmountLine(result_.left));
  }

  Scheduler& scheduler_;
  const api::Reservation& reservation_;
  ReservationExplanation result_;
};

}  // namespace

std::optional<ReservationExplanation> ExplainReservation(Scheduler& scheduler,
                                                         const std::string& name) {
  const api::Reservation* reservation = scheduler.objects().reservations.Find(name);
  if (reservation == nullptr) return std::nullopt;
  return ReservationExplainer(scheduler, *reservation).Make();
}

std::string OwnerText(const api::ReservationOwner& owner) {
  std::vector<std::string> parts;
  const auto add = [&](std::string_view what, const std::string& value) {
    if (!value.empty()) parts.push_back(fmt::format("{} {}", what, value));
  };
  std::string text = "pods";
  if (const auto& controller = owner.controller) {
    text += fmt::format(" of {} {}", controller->kind.empty() ? "a controller" : controller->kind,
                        controller->name);
    add("in namespace", controller->ns);
    add("whose uid is", controller->uid);
  }
  if (const auto& object = owner.object) {
    add("named", object->name);
    add("in namespace", object->ns);
    add("with uid", object->uid);
  }
  if (const auto& selector = owner.label_selector) {
    const auto labels = kube::LabelMatcher::From(*selector);
    if (labels.ok()) add("with labels", labels->ToString());
  }
  text = std::string(Trim(text));
  if (!parts.empty()) text += " " + Join(parts, ", ");
  return text == "pods" ? "every pod" : text;
}

std::string FormatExplanation(const ReservationExplanation& all, size_t width) {
  std::string out = fmt::format("{}  {}\n", all.name, all.state);
  AppendWrapped(out, all.summary, 2, width);
  if (!all.ends.empty()) AppendWrapped(out, fmt::format("ends {}", all.ends), 2, width);
  out += all.allocate_once ? "\nMay be used once, by\n" : "\nMay be used by\n";
  for (const std::string& owner : all.may_use) AppendWrapped(out, owner, 2, width);
  if (!all.used_by.empty()) {
    out += "\nUsed by\n";
    for (const auto& user : all.used_by) {
      AppendWrapped(out, fmt::format("{}: {}", user.pod, AmountLine(user.requests)), 2, width);
    }
  }
  if (!all.candidates.empty()) {
    out += "\nPods that wait, and that it is for\n";
    for (const auto& pod : all.candidates) {
      AppendWrapped(out, fmt::format("{}: it {}", pod.pod, pod.text), 2, width);
    }
    if (all.more_candidates > 0) out += fmt::format("  and {} more\n", all.more_candidates);
  }
  if (all.placement) out += FormatDetails(*all.placement, width);
  return out;
}

}  // namespace koord::scheduler

KOORD_DEFINE_CODEC(koord::scheduler::ReservationExplanation);
