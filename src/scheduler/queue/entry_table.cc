#include "scheduler/queue/entry_table.h"

namespace koord::scheduler {

namespace {

constexpr size_t kBlock = 256;

}  // namespace

EntryTable::Name::Name(std::string_view ns, std::string_view name) : ns(ns), name(name) {
  constexpr size_t kOdd = 0x9e3779b97f4a7c15;
  hash = StringHash{}(ns)*kOdd + StringHash{}(name);
}

QueueEntry* EntryTable::Find(const Uid& uid) const {
  const auto found = by_uid_.find(uid);
  return found == by_uid_.end() ? nullptr : found->entry;
}

QueueEntry* EntryTable::Find(const Name& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->entry;
}

QueueEntry& EntryTable::Add(std::shared_ptr<const kube::Pod> pod, const Uid& uid,
                            const Name& name) {
  QueueEntry& entry = *Allocate();
  entry.pod = std::move(pod);
  entry.uid_hash = uid.hash;
  entry.name_hash = name.hash;
  by_uid_.insert({uid.hash, &entry});
  by_name_.insert({name.hash, &entry});
  return entry;
}

void EntryTable::Remove(QueueEntry& entry) {
  ForgetName(entry);
  by_uid_.erase(Slot{entry.uid_hash, &entry});
  const uint32_t id = entry.id;
  entry = {};
  entry.id = id;
  free_.push_back(&entry);
}

void EntryTable::ForgetName(QueueEntry& entry) { by_name_.erase(Slot{entry.name_hash, &entry}); }

void EntryTable::RestoreName(QueueEntry& entry) { by_name_.insert({entry.name_hash, &entry}); }

QueueEntry* EntryTable::Allocate() {
  if (free_.empty()) {
    QueueEntry* block = blocks_.emplace_back(std::make_unique<QueueEntry[]>(kBlock)).get();
    const size_t first = (blocks_.size() - 1) * kBlock;
    for (size_t i = kBlock; i-- > 0;) {
      block[i].id = static_cast<uint32_t>(first + i);
      free_.push_back(block + i);
    }
  }
  QueueEntry* entry = free_.back();
  free_.pop_back();
  return entry;
}

}  // namespace koord::scheduler
