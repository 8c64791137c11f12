#include "scheduler/plugins/reservation/seeker.h"

#include <algorithm>

namespace koord::scheduler {
namespace {

kube::Pod AsShapeSees(const PodShape& shape) {
  const kube::ObjectMeta& sample = shape.sample->metadata;
  kube::Pod pod;
  pod.metadata.ns = sample.ns;
  pod.metadata.labels = sample.labels;
  pod.metadata.owner_references = sample.owner_references;
  if (shape.named) {
    pod.metadata.name = sample.name;
    pod.metadata.uid = sample.uid;
  }
  return pod;
}

// None: all offers are for it.
std::vector<std::string> KeysOf(const kube::Pod& pod, const model::ReservationSeeker& terms) {
  return terms.ignores_all ? std::vector<std::string>() : model::OfferKeysOf(pod, terms);
}

}  // namespace

Seeker::Seeker(const PodShape& shape, model::ReservationSeeker terms, Context context)
    : shape_(shape),
      context_(std::move(context)),
      terms_(std::move(terms)),
      pod_(AsShapeSees(shape)),
      keys_(KeysOf(pod_, terms_)),
      node_(NodeMatcher::OfPod(context_.nodes, shape.spec())) {
  if (has_affinity() && !ignores_all()) limit_ = std::make_shared<RowLimit>(context_.nodes);
  context_.offers->Follow(*this, keys_);
  is_made_ = true;
  is_served_ = limit_ != nullptr || !transformed_.empty();
}

Seeker::~Seeker() {
  if (has_told_) context_.forget_first(shape_.id);
  context_.offers->Unfollow(*this, keys_);
}

// ---- Offers that come and go

const Seeker::Row* Seeker::Find(NodeRow row) const {
  if (rows_.empty()) return nullptr;
  const auto found = rows_.find(row);
  return found == rows_.end() ? nullptr : found->second.get();
}

void Seeker::OnOffered(const Offer& offer) {
  const NodeRow row = offer.row();
  if (!node_.matches_all() && !node_.Matches(row)) return;
  const model::ReservationMatch match = model::Match(
      pod_, terms_, offer.terms, context_.nodes.node(row).metadata.labels, context_.options);
  if (match.outcome == model::MatchOutcome::kNotOwner) return;
  std::unique_ptr<Row>& at = rows_[row];
  if (at == nullptr) at = std::make_unique<Row>();
  // Found by two keys.
  if (std::ranges::find(at->considered, &offer, &Considered::offer) != at->considered.end()) return;
  at->considered.push_back({&offer, match});
  if (match.is_match()) AddMatch(*at, offer);
}

void Seeker::OnWithdrawn(const Offer& offer) {
  const auto at = rows_.find(offer.row());
  if (at == rows_.end()) return;
  Row& row = *at->second;
  const auto known = std::ranges::find(row.considered, &offer, &Considered::offer);
  if (known == row.considered.end()) return;
  const bool matched = known->match.is_match();
  row.considered.erase(known);
  if (matched) RemoveMatch(row, offer);
  if (row.considered.empty()) rows_.erase(at);
}

void Seeker::AddMatch(Row& at, const Offer& offer) {
  const NodeRow row = offer.row();
  ++version_;
  at.delta.removed.push_back(offer.reserve_pod);
  if (!ignores_all()) at.matched.push_back(&offer);
  if (at.matches++ == 0) {
    at.place = transformed_.size();
    transformed_.push_back(row);
    if (limit_ != nullptr) limit_->Add(row);
  }
  context_.nodes.Touch(row);
  if (is_made_ && !is_served_ && !has_told_) {
    has_told_ = true;
    context_.found_first(shape_.id);
  }
}

void Seeker::RemoveMatch(Row& at, const Offer& offer) {
  const NodeRow row = offer.row();
  ++version_;
  std::erase(at.delta.removed, offer.reserve_pod);
  std::erase(at.matched, &offer);
  if (--at.matches == 0) {
    const NodeRow last = transformed_.back();
    transformed_[at.place] = last;
    rows_.find(last)->second->place = at.place;
    transformed_.pop_back();
    if (limit_ != nullptr) limit_->Remove(row);
  }
  context_.nodes.Touch(row);
}

FilterTransformer::AbsentPods Seeker::Absent() {
  if (absent_version_ != version_) {
    absent_version_ = version_;
    absent_.clear();
    for (const NodeRow row : transformed_) {
      const auto& removed = rows_.find(row)->second->delta.removed;
      absent_.insert(absent_.end(), removed.begin(), removed.end());
    }
  }
  return {absent_, version_};
}

}  // namespace koord::scheduler
