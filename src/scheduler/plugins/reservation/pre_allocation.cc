#include "scheduler/plugins/reservation/pre_allocation.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/keys.h"
#include "base/strings.h"
#include "kube/objects/pod_resources.h"
#include "model/reservation/reservation_score.h"
#include "scheduler/plugins/reservation/words.h"

namespace koord::scheduler {
namespace {

constexpr std::string_view kUnsupported =
    "node(s) reservation pre allocation is unsupported with current attributes";
constexpr std::string_view kNoClusterMode =
    "reservation requires cluster mode pre-allocation which is disabled";

int64_t UrgencyOf(const PodInfo& pod, const std::string& key) {
  return ParseInt(kube::ValueOf(pod.pod->metadata.annotations, key)).value_or(0);
}

void AddNew(std::vector<ReasonId>& all, const std::vector<ReasonId>& more) {
  for (const ReasonId reason : more) {
    if (std::ranges::find(all, reason) == all.end()) all.push_back(reason);
  }
}

}  // namespace

PreAllocation::PreAllocation(const PodShape& reserve_pod, const api::Reservation& reservation,
                             Context context)
    : shape_(reserve_pod), context_(std::move(context)) {
  const api::ReservationSpec& spec = reservation.spec;
  is_required_ =
      kube::ValueOf(reservation.metadata.labels, api::kLabelPreAllocationRequired) == "true";
  if (spec.pre_allocation_policy) {
    takes_several_ = spec.pre_allocation_policy->enable_multiple;
    is_cluster_mode_ = spec.pre_allocation_policy->mode == "Cluster";
  }
  auto terms = model::ReservationOffer::Of(reservation);
  if (!terms.ok() || terms->policy != model::AllocatePolicy::kRestricted) {
    problem_ = kUnsupported;
    return;
  }
  if (is_cluster_mode_ && !context_.settings.enable_cluster_mode) {
    problem_ = kNoClusterMode;
    return;
  }
  offer_.terms = *std::move(terms);
  offer_.terms.unschedulable = false;  // that is about pods to come
  Count(offer_, context_.resources);
  for (const api::ReservationOwner& owner : spec.owners) {
    if (!owner.label_selector) continue;
    auto selector = kube::LabelMatcher::From(*owner.label_selector);
    if (selector.ok()) selectors_.push_back(*std::move(selector));
  }
}

// ---- Which pods

bool PreAllocation::IsCandidate(const PodInfo& pod, const kube::Labels& node_labels) const {
  const kube::Pod& object = *pod.pod;
  if (IsReservePod(object) || !offer_.SharesNamesWith(pod.requests())) return false;
  if (is_cluster_mode_) {
    if (kube::ValueOf(object.metadata.labels, context_.settings.cluster_label_key) != "true") {
      return false;
    }
  } else {
    if (pod.held != nullptr && pod.held->draws_from) return false;
    const bool selected = std::ranges::any_of(selectors_, [&](const kube::LabelMatcher& selector) {
      return selector.Matches(object.metadata.labels);
    });
    if (!selected || !offer_.terms.owners.Matches(object)) return false;
  }
  const auto seeker = model::ReservationSeeker::Of(object);
  return seeker.ok() &&
         model::MatchOwner(*seeker, offer_.terms, node_labels, context_.match).is_match();
}

PreAllocation::Pods PreAllocation::Find(NodeRow row) const {
  Pods pods;
  if (!context_.nodes.IsLive(row)) return pods;
  const kube::Labels& labels = context_.nodes.node(row).metadata.labels;
  for (const PodInfo* pod : context_.nodes.pods(row)) {
    if (IsCandidate(*pod, labels)) pods.push_back(pod);
  }
  const std::string& urgency = context_.settings.cluster_priority_annotation_key;
  std::ranges::sort(pods, [&](const PodInfo* a, const PodInfo* b) {
    if (is_cluster_mode_) {
      const int64_t x = UrgencyOf(*a, urgency);
      const int64_t y = UrgencyOf(*b, urgency);
      if (x != y) return x > y;
    } else {
      const int64_t x = FullnessWith(*a);
      const int64_t y = FullnessWith(*b);
      if (x != y) return x > y;
    }
    return a->uid() < b->uid();
  });
  return pods;
}

PreAllocation::Candidates& PreAllocation::At(NodeRow row) {
  std::unique_ptr<Candidates>& slot = by_row_[row];
  if (slot == nullptr) {
    slot = std::make_unique<Candidates>();
  } else if (!context_.nodes.HasHappenedSince(slot->position, row)) {
    return *slot;
  }
  slot->position = context_.nodes.log_end();
  slot->pods = problem_.empty() ? Find(row) : Pods();
  slot->delta.removed = slot->pods;
  return *slot;
}

std::span<const NodeRow> PreAllocation::rows() {
  rows_.clear();
  for (NodeRow row{0}; row < context_.nodes.rows(); ++row) {
    if (context_.nodes.IsLive(row) && !At(row).pods.empty()) rows_.push_back(row);
  }
  return rows_;
}

bool PreAllocation::HasCandidates() { return !rows().empty(); }

const RowDelta* PreAllocation::DeltaOf(NodeRow row) {
  const Candidates& candidates = At(row);
  return candidates.pods.empty() ? nullptr : &candidates.delta;
}

// ---- Whether they make room

std::vector<ReasonId> PreAllocation::NodeShortage(const RowView& row, const Pods& taken,
                                                  ReasonHold& texts) const {
  const NodeTable& nodes = context_.nodes;
  const Candidates& candidates = *by_row_.at(row.row);
  RowDelta delta;
  if (row.delta != nullptr) delta = *row.delta;
  std::erase_if(delta.removed, [&](const PodInfo* pod) {
    return std::ranges::find(candidates.pods, pod) != candidates.pods.end();
  });
  delta.removed.insert(delta.removed.end(), taken.begin(), taken.end());
  const RowView view{row.row, delta.empty() ? nullptr : &delta};
  std::vector<ReasonId> reasons;
  const auto lacks = [&](std::string_view resource) {
    reasons.push_back(
        context_.reasons.Intern(fmt::format("Insufficient {} by node", resource), texts));
  };
  // Those that are taken stay where they are, and share its place.
  const auto kept = static_cast<int64_t>(taken.size());
  if (view.PodCount(nodes) + std::max<int64_t>(kept, 1) > nodes.allocatable_pods()[row.row]) {
    lacks(kube::kPodCount);
  }
  for (const ResourceAmount& need : shape_.requests) {
    const int64_t free = nodes.allocatable(need.id)[row.row] - view.Requested(nodes, need.id);
    if (need.amount > free) lacks(context_.resources.NameOf(need.id));
  }
  return reasons;
}

std::vector<ReasonId> PreAllocation::ReservationShortage(const Pods& taken,
                                                         ReasonHold& texts) const {
  std::vector<ReasonId> reasons;
  ResourceAmounts sum;
  for (const PodInfo* pod : taken) AddTo(sum, pod->requests());
  if (offer_.max_pods && static_cast<int64_t>(taken.size()) > *offer_.max_pods) {
    reasons.push_back(context_.reasons.Intern("Reservation(s) Too many pods", texts));
  }
  for (const ResourceId id : offer_.resources) {
    const int64_t capacity = AmountOf(offer_.allocatable, id) - AmountOf(offer_.kept_back, id);
    if (AmountOf(sum, id) <= capacity) continue;
    reasons.push_back(context_.reasons.Intern(
        fmt::format("Reservation(s) Insufficient {}", context_.resources.NameOf(id)), texts));
  }
  return reasons;
}

PreAllocation::Trial PreAllocation::TryOne(const RowView& row, const Pods& pods,
                                           ReasonHold& texts) const {
  Trial trial;
  for (const PodInfo* pod : pods) {
    const auto of_node = NodeShortage(row, {pod}, texts);
    const auto of_reservation = ReservationShortage({pod}, texts);
    if (of_node.empty() && of_reservation.empty()) {
      trial.fits = true;
      trial.taken.push_back(pod);
      continue;
    }
    AddNew(trial.of_node, of_node);
    AddNew(trial.of_reservation, of_reservation);
  }
  return trial;
}

PreAllocation::Trial PreAllocation::TrySeveral(const RowView& row, const Pods& pods,
                                               ReasonHold& texts) const {
  Trial trial;
  for (const PodInfo* pod : pods) {
    trial.taken.push_back(pod);
    const auto of_reservation = ReservationShortage(trial.taken, texts);
    if (!of_reservation.empty()) {
      AddNew(trial.of_reservation, of_reservation);
      trial.taken.pop_back();
      continue;
    }
    trial.of_node = NodeShortage(row, trial.taken, texts);
    trial.fits = trial.of_node.empty();
    if (trial.fits) break;
  }
  return trial;
}

RowVerdict PreAllocation::Check(const RowView& row, ReasonHold& texts) {
  const Candidates& candidates = At(row.row);
  const bool may_take_none = !is_required_ && context_.settings.prefer_no_pre_allocated_pods;
  if (candidates.pods.empty()) {
    if (is_required_) {
      return RowVerdict::Unresolvable(context_.reasons.Intern(kNoPodToTake, texts));
    }
    return {};  // whether it fits is for others to say
  }
  if (may_take_none && NodeShortage(row, {}, texts).empty()) return {};
  Trial trial = takes_several_ ? TrySeveral(row, candidates.pods, texts)
                               : TryOne(row, candidates.pods, texts);
  if (trial.fits) return {};
  RowVerdict verdict{Code::kUnschedulable, {}};
  if (!is_required_) {
    if (trial.of_node.empty()) trial.of_node = NodeShortage(row, {}, texts);
    if (trial.of_node.empty()) return {};
    trial.of_reservation.clear();
  }
  AddNew(trial.of_node, trial.of_reservation);
  if (trial.of_node.empty()) {
    trial.of_node.push_back(context_.reasons.Intern(kNoPodsForPreAllocation, texts));
  }
  verdict.reasons.assign(trial.of_node.begin(), trial.of_node.end());
  return verdict;
}

std::optional<PreAllocation::Pods> PreAllocation::Nominate(NodeRow row, ReasonHold& texts) {
  const Candidates& candidates = At(row);
  const RowView view{row, &candidates.delta};
  if (!is_required_ && context_.settings.prefer_no_pre_allocated_pods &&
      NodeShortage(view, {}, texts).empty()) {
    return Pods();
  }
  if (takes_several_) {
    Trial trial = TrySeveral(view, candidates.pods, texts);
    if (trial.fits) return std::move(trial.taken);
    return is_required_ ? std::optional<Pods>() : Pods();
  }
  if (candidates.pods.size() == 1 && is_required_) return candidates.pods;
  const Trial trial = TryOne(view, candidates.pods, texts);
  if (trial.taken.empty()) return is_required_ ? std::optional<Pods>() : Pods();
  const PodInfo* best = trial.taken.front();
  for (const PodInfo* pod : trial.taken) {
    if (FullnessWith(*pod) > FullnessWith(*best)) best = pod;
  }
  return Pods{best};
}

int64_t PreAllocation::FullnessWith(const PodInfo& pod) const {
  return model::ReservationScore(kube::PodRequests(*pod.pod), offer_.terms.allocatable, {});
}

int64_t PreAllocation::Score(NodeRow row, ReasonHold& texts) {
  const auto pods = Nominate(row, texts);
  return pods && pods->size() == 1 ? FullnessWith(*pods->front()) : 0;
}

}  // namespace koord::scheduler
