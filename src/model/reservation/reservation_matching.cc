#include "model/reservation/reservation_matching.h"

#include <algorithm>

#include "api/keys.h"
#include "kube/objects/pod_resources.h"

namespace koord::model {
namespace {

// A name that pods ask for, as a key that no pod can have by itself.
std::string ByReservationName(std::string_view name) { return fmt::format("asks for {}", name); }

// The label is a short form of an affinity by name.
StatusOr<std::optional<api::ReservationAffinity>> AffinityOf(const kube::ObjectMeta& pod) {
  ASSIGN_OR_RETURN(auto affinity, api::ReservationAffinityOf(pod.annotations));
  if (affinity) return affinity;
  const std::string* named = kube::FindValue(pod.labels, api::kLabelReservation);
  if (named == nullptr || named->empty()) return affinity;
  affinity.emplace().name = *named;
  return affinity;
}

bool ToleratesUnschedulable(const ReservationSeeker& seeker) {
  static const kube::Taint kUnschedulable{.key = std::string(kube::kTaintNodeUnschedulable),
                                          .value = {},
                                          .effect = std::string(kube::kNoSchedule),
                                          .time_added = {}};
  return seeker.affinity && kube::Tolerates(seeker.affinity->tolerations, kUnschedulable);
}

// The labels that affinity is about: those of the reservation, and below them those of its node.
class SeenLabels {
 public:
  SeenLabels(const kube::Labels& own, const kube::Labels* of_node) : own_(own), node_(of_node) {}

  const std::string* Find(std::string_view key) const {
    const std::string* value = kube::FindValue(own_, key);
    return value != nullptr || node_ == nullptr ? value : kube::FindValue(*node_, key);
  }
  bool Matches(const kube::NodeSelectorRequirement& requirement) const {
    const bool is_own = node_ == nullptr || own_.contains(requirement.key);
    return kube::Matches(requirement, is_own ? own_ : *node_);
  }

 private:
  const kube::Labels& own_;
  const kube::Labels* node_;
};

bool Matches(const kube::NodeSelectorTerm& term, const std::string& name,
             const SeenLabels& labels) {
  if (term.match_expressions.empty() && term.match_fields.empty()) return false;
  return std::ranges::all_of(term.match_expressions,
                             [&](const auto& each) { return labels.Matches(each); }) &&
         (term.match_fields.empty() ||
          kube::Matches(kube::NodeSelectorTerm{{}, term.match_fields}, name, {}));
}

bool Matches(const api::ReservationAffinity& affinity, const std::string& name,
             const SeenLabels& labels) {
  const bool has_all_pairs = std::ranges::all_of(affinity.reservation_selector, [&](auto& pair) {
    const std::string* value = labels.Find(pair.first);
    return value != nullptr && *value == pair.second;
  });
  if (!has_all_pairs || !affinity.required) return has_all_pairs;
  return std::ranges::any_of(affinity.required->reservation_selector_terms,
                             [&](const auto& term) { return Matches(term, name, labels); });
}

}  // namespace

StatusOr<ReservationSeeker> ReservationSeeker::Of(const kube::Pod& pod) {
  ReservationSeeker seeker;
  seeker.ignores_all = kube::ValueOf(pod.metadata.labels, api::kLabelReservationIgnored) == "true";
  ASSIGN_OR_RETURN(seeker.affinity, AffinityOf(pod.metadata));
  ASSIGN_OR_RETURN(seeker.exact_resources, api::ExactMatchResourcesOf(pod.metadata.annotations));
  seeker.requests = kube::PodRequests(pod);
  return seeker;
}

std::vector<std::string> ReservationOffer::keys() const {
  if (owners.empty()) return {ByReservationName(name)};
  return owners.keys();
}

std::vector<std::string> OfferKeysOf(const kube::Pod& pod, const ReservationSeeker& seeker) {
  std::vector<std::string> keys = OwnerKeysOf(pod);
  if (!seeker.wanted_name().empty()) keys.push_back(ByReservationName(seeker.wanted_name()));
  return keys;
}

bool IsOwner(const kube::Pod& pod, const ReservationSeeker& seeker, const ReservationOffer& offer) {
  if (offer.owners.empty()) return seeker.wanted_name() == offer.name;
  return offer.owners.Matches(pod);
}

ReservationMatch MatchOwner(const ReservationSeeker& seeker, const ReservationOffer& offer,
                            const kube::Labels& node_labels, const MatchOptions& options) {
  using enum MatchOutcome;
  const auto is_exact = [&] {
    return api::MatchesExactly(seeker.exact_resources, seeker.requests, offer.allocatable);
  };
  if (!seeker.wanted_name().empty()) {
    if (seeker.wanted_name() != offer.name) return {kNameUnmatched};
    return {is_exact() ? kNameMatched : kNotExact};
  }
  if (offer.unschedulable && !ToleratesUnschedulable(seeker)) return {kUnschedulable};
  if (seeker.affinity) {
    // Pods that do not ask for reservations are not kept off by their taints.
    const auto* taint = kube::FindUntolerated(offer.taints, seeker.affinity->tolerations);
    if (taint != nullptr) return {kTaint, taint};
    const SeenLabels labels(offer.labels, options.omit_node_labels ? nullptr : &node_labels);
    if (!Matches(*seeker.affinity, offer.name, labels)) return {kAffinityUnmatched};
  }
  return {is_exact() ? kMatched : kNotExact};
}

ReservationMatch Match(const kube::Pod& pod, const ReservationSeeker& seeker,
                       const ReservationOffer& offer, const kube::Labels& node_labels,
                       const MatchOptions& options) {
  if (seeker.ignores_all) return {MatchOutcome::kIgnored};
  if (!IsOwner(pod, seeker, offer)) return {MatchOutcome::kNotOwner};
  return MatchOwner(seeker, offer, node_labels, options);
}

std::string TaintText(const kube::Taint& taint) {
  return fmt::format("{{{}: {}}}", taint.key, taint.value);
}

}  // namespace koord::model
