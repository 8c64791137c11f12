#include "scheduler/queue/entry_table.h"

namespace koord::scheduler {

EntryTable::~EntryTable() {
  for (const Slot& slot : by_uid_) delete slot.entry;
}

size_t EntryTable::HashOf(const Name& name) {
  constexpr size_t kOdd = 0x9e3779b97f4a7c15;
  return StringHash{}(name.ns) * kOdd + StringHash{}(name.name);
}

QueueEntry* EntryTable::FindUid(std::string_view uid) const {
  const auto found = by_uid_.find(uid);
  return found == by_uid_.end() ? nullptr : found->entry;
}

QueueEntry* EntryTable::FindName(std::string_view ns, std::string_view name) const {
  const auto found = by_name_.find(Name{ns, name});
  return found == by_name_.end() ? nullptr : found->entry;
}

QueueEntry& EntryTable::Add(std::shared_ptr<const kube::Pod> pod) {
  auto entry = std::make_unique<QueueEntry>();
  entry->pod = std::move(pod);
  by_uid_.insert({HashOf(std::string_view(entry->pod->metadata.uid)), entry.get()});
  RestoreName(*entry);
  return *entry.release();
}

void EntryTable::Remove(QueueEntry& entry) {
  ForgetName(entry);
  by_uid_.erase(by_uid_.find(std::string_view(entry.pod->metadata.uid)));
  delete &entry;
}

void EntryTable::ForgetName(const QueueEntry& entry) {
  const auto found = by_name_.find(NameOf(entry));
  if (found != by_name_.end() && found->entry == &entry) by_name_.erase(found);
}

void EntryTable::RestoreName(QueueEntry& entry) {
  by_name_.insert({HashOf(NameOf(entry)), &entry});
}

}  // namespace koord::scheduler
