#include "scheduler/books/reservation_book.h"

#include <algorithm>

namespace koord::scheduler {

std::span<const ReservationBook::Entry* const> ReservationBook::On(NodeRow row) const {
  const auto found = by_row_.find(row);
  if (found == by_row_.end()) return {};
  return found->second;
}

const ReservationBook::Entry* ReservationBook::Find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

const ReservationBook::Entry* ReservationBook::FindByUid(std::string_view uid) const {
  const auto found = entries_.find(uid);
  return found == entries_.end() ? nullptr : found->second.get();
}

ResourceAmounts ReservationBook::UsedOf(const Entry& entry) {
  ResourceAmounts all;
  for (const PodInfo* owner : entry.owners) {
    if (owner->row == entry.reserve_pod->row) AddTo(all, owner->requests());
  }
  ResourceAmounts used;
  for (const ResourceAmount& each : ReservedOf(entry)) {
    if (const int64_t amount = AmountOf(all, each.id); amount != 0) {
      used.push_back({each.id, amount});
    }
  }
  return used;
}

ReservationBook::Entry& ReservationBook::EntryOf(const std::string& uid) {
  std::unique_ptr<Entry>& entry = entries_[uid];
  if (entry == nullptr) {
    entry = std::make_unique<Entry>();
    entry->uid = uid;
  }
  return *entry;
}

void ReservationBook::DropIfEmpty(const Entry& entry) {
  if (entry.reserve_pod != nullptr || !entry.owners.empty()) return;
  entries_.erase(entries_.find(entry.uid));
}

void ReservationBook::OnPodAdded(const PodInfo& pod) {
  if (pod.held == nullptr) return;
  if (const auto& reserves = pod.held->reserves) {
    Entry& entry = EntryOf(reserves->uid);
    entry.name = reserves->name;
    entry.reserve_pod = &pod;
    by_row_[pod.row].push_back(&entry);
    by_name_.insert_or_assign(entry.name, &entry);
  }
  if (const auto& drawn = pod.held->draws_from) EntryOf(drawn->uid).owners.push_back(&pod);
}

void ReservationBook::OnPodRemoved(const PodInfo& pod) {
  if (pod.held == nullptr) return;
  if (const auto& drawn = pod.held->draws_from) {
    Entry& entry = EntryOf(drawn->uid);
    std::erase(entry.owners, &pod);
    DropIfEmpty(entry);
  }
  if (const auto& reserves = pod.held->reserves) {
    Entry& entry = EntryOf(reserves->uid);
    const auto named = by_name_.find(entry.name);
    // Another one may have the name by now.
    if (named != by_name_.end() && named->second == &entry) by_name_.erase(named);
    const auto on_row = by_row_.find(pod.row);
    std::erase(on_row->second, &entry);
    if (on_row->second.empty()) by_row_.erase(on_row);
    entry.reserve_pod = nullptr;
    entry.name.clear();
    DropIfEmpty(entry);
  }
}

}  // namespace koord::scheduler
