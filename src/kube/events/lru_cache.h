#pragma once
#include <list>
#include <string>
#include <utility>

#include "base/string_map.h"

namespace koord::kube {

// Keeps the entries that were used last.
template <class V>
class LruCache {
 public:
  explicit LruCache(size_t capacity) : capacity_(capacity) {}

  // Null if there is none.
  V* Find(std::string_view key) {
    const auto it = index_.find(key);
    if (it == index_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, *it);
    return &(*it)->second;
  }

  V& Put(std::string_view key, V value) {
    Erase(key);
    if (entries_.size() >= capacity_) {
      index_.erase(entries_.back().first);
      entries_.pop_back();
    }
    entries_.emplace_front(std::string(key), std::move(value));
    index_.insert(entries_.begin());
    return entries_.front().second;
  }

  void Erase(std::string_view key) {
    const auto it = index_.find(key);
    if (it == index_.end()) return;
    const typename Entries::iterator entry = *it;
    index_.erase(it);
    entries_.erase(entry);
  }

  // The most recently used first.
  auto begin() { return entries_.begin(); }
  auto end() { return entries_.end(); }
  size_t size() const { return entries_.size(); }

 private:
  using Entries = std::list<std::pair<std::string, V>>;

  // The index finds entries by the keys that they have.
  static std::string_view KeyOf(std::string_view key) { return key; }
  static std::string_view KeyOf(typename Entries::iterator entry) { return entry->first; }
  struct Hash {
    using is_transparent = void;
    size_t operator()(const auto& key) const { return StringHash()(KeyOf(key)); }
  };
  struct Same {
    using is_transparent = void;
    bool operator()(const auto& a, const auto& b) const { return KeyOf(a) == KeyOf(b); }
  };

  size_t capacity_;
  Entries entries_;
  absl::flat_hash_set<typename Entries::iterator, Hash, Same> index_;
};

}  // namespace koord::kube
