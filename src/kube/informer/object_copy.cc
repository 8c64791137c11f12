#include <utility>

#include "kube/informer/informer.h"

namespace koord::kube {

ObjectCopy::ObjectCopy(Client& client, Resource resource, InformerOptions options, Type type)
    : resource_(resource),
      resync_(options.resync),
      type_(type),
      resync_timer_(client.loop()),
      reflector_(client, std::move(resource), std::move(options), *this) {}

void ObjectCopy::AddHandler(Handler handler) {
  const Handler& added = handlers_.emplace_back(std::move(handler));
  // A snapshot, because the handler may look at the copy or add handlers.
  for (const Ptr& object : Snapshot()) added(nullptr, object);
}

void ObjectCopy::AddIndex(std::string name, IndexFunction function) {
  const auto [index, is_new] = indexes_.try_emplace(std::move(name));
  if (!is_new) return;
  index->second.function = std::move(function);
  for (const auto& [key, slot] : objects_) {
    index->second.Add(index->second.function(slot->object.get()), slot.get());
  }
}

void ObjectCopy::WhenSynced(std::function<void()> callback) {
  if (synced_) return callback();
  when_synced_.push_back(std::move(callback));
}

void ObjectCopy::Start() {
  reflector_.Start();
  if (resync_ > Duration::zero()) resync_timer_.Set(resync_, [this] { Resync(); });
}

void ObjectCopy::Stop() {
  resync_timer_.Cancel();
  reflector_.Stop();
}

void ObjectCopy::Relist(std::function<void()> callback) {
  when_relisted_.push_back(std::move(callback));
  reflector_.Relist();
}

ObjectCopy::Ptr ObjectCopy::Get(const ObjectKey& key) const {
  const auto it = objects_.find(key);
  return it == objects_.end() ? nullptr : it->second->object;
}

void ObjectCopy::ForEach(absl::FunctionRef<void(const Ptr&)> visit) const {
  for (const auto& [key, slot] : objects_) visit(slot->object);
}

void ObjectCopy::ForEachOf(std::string_view index, std::string_view value,
                           absl::FunctionRef<void(const Ptr&)> visit) const {
  const auto named = indexes_.find(index);
  if (named == indexes_.end()) return;
  const auto entry = named->second.entries.find(value);
  if (entry == named->second.entries.end()) return;
  for (const Slot* slot : entry->second) visit(slot->object);
}

std::vector<ObjectCopy::Ptr> ObjectCopy::Snapshot() const {
  std::vector<Ptr> snapshot;
  snapshot.reserve(objects_.size());
  ForEach([&](const Ptr& object) { snapshot.push_back(object); });
  return snapshot;
}

void ObjectCopy::List(JsonView object) {
  Ptr typed = DecodeOrLog(object);
  ObjectKey key = ObjectKeyOf(object);
  if (typed == nullptr) typed = Get(key);
  if (typed != nullptr) listed_.insert_or_assign(std::move(key), std::move(typed));
}

void ObjectCopy::Unlist(JsonView object) { listed_.erase(ObjectKeyOf(object)); }

void ObjectCopy::ForgetList() { listed_.clear(); }

void ObjectCopy::Replace() {
  absl::btree_map<ObjectKey, Ptr> listed = std::exchange(listed_, {});
  std::vector<Change> deletions, others;
  others.reserve(listed.size());
  for (const auto& [key, slot] : objects_) {
    const Ptr& before = slot->object;
    const auto it = listed.find(key);
    if (it == listed.end() || Metadata(it->second).uid != Metadata(before).uid) {
      deletions.push_back({before, nullptr});
    } else if (Metadata(it->second).resource_version != Metadata(before).resource_version) {
      others.push_back({before, it->second});
    }
  }
  for (const auto& [key, after] : listed) {
    const Ptr before = Get(key);
    if (before == nullptr || Metadata(before).uid != Metadata(after).uid) {
      others.push_back({nullptr, after});
    }
  }
  listed.clear();  // before all who hear of it make up books of their own
  for (const Change& change : deletions) Put(change);
  for (const Change& change : others) Put(change);

  const size_t handlers = handlers_.size();
  for (const Change& change : deletions) Deliver(change, handlers);
  for (const Change& change : others) Deliver(change, handlers);
  synced_ = true;
  for (auto& callback : std::exchange(when_synced_, {})) callback();
  for (auto& callback : std::exchange(when_relisted_, {})) callback();
}

void ObjectCopy::Upsert(JsonView object) {
  const Ptr after = DecodeOrLog(object);
  if (after == nullptr) return;
  const ObjectMeta& offered = Metadata(after);
  const Ptr before = Get(kube::KeyOf(offered));
  if (before != nullptr) {
    const ObjectMeta& known = Metadata(before);
    if (offered.resource_version == known.resource_version ||
        IsOlderVersion(offered.resource_version, known.resource_version)) {
      return;
    }
    if (known.uid != offered.uid) {
      Store({before, nullptr});
      Store({nullptr, after});
      return;
    }
  }
  Store({before, after});
}

void ObjectCopy::Remove(JsonView last) {
  const Ptr before = Get(ObjectKeyOf(last));
  if (before == nullptr) return;
  if (IsOlderVersion(FindString(last, {"metadata", "resourceVersion"}),
                     Metadata(before).resource_version)) {
    return;
  }
  Store({before, nullptr});
}

ObjectCopy::Ptr ObjectCopy::DecodeOrLog(JsonView object) const {
  StatusOr<Ptr> decoded = type_.decode(object);
  if (decoded.ok()) return *std::move(decoded);
  LOG_ERROR("Skipping an object that cannot be decoded", {"resource", resource_.qualified()},
            {"object", ObjectKeyOf(object).ToString()}, {"err", decoded.status()});
  return nullptr;
}

void ObjectCopy::Store(const Change& change) {
  Put(change);
  Deliver(change, handlers_.size());
}

ObjectKey ObjectCopy::KeyOf(const Change& change) const {
  return kube::KeyOf(Metadata(change.after != nullptr ? change.after : change.before));
}

void ObjectCopy::Put(const Change& change) {
  const auto it = objects_.try_emplace(KeyOf(change)).first;
  if (it->second == nullptr) {
    it->second = std::make_unique<Slot>(Slot{nullptr, &Metadata(change.after)});
  }
  Slot* slot = it->second.get();
  for (auto& [name, index] : indexes_) {
    std::vector<std::string> before, after;
    if (change.before != nullptr) before = index.function(change.before.get());
    if (change.after != nullptr) after = index.function(change.after.get());
    if (before == after) continue;
    index.Remove(before, slot);
    index.Add(after, slot);
  }
  if (change.after == nullptr) {
    objects_.erase(it);
  } else {
    *slot = {change.after, &Metadata(change.after)};
  }
}

void ObjectCopy::Index::Add(const std::vector<std::string>& values, Slot* slot) {
  for (const std::string& value : values) entries[value].insert(slot);
}

void ObjectCopy::Index::Remove(const std::vector<std::string>& values, Slot* slot) {
  for (const std::string& value : values) {
    const auto entry = entries.find(value);
    if (entry == entries.end()) continue;
    entry->second.erase(slot);
    if (entry->second.empty()) entries.erase(entry);
  }
}

// Handlers that are added while a change is delivered have already seen it in the copy.
void ObjectCopy::Deliver(const Change& change, size_t handlers) {
  for (size_t i = 0; i < handlers; ++i) handlers_[i](change.before, change.after);
}

void ObjectCopy::Resync() {
  resync_timer_.Set(resync_, [this] { Resync(); });
  const size_t handlers = handlers_.size();
  for (const Ptr& object : Snapshot()) Deliver({object, object}, handlers);
}

}  // namespace koord::kube
