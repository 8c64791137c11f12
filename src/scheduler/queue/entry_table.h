#pragma once
#include <absl/container/flat_hash_set.h>

#include <memory>
#include <string_view>

#include "base/string_map.h"
#include "kube/resource.h"
#include "scheduler/queue/queue_entry.h"

namespace koord::scheduler {

// Owns the entries and finds them by uid and by namespace and name.
class EntryTable {
 public:
  EntryTable() = default;
  EntryTable(const EntryTable&) = delete;
  EntryTable& operator=(const EntryTable&) = delete;
  ~EntryTable();

  size_t size() const { return by_uid_.size(); }
  QueueEntry* FindUid(std::string_view uid) const;
  QueueEntry* FindName(std::string_view ns, std::string_view name) const;

  QueueEntry& Add(std::shared_ptr<const kube::Pod> pod);  // neither may be there yet
  void Remove(QueueEntry& entry);                         // and destroys it
  // The name is free for the next pod, while the entry stays to be found by its uid.
  void ForgetName(const QueueEntry& entry);
  void RestoreName(QueueEntry& entry);

 private:
  // The hash is kept beside the pointer: growing and probing must not visit the pods.
  struct Slot {
    size_t hash;
    QueueEntry* entry;
  };
  struct Name {
    std::string_view ns;
    std::string_view name;
  };
  static size_t HashOf(std::string_view uid) { return StringHash{}(uid); }
  static size_t HashOf(const Name& name);

  struct Hash {
    using is_transparent = void;
    size_t operator()(const Slot& slot) const { return slot.hash; }
    template <class Key>
    size_t operator()(const Key& key) const {
      return HashOf(key);
    }
  };
  static bool Is(const QueueEntry& entry, std::string_view uid) {
    return entry.pod->metadata.uid == uid;
  }
  static bool Is(const QueueEntry& entry, const Name& name) {
    return entry.pod->metadata.name == name.name && entry.pod->metadata.ns == name.ns;
  }
  struct Same {
    using is_transparent = void;
    bool operator()(const Slot& a, const Slot& b) const { return a.entry == b.entry; }
    template <class Key>
    bool operator()(const Slot& a, const Key& b) const {
      return Is(*a.entry, b);
    }
  };
  using Set = absl::flat_hash_set<Slot, Hash, Same>;

  static Name NameOf(const QueueEntry& entry) {
    return {entry.pod->metadata.ns, entry.pod->metadata.name};
  }

  Set by_uid_;
  Set by_name_;
};

}  // namespace koord::scheduler
