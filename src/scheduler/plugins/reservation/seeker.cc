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

// Whether any of the resources is named, be it with 0.
bool Asks(const kube::ResourceList& requests, const std::vector<std::string>& names) {
  return std::ranges::any_of(names,
                             [&](const std::string& name) { return requests.contains(name); });
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

// ---- How full they become

Seeker::Drawable::Drawable(const Offer& offer, const model::ReservationSeeker& seeker,
                           const ResourceNames& resources)
    : offer_(&offer), scorer_(seeker.requests, offer.terms.allocatable) {
  for (const auto& part : scorer_.parts()) {
    std::optional<ResourceId> id = resources.Find(part.name);
    if (id && !offer.IsAbout(*id)) id.reset();
    ids_.push_back(id);
  }
}

int64_t Seeker::Drawable::Fullness() const {
  return scorer_.Score([&](size_t i) -> int64_t {
    if (!ids_[i]) return 0;
    const int64_t used = AmountOf(offer_->used, *ids_[i]);
    return *ids_[i] == kCpuId ? used : used * 1000;
  });
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
  context_.nodes.Touch(row);  // also where only what is said of it changes
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
  context_.nodes.Touch(offer.row());
}

void Seeker::AddMatch(Row& at, const Offer& offer) {
  const NodeRow row = offer.row();
  ++version_;
  at.delta.removed.push_back(offer.reserve_pod);
  if (!ignores_all()) {
    at.matched.push_back(&offer);
    if (has_affinity() || Asks(terms_.requests, offer.terms.resource_names)) {
      at.drawable.emplace_back(offer, terms_, context_.resources);
    }
  }
  if (at.matches++ == 0) {
    at.place = transformed_.size();
    transformed_.push_back(row);
    if (limit_ != nullptr) limit_->Add(row);
  }
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
  std::erase_if(at.drawable, [&](const Drawable& each) { return &each.offer() == &offer; });
  if (--at.matches == 0) {
    const NodeRow last = transformed_.back();
    transformed_[at.place] = last;
    rows_.find(last)->second->place = at.place;
    transformed_.pop_back();
    if (limit_ != nullptr) limit_->Remove(row);
  }
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
