#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "kube/objects/meta.h"

namespace koord::scheduler {

// The current objects of one kind, as plugins see them. Informers fill it; benchmarks and tests may
// do so by hand. Watchers hear of each change after it is made: `before` is null for an addition,
// `after` for a deletion.
template <class T>
class ObjectCache {
 public:
  using Ptr = std::shared_ptr<const T>;
  using Watcher = std::function<void(const Ptr& before, const Ptr& after)>;

  void Set(Ptr object) {
    Ptr& slot = objects_[KeyOf(object->metadata)];
    const Ptr before = std::exchange(slot, std::move(object));
    Tell(before, slot);
  }
  void Remove(const kube::ObjectKey& key) {
    const auto found = objects_.find(key);
    if (found == objects_.end()) return;
    const Ptr before = found->second;
    objects_.erase(found);
    Tell(before, nullptr);
  }

  const T* Find(const kube::ObjectKey& key) const {
    const auto found = objects_.find(key);
    return found == objects_.end() ? nullptr : found->second.get();
  }
  const T* Find(std::string_view name) const { return Find({"", std::string(name)}); }
  const std::map<kube::ObjectKey, Ptr>& objects() const { return objects_; }

  // For kinds that are watched only if somebody needs them: whoever does says so when it is made.
  void Need() { needed_ = true; }
  bool needed() const { return needed_; }

  void AddWatcher(Watcher watcher) { watchers_.push_back(std::move(watcher)); }
  uint64_t version() const { return version_; }  // moves with every change

 private:
  void Tell(const Ptr& before, const Ptr& after) {
    ++version_;
    for (const Watcher& watcher : watchers_) watcher(before, after);
  }

  std::map<kube::ObjectKey, Ptr> objects_;
  std::vector<Watcher> watchers_;
  uint64_t version_ = 1;
  bool needed_ = false;
};

}  // namespace koord::scheduler
