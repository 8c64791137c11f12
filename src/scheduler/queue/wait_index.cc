#include "scheduler/queue/wait_index.h"

#include <algorithm>

namespace koord::scheduler {

namespace {

// What it does if an event cures this rejection.
Wake WakeBy(const ClusterEvent& event, const Rejection& rejection) {
  const bool awaited = rejection.pending && event.kind != EventKind::kForced;
  return awaited ? Wake::kAtOnce : Wake::kAfterBackoff;
}

std::bitset<kEventKinds> WantedBy(const RequeuePlugin* plugin) {
  std::bitset<kEventKinds> wanted;
  for (size_t kind = 0; kind < kEventKinds; ++kind) {
    const auto event = static_cast<EventKind>(kind);
    wanted[kind] = plugin == nullptr || event == EventKind::kForced || plugin->Wants(event);
  }
  return wanted;
}

}  // namespace

WaitIndex::WaitIndex(std::vector<QueueProfile> profiles) {
  for (QueueProfile& profile : profiles) {
    auto state = std::make_unique<QueueProfileState>();
    state->plugins = std::move(profile);
    const std::string name = state->plugins.name;
    profiles_[name] = std::move(state);
  }
}

QueueProfileState* WaitIndex::FindProfile(std::string_view name) const {
  const auto found = profiles_.find(name);
  return found == profiles_.end() ? nullptr : found->second.get();
}

Rejector& WaitIndex::RejectorOf(QueueProfileState& profile, std::string_view plugin) {
  const auto known = profile.rejectors.find(plugin);
  if (known != profile.rejectors.end()) return *known->second;
  auto rejector = std::make_unique<Rejector>();
  rejector->profile = profile.plugins.name;
  rejector->name = plugin;
  const auto requeue = profile.plugins.requeue.find(plugin);
  if (requeue != profile.plugins.requeue.end()) rejector->plugin = requeue->second;
  rejector->wants = WantedBy(rejector->plugin);
  profile.rejectors[rejector->name] = rejector.get();
  return *rejectors_.emplace_back(std::move(rejector));
}

void WaitIndex::Insert(QueueEntry& entry) {
  if (entry.gate.by != nullptr) return InsertAt(entry, entry.gate);
  for (Rejection& rejection : entry.rejections) InsertAt(entry, rejection);
}

void WaitIndex::Remove(QueueEntry& entry) {
  if (entry.gate.by != nullptr) return RemoveAt(entry.gate);
  for (Rejection& rejection : entry.rejections) RemoveAt(rejection);
}

void WaitIndex::InsertAt(QueueEntry& entry, Rejection& rejection) {
  rejection.place = static_cast<uint32_t>(rejection.by->waiting.size());
  rejection.by->waiting.push_back({&entry, &rejection});
}

void WaitIndex::RemoveAt(Rejection& rejection) {
  std::vector<Rejector::Waiting>& waiting = rejection.by->waiting;
  waiting[rejection.place] = waiting.back();
  waiting[rejection.place].rejection->place = rejection.place;
  waiting.pop_back();
}

std::vector<QueueEntry*> WaitIndex::WokenBy(const ClusterEvent& event, const WakeFilter& filter) {
  std::vector<QueueEntry*> woken;
  for (const auto& rejector : rejectors_) {
    if (!rejector->Wants(event.kind)) continue;
    for (const auto& [entry, rejection] : rejector->waiting) {
      const Wake wake = WakeBy(event, *rejection);
      if (entry->wake >= wake || !filter.Admits(*entry)) continue;
      if (!rejector->MightCure(*entry->pod, event)) continue;
      if (entry->wake == Wake::kNo) woken.push_back(entry);
      entry->wake = wake;
    }
  }
  std::sort(woken.begin(), woken.end(),
            [](const QueueEntry* a, const QueueEntry* b) { return a->sequence < b->sequence; });
  return woken;
}

Wake WakeOf(const QueueEntry& entry, const ClusterEvent& event) {
  if (event.kind == EventKind::kForced) return Wake::kAfterBackoff;
  // Whoever changes a pod wants to see it tried again.
  Wake wake = event.kind == EventKind::kPodUpdated ? Wake::kAfterBackoff : Wake::kNo;
  for (const Rejection& rejection : entry.rejections) {
    const Wake better = WakeBy(event, rejection);
    if (wake >= better || !rejection.by->Wants(event.kind)) continue;
    if (rejection.by->MightCure(*entry.pod, event)) wake = better;
  }
  return wake;
}

}  // namespace koord::scheduler
