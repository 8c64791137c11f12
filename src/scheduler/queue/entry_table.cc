#include "scheduler/queue/entry_table.h"

#include <algorithm>

namespace koord::scheduler {

namespace {

constexpr size_t kBlock = 256;
constexpr size_t kSpare = 2 * kBlock;  // free entries that are kept for those who come next

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
  Block& block = blocks_[id / kBlock];
  if (--block.used == 0 && free_.size() >= kSpare) GiveBack(block);
}

void EntryTable::GiveBack(Block& block) {
  const QueueEntry* const first = block.entries.get();
  std::erase_if(free_, [&](const QueueEntry* entry) {
    return std::less_equal<>()(first, entry) && std::less<>()(entry, first + kBlock);
  });
  block.entries.reset();
}

void EntryTable::ForgetName(QueueEntry& entry) { by_name_.erase(Slot{entry.name_hash, &entry}); }

void EntryTable::RestoreName(QueueEntry& entry) { by_name_.insert({entry.name_hash, &entry}); }

QueueEntry* EntryTable::Allocate() {
  if (free_.empty()) AddBlock();
  QueueEntry* entry = free_.back();
  free_.pop_back();
  ++blocks_[entry->id / kBlock].used;
  return entry;
}

// Where one was given back, so that ids stay small.
void EntryTable::AddBlock() {
  auto block =
      std::ranges::find_if(blocks_, [](const Block& each) { return each.entries == nullptr; });
  if (block == blocks_.end()) block = blocks_.emplace(blocks_.end());
  block->entries = std::make_unique<QueueEntry[]>(kBlock);
  const auto first = static_cast<size_t>(block - blocks_.begin()) * kBlock;
  for (size_t i = kBlock; i-- > 0;) {
    block->entries[i].id = static_cast<uint32_t>(first + i);
    free_.push_back(&block->entries[i]);
  }
}

}  // namespace koord::scheduler
