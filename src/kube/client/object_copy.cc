#include <utility>

#include "kube/client/informer.h"

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
  const Objects snapshot = objects_;
  for (const auto& [key, object] : snapshot) added(nullptr, object);
}

void ObjectCopy::AddIndex(std::string name, IndexFunction function) {
  indexes_[std::move(name)].function = std::move(function);
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
  return it == objects_.end() ? nullptr : it->second;
}

const ObjectCopy::Objects& ObjectCopy::ByIndex(std::string_view index,
                                               std::string_view value) const {
  static const Objects kNone;
  const auto named = indexes_.find(index);
  if (named == indexes_.end()) return kNone;
  const auto entry = named->second.entries.find(value);
  return entry == named->second.entries.end() ? kNone : entry->second;
}

void ObjectCopy::Replace(std::vector<Json> objects) {
  Objects listed = DecodeAll(objects);
  objects.clear();
  std::vector<Change> deletions, others;
  for (const auto& [key, before] : objects_) {
    const auto it = listed.find(key);
    if (it == listed.end() || Metadata(it->second).uid != Metadata(before).uid) {
      deletions.push_back({before, nullptr});
    } else if (Metadata(it->second).resource_version != Metadata(before).resource_version) {
      others.push_back({before, it->second});
    } else {
      it->second = before;
    }
  }
  for (const auto& [key, after] : listed) {
    const auto it = objects_.find(key);
    if (it == objects_.end() || Metadata(it->second).uid != Metadata(after).uid) {
      others.push_back({nullptr, after});
    }
  }
  for (const std::vector<Change>* changes : {&deletions, &others}) {
    for (const Change& change : *changes) {
      Reindex(KeyOf(Metadata(change.after ? change.after : change.before)), change);
    }
  }
  objects_ = std::move(listed);

  const size_t handlers = handlers_.size();
  for (const Change& change : deletions) Deliver(change, handlers);
  for (const Change& change : others) Deliver(change, handlers);
  synced_ = true;
  for (auto& callback : std::exchange(when_synced_, {})) callback();
  for (auto& callback : std::exchange(when_relisted_, {})) callback();
}

ObjectCopy::Objects ObjectCopy::DecodeAll(const std::vector<Json>& objects) const {
  Objects decoded;
  for (const Json& object : objects) {
    Ptr typed = DecodeOrLog(object);
    const ObjectKey key = ObjectKeyOf(object);
    if (typed == nullptr) typed = Get(key);
    if (typed != nullptr) decoded.insert_or_assign(key, std::move(typed));
  }
  return decoded;
}

void ObjectCopy::Upsert(Json object) {
  const Ptr after = DecodeOrLog(object);
  if (after == nullptr) return;
  const ObjectMeta& offered = Metadata(after);
  const ObjectKey key = KeyOf(offered);
  const Ptr before = Get(key);
  if (before != nullptr) {
    const ObjectMeta& known = Metadata(before);
    if (offered.resource_version == known.resource_version ||
        IsOlderVersion(offered.resource_version, known.resource_version)) {
      return;
    }
    if (known.uid != offered.uid) {
      Store(key, {before, nullptr});
      Store(key, {nullptr, after});
      return;
    }
  }
  Store(key, {before, after});
}

void ObjectCopy::Remove(const Json& last) {
  const ObjectKey key = ObjectKeyOf(last);
  const Ptr before = Get(key);
  if (before == nullptr) return;
  if (IsOlderVersion(FindString(last, {"metadata", "resourceVersion"}),
                     Metadata(before).resource_version)) {
    return;
  }
  Store(key, {before, nullptr});
}

ObjectCopy::Ptr ObjectCopy::DecodeOrLog(const Json& object) const {
  StatusOr<Ptr> decoded = type_.decode(object);
  if (decoded.ok()) return *std::move(decoded);
  LOG_ERROR("Skipping an object that cannot be decoded", {"resource", resource_.qualified()},
            {"object", ObjectKeyOf(object).ToString()}, {"err", decoded.status()});
  return nullptr;
}

void ObjectCopy::Store(const ObjectKey& key, const Change& change) {
  Reindex(key, change);
  if (change.after != nullptr) {
    objects_.insert_or_assign(key, change.after);
  } else {
    objects_.erase(key);
  }
  Deliver(change, handlers_.size());
}

void ObjectCopy::Reindex(const ObjectKey& key, const Change& change) {
  for (auto& [name, index] : indexes_) {
    if (change.before != nullptr) {
      for (const std::string& value : index.function(change.before.get())) {
        const auto entry = index.entries.find(value);
        if (entry == index.entries.end()) continue;
        entry->second.erase(key);
        if (entry->second.empty()) index.entries.erase(entry);
      }
    }
    if (change.after != nullptr) {
      for (const std::string& value : index.function(change.after.get())) {
        index.entries[value].insert_or_assign(key, change.after);
      }
    }
  }
}

// Handlers that are added while a change is delivered have already seen it in the copy.
void ObjectCopy::Deliver(const Change& change, size_t handlers) {
  for (size_t i = 0; i < handlers; ++i) handlers_[i](change.before, change.after);
}

void ObjectCopy::Resync() {
  resync_timer_.Set(resync_, [this] { Resync(); });
  const size_t handlers = handlers_.size();
  const Objects snapshot = objects_;
  for (const auto& [key, object] : snapshot) Deliver({object, object}, handlers);
}

}  // namespace koord::kube
