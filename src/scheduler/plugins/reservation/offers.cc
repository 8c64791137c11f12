#include "scheduler/plugins/reservation/offers.h"

#include <algorithm>
#include <tuple>

#include "api/reservation_annotations.h"
#include "base/log.h"
#include "model/reservation/reservation_state.h"
#include "scheduler/reservation_controller/consumer_place.h"

namespace koord::scheduler {

Offers::Offers(const PluginContext& context) : context_(context) {
  context.objects.reservations.Need();
  for (const auto& [key, reservation] : context.objects.reservations.objects()) {
    OnReservation(nullptr, reservation);
  }
  context.objects.reservations.AddWatcher(
      [this](const ReservationPtr& before, const ReservationPtr& after) {
        OnReservation(before, after);
      });
  const NodeTable& nodes = context.nodes();
  for (NodeRow row{0}; row < nodes.rows(); ++row) {
    for (const PodInfo* pod : nodes.pods(row)) OnPodAdded(*pod);
  }
  context.ledger.AddListener(*this);
  if (context.pending != nullptr) context.pending->AddListener(*this);
}

// ---- What they are

void Offers::OnReservation(const ReservationPtr& before, const ReservationPtr& after) {
  const bool is_same =
      before != nullptr && after != nullptr && before->metadata.uid == after->metadata.uid;
  if (before != nullptr && !is_same) Remove(before->metadata.uid);
  if (after == nullptr) return;
  if (!model::IsActive(*after)) return Remove(after->metadata.uid);
  Set(after->metadata.uid, model::ReservationOffer::Of(*after), model::IsAvailable(*after), false);
  Name(*offers_.find(after->metadata.uid)->second, after->spec.owners);
}

void Offers::SetActingPod(const PodInfo& pod) {
  const kube::Pod& object = *pod.pod;
  Set(object.metadata.uid, model::ReservationOffer::Of(object), model::IsOffering(object), true);
  const auto owners = api::ReservationOwnersOf(object.metadata.annotations);
  if (owners.ok()) Name(*offers_.find(object.metadata.uid)->second, *owners);
}

void Offers::Set(const std::string& uid, StatusOr<model::ReservationOffer> terms, bool available,
                 bool is_pod) {
  std::unique_ptr<Entry>& slot = offers_[uid];
  if (slot == nullptr) slot = std::make_unique<Entry>();
  Entry& entry = *slot;
  any_ever_ = true;
  Withdraw(entry);
  Unlist(entry);
  entry.is_pod = is_pod;
  entry.available = available;
  entry.is_understood = terms.ok();
  if (terms.ok()) {
    entry.terms = *std::move(terms);
    entry.keys = entry.terms.keys();
    by_name_.insert_or_assign(entry.terms.name, &entry);
    if (!entry.terms.consumer_uid.empty()) {
      by_consumer_.insert_or_assign(entry.terms.consumer_uid, &entry);
    }
    Count(entry, context_.ledger.resources());
  } else {
    LOG_WARNING("A reservation is not understood and serves nobody", {"uid", uid},
                {"err", terms.status()});
  }
  entry.terms.uid = uid;
  FollowLedger(entry);
}

void Offers::Remove(std::string_view uid) {
  const auto at = offers_.find(uid);
  if (at == offers_.end()) return;
  Entry& entry = *at->second;
  Withdraw(entry);
  Unname(entry);
  Unlist(entry);
  offers_.erase(at);
}

// Another one may have the name by now.
void Offers::Unlist(const Entry& entry) {
  const auto remove = [&](StringMap<Entry*>& from, const std::string& key) {
    const auto at = from.find(key);
    if (at != from.end() && at->second == &entry) from.erase(at);
  };
  remove(by_name_, entry.terms.name);
  remove(by_consumer_, entry.terms.consumer_uid);
}

const Offer* Offers::Find(std::string_view uid) const {
  const auto found = offers_.find(uid);
  return found == offers_.end() ? nullptr : found->second.get();
}

const Offer* Offers::FindByName(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

std::span<const Offer* const> Offers::On(NodeRow row) const {
  const auto found = by_row_.find(row);
  if (found == by_row_.end()) return {};
  return found->second;
}

// ---- What the ledger says of them

void Offers::OnPodAdded(const PodInfo& pod) {
  OnConsumer(pod.uid());
  if (pod.held == nullptr) return;
  if (const auto& reserves = pod.held->reserves) {
    if (!IsReservePod(*pod.pod)) return SetActingPod(pod);
    Anew(reserves->uid);
  }
  if (const auto& drawn = pod.held->draws_from) Anew(drawn->uid);
}

void Offers::OnPodRefreshed(const PodInfo& pod) {
  OnConsumer(pod.uid());
  if (pod.held == nullptr) return;
  if (pod.held->reserves && !IsReservePod(*pod.pod)) SetActingPod(pod);
  if (const auto& drawn = pod.held->draws_from) Anew(drawn->uid);
}

// The book does not have it any more.
void Offers::OnPodRemoved(const PodInfo& pod) {
  if (pod.held == nullptr) return;
  if (const auto& drawn = pod.held->draws_from) Anew(drawn->uid);
  if (const auto& reserves = pod.held->reserves) {
    if (!IsReservePod(*pod.pod)) return Remove(reserves->uid);
    Anew(reserves->uid);
  }
}

void Offers::Anew(std::string_view uid) {
  const auto at = offers_.find(uid);
  if (at != offers_.end()) FollowLedger(*at->second);
}

void Offers::FollowLedger(Entry& entry) {
  const ReservationBook::Entry* booked = context_.books.reservations.FindByUid(entry.terms.uid);
  const PodInfo* reserve_pod = booked == nullptr ? nullptr : booked->reserve_pod;
  // Whoever follows knows it by its pod.
  if (reserve_pod != entry.reserve_pod) Withdraw(entry);
  entry.reserve_pod = reserve_pod;
  CountUse(entry);
  Refresh(entry);
}

void Offers::CountUse(Entry& entry) {
  entry.owners = 0;
  entry.used.clear();
  if (entry.reserve_pod == nullptr) return;
  const ReservationBook::Entry& booked = *context_.books.reservations.FindByUid(entry.terms.uid);
  for (const PodInfo* owner : booked.owners) {
    if (owner->row != entry.reserve_pod->row) continue;
    ++entry.owners;
    entry.spent |= entry.terms.allocate_once && !owner->assumed;
  }
  if (entry.owners > 0) entry.used = ReservationBook::UsedOf(booked);
}

void Offers::OnNodeChanged(NodeRow row, const NodeChanges& changes) {
  if (!changes.labels) return;
  const auto at = by_row_.find(row);
  if (at == by_row_.end()) return;
  const std::vector<const Offer*> offers = at->second;
  for (const Offer* each : offers) {
    Entry& entry = *offers_.find(each->terms.uid)->second;
    Withdraw(entry);
    Publish(entry);
  }
}

// ---- Who may have used one up without being bound

void Offers::OnPodPending(const PodPtr&, const PodPtr& after) { OnConsumer(after->metadata.uid); }
void Offers::OnPodBound(const PodPtr&, const PodPtr& after) { OnConsumer(after->metadata.uid); }
void Offers::OnPodGone(const PodPtr& last) { OnConsumer(last->metadata.uid); }

void Offers::OnConsumer(const std::string& uid) {
  if (by_consumer_.empty()) return;
  const auto at = by_consumer_.find(uid);
  if (at != by_consumer_.end()) Refresh(*at->second);
}

bool Offers::IsUsedUp(const Entry& entry) const {
  if (!entry.terms.allocate_once) return false;
  if (entry.owners > 0 || entry.spent) return true;
  using enum ReservationFacts::Consumer;
  const ReservationFacts::Consumer consumer =
      PlaceOfConsumer(entry.terms.consumer_uid, entry.terms.uid, context_.ledger, context_.pending);
  return consumer == kGone || consumer == kIsOwner;
}

// ---- Pods that are asked for by name

namespace {

std::vector<std::string> NamesIn(const std::vector<api::ReservationOwner>& owners) {
  std::vector<std::string> names;
  for (const api::ReservationOwner& owner : owners) {
    if (!owner.object) continue;
    if (!owner.object->name.empty()) names.push_back(owner.object->name);
    if (!owner.object->uid.empty()) names.push_back(owner.object->uid);
  }
  return names;
}

}  // namespace

void Offers::Name(Entry& entry, const std::vector<api::ReservationOwner>& owners) {
  std::vector<std::string> names = NamesIn(owners);
  if (names == entry.named) return;
  Unname(entry);
  entry.named = std::move(names);
  for (const std::string& name : entry.named) context_.ledger.shapes().Name(name);
  WakeNamed(owners);
}

void Offers::Unname(Entry& entry) {
  for (const std::string& name : entry.named) context_.ledger.shapes().Forget(name);
  entry.named.clear();
}

// They wait together with their like, whom an offer to one of them does not help.
void Offers::WakeNamed(const std::vector<api::ReservationOwner>& owners) {
  if (context_.handle == nullptr || context_.pending == nullptr) return;
  const PodSet& pending = context_.pending->pods();
  std::vector<kube::ObjectKey> keys;
  for (const api::ReservationOwner& owner : owners) {
    if (!owner.object) continue;
    const auto& [uid, name, ns] = std::tie(owner.object->uid, owner.object->name, owner.object->ns);
    if (!uid.empty()) {
      const auto at = pending.find(uid);
      if (at != pending.end()) keys.push_back(KeyOf((*at)->metadata));
    } else if (!name.empty() && !ns.empty()) {
      keys.push_back({ns, name});
    } else if (!name.empty()) {
      for (const PodPtr& pod : pending) {
        if (pod->metadata.name == name) keys.push_back(KeyOf(pod->metadata));
      }
    }
  }
  if (!keys.empty()) context_.handle->Activate(keys);
}

// ---- Who hears of them

bool Offers::IsOffered(const Entry& entry) const {
  return entry.is_understood && entry.available && entry.reserve_pod != nullptr &&
         entry.row() != kNoRow && !IsUsedUp(entry);
}

void Offers::Refresh(Entry& entry) {
  const bool offered = IsOffered(entry);
  if (offered == entry.is_published) return;
  offered ? Publish(entry) : Withdraw(entry);
}

void Offers::Publish(Entry& entry) {
  entry.is_published = true;
  by_row_[entry.row()].push_back(&entry);
  for (const std::string& key : entry.keys) {
    Bucket& bucket = buckets_[key];
    bucket.offers.push_back(&entry);
    for (OfferFollower* follower : bucket.followers) follower->OnOffered(entry);
  }
  for (OfferFollower* follower : of_all_) follower->OnOffered(entry);
}

void Offers::Withdraw(Entry& entry) {
  if (!entry.is_published) return;
  entry.is_published = false;
  const auto on_row = by_row_.find(entry.row());
  std::erase(on_row->second, &entry);
  if (on_row->second.empty()) by_row_.erase(on_row);
  for (const std::string& key : entry.keys) {
    const auto at = buckets_.find(key);
    std::erase(at->second.offers, &entry);
    for (OfferFollower* follower : at->second.followers) follower->OnWithdrawn(entry);
    if (at->second.offers.empty() && at->second.followers.empty()) buckets_.erase(at);
  }
  for (OfferFollower* follower : of_all_) follower->OnWithdrawn(entry);
}

void Offers::Follow(OfferFollower& follower, const std::vector<std::string>& keys) {
  if (keys.empty()) {
    of_all_.push_back(&follower);
    for (const auto& [row, offers] : by_row_) {
      for (const Offer* offer : offers) follower.OnOffered(*offer);
    }
  }
  for (const std::string& key : keys) {
    Bucket& bucket = buckets_[key];
    bucket.followers.push_back(&follower);
    for (const Offer* offer : bucket.offers) follower.OnOffered(*offer);
  }
}

void Offers::Unfollow(OfferFollower& follower, const std::vector<std::string>& keys) {
  if (keys.empty()) std::erase(of_all_, &follower);
  for (const std::string& key : keys) {
    const auto at = buckets_.find(key);
    std::erase(at->second.followers, &follower);
    if (at->second.offers.empty() && at->second.followers.empty()) buckets_.erase(at);
  }
}

bool Offers::HasAnyFor(const std::vector<std::string>& keys) const {
  return std::ranges::any_of(keys, [&](const std::string& key) {
    const auto at = buckets_.find(key);
    return at != buckets_.end() && !at->second.offers.empty();
  });
}

}  // namespace koord::scheduler
