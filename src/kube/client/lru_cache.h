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
    entries_.splice(entries_.begin(), entries_, it->second);
    return &it->second->second;
  }

  V& Put(std::string_view key, V value) {
    Erase(key);
    if (entries_.size() >= capacity_) {
      index_.erase(entries_.back().first);
      entries_.pop_back();
    }
    entries_.emplace_front(std::string(key), std::move(value));
    index_.emplace(entries_.front().first, entries_.begin());
    return entries_.front().second;
  }

  void Erase(std::string_view key) {
    const auto it = index_.find(key);
    if (it == index_.end()) return;
    entries_.erase(it->second);
    index_.erase(it);
  }

  // The most recently used first.
  auto begin() { return entries_.begin(); }
  auto end() { return entries_.end(); }
  size_t size() const { return entries_.size(); }

 private:
  using Entries = std::list<std::pair<std::string, V>>;
  size_t capacity_;
  Entries entries_;
  StringMap<typename Entries::iterator> index_;
};

}  // namespace koord::kube
