#pragma once
#include <absl/container/flat_hash_set.h>

#include <memory>
#include <string_view>

#include "base/string_map.h"
#include "kube/resource.h"
#include "scheduler/queue/queue_entry.h"

namespace koord::scheduler {

// Owns the entries and finds them by uid and by namespace and name.
//
// Entries come and go all the time, among many that stay: they live in blocks and are used again,
// and every hash is computed once, so that neither growing, probing nor removing visits the pods.
// Blocks that nobody needs any more are given back: at its start a scheduler may find as many pods
// waiting as never again.
class EntryTable {
 public:
  // What entries are found by.
  struct Uid {
    explicit Uid(std::string_view uid) : hash(StringHash{}(uid)), uid(uid) {}

    size_t hash;
    std::string_view uid;
    bool Is(const QueueEntry& entry) const { return entry.pod->metadata.uid == uid; }
  };
  struct Name {
    Name(std::string_view ns, std::string_view name);

    size_t hash;
    std::string_view ns;
    std::string_view name;
    bool Is(const QueueEntry& entry) const {
      return entry.pod->metadata.name == name && entry.pod->metadata.ns == ns;
    }
  };

  EntryTable() = default;
  EntryTable(const EntryTable&) = delete;
  EntryTable& operator=(const EntryTable&) = delete;

  size_t size() const { return by_uid_.size(); }
  QueueEntry* Find(const Uid& uid) const;
  QueueEntry* Find(const Name& name) const;

  // Neither may be there yet; both are of this pod.
  QueueEntry& Add(std::shared_ptr<const kube::Pod> pod, const Uid& uid, const Name& name);
  void Remove(QueueEntry& entry);  // and ends its life
  // The name is free for the next pod, while the entry stays to be found by its uid.
  void ForgetName(QueueEntry& entry);
  void RestoreName(QueueEntry& entry);

 private:
  struct Slot {
    size_t hash;
    QueueEntry* entry;
  };
  struct Hash {
    using is_transparent = void;
    template <class Key>
    size_t operator()(const Key& key) const {
      return key.hash;
    }
  };
  struct Same {
    using is_transparent = void;
    bool operator()(const Slot& a, const Slot& b) const { return a.entry == b.entry; }
    template <class Key>
    bool operator()(const Slot& a, const Key& b) const {
      return a.hash == b.hash && b.Is(*a.entry);
    }
  };
  using Set = absl::flat_hash_set<Slot, Hash, Same>;

  struct Block {
    std::unique_ptr<QueueEntry[]> entries;  // null: given back
    size_t used = 0;
  };

  QueueEntry* Allocate();
  void AddBlock();
  void GiveBack(Block& block);

  Set by_uid_;
  Set by_name_;
  std::vector<Block> blocks_;
  std::vector<QueueEntry*> free_;
};

}  // namespace koord::scheduler
