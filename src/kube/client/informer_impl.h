#pragma once
// The machinery behind informer.h; include that.
#include <algorithm>
#include <utility>

namespace koord::kube {
namespace informer_internal {

ObjectKey KeyOf(const Json& object);
void LogUndecodable(const Resource& resource, const ObjectKey& key, const Status& error);

template <class T>
ObjectKey KeyOf(const T& object) {
  return {object.metadata.ns, object.metadata.name};
}

}  // namespace informer_internal

template <class T>
Informer<T>::Informer(Client& client, Resource resource, InformerOptions options)
    : resource_(resource),
      resync_(options.resync),
      resync_timer_(client.loop()),
      reflector_(client, std::move(resource), std::move(options), *this) {}

template <class T>
void Informer<T>::AddHandler(Handler handler) {
  handlers_.push_back(handler);
  // A snapshot, because the handler may look at the copy or add handlers.
  for (const Ptr& object : List()) handler(nullptr, object);
}

template <class T>
void Informer<T>::AddIndex(std::string name, IndexFunction function) {
  indexes_[std::move(name)].function = std::move(function);
}

template <class T>
void Informer<T>::WhenSynced(std::function<void()> callback) {
  if (synced_) return callback();
  when_synced_.push_back(std::move(callback));
}

template <class T>
void Informer<T>::Start() {
  reflector_.Start();
  if (resync_ > Duration::zero()) resync_timer_.Set(resync_, [this] { Resync(); });
}

template <class T>
void Informer<T>::Stop() {
  resync_timer_.Cancel();
  reflector_.Stop();
}

template <class T>
void Informer<T>::Relist(std::function<void()> callback) {
  when_relisted_.push_back(std::move(callback));
  reflector_.Relist();
}

template <class T>
typename Informer<T>::Ptr Informer<T>::Get(const ObjectKey& key) const {
  const auto it = objects_.find(key);
  return it == objects_.end() ? nullptr : it->second;
}

template <class T>
std::vector<typename Informer<T>::Ptr> Informer<T>::List() const {
  std::vector<Ptr> list;
  list.reserve(objects_.size());
  for (const auto& [key, object] : objects_) list.push_back(object);
  return list;
}

template <class T>
std::vector<typename Informer<T>::Ptr> Informer<T>::ByIndex(const std::string& index,
                                                            const std::string& value) const {
  std::vector<Ptr> list;
  const auto named = indexes_.find(index);
  if (named == indexes_.end()) return list;
  const auto entry = named->second.entries.find(value);
  if (entry == named->second.entries.end()) return list;
  for (const auto& [key, object] : entry->second) list.push_back(object);
  return list;
}

template <class T>
void Informer<T>::Replace(std::vector<Json> objects) {
  Objects listed = DecodeAll(objects);
  objects.clear();
  std::vector<Change> deletions, others;
  for (const auto& [key, before] : objects_) {
    const auto it = listed.find(key);
    if (it == listed.end() || it->second->metadata.uid != before->metadata.uid) {
      deletions.push_back({before, nullptr});
    } else if (it->second->metadata.resource_version != before->metadata.resource_version) {
      others.push_back({before, it->second});
    } else {
      it->second = before;
    }
  }
  for (const auto& [key, after] : listed) {
    const auto it = objects_.find(key);
    if (it == objects_.end() || it->second->metadata.uid != after->metadata.uid) {
      others.push_back({nullptr, after});
    }
  }
  for (const std::vector<Change>* changes : {&deletions, &others}) {
    for (const Change& change : *changes) {
      Reindex(informer_internal::KeyOf(change.after ? *change.after : *change.before), change);
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

template <class T>
typename Informer<T>::Objects Informer<T>::DecodeAll(const std::vector<Json>& objects) const {
  Objects decoded;
  for (const Json& object : objects) {
    Ptr typed = DecodeOrLog(object);
    const ObjectKey key = informer_internal::KeyOf(object);
    if (typed == nullptr) typed = Get(key);
    if (typed != nullptr) decoded.insert_or_assign(key, std::move(typed));
  }
  return decoded;
}

template <class T>
void Informer<T>::Upsert(Json object) {
  const Ptr after = DecodeOrLog(object);
  if (after == nullptr) return;
  const ObjectKey key = informer_internal::KeyOf(*after);
  const Ptr before = Get(key);
  if (before != nullptr) {
    const std::string& known = before->metadata.resource_version;
    const std::string& offered = after->metadata.resource_version;
    if (offered == known || IsOlderVersion(offered, known)) return;
    if (before->metadata.uid != after->metadata.uid) {
      Store(key, {before, nullptr});
      Store(key, {nullptr, after});
      return;
    }
  }
  Store(key, {before, after});
}

template <class T>
void Informer<T>::Remove(const Json& last) {
  const ObjectKey key = informer_internal::KeyOf(last);
  const Ptr before = Get(key);
  if (before == nullptr) return;
  if (IsOlderVersion(FindString(last, {"metadata", "resourceVersion"}),
                     before->metadata.resource_version)) {
    return;
  }
  Store(key, {before, nullptr});
}

template <class T>
typename Informer<T>::Ptr Informer<T>::DecodeOrLog(const Json& object) const {
  auto typed = std::make_shared<T>();
  if (Status status = Codec<T>::Read(object, *typed); !status.ok()) {
    informer_internal::LogUndecodable(resource_, informer_internal::KeyOf(object), status);
    return nullptr;
  }
  return typed;
}

template <class T>
void Informer<T>::Store(const ObjectKey& key, const Change& change) {
  Reindex(key, change);
  if (change.after != nullptr) {
    objects_.insert_or_assign(key, change.after);
  } else {
    objects_.erase(key);
  }
  Deliver(change, handlers_.size());
}

template <class T>
void Informer<T>::Reindex(const ObjectKey& key, const Change& change) {
  for (auto& [name, index] : indexes_) {
    if (change.before != nullptr) {
      for (const std::string& value : index.function(*change.before)) {
        const auto entry = index.entries.find(value);
        if (entry == index.entries.end()) continue;
        entry->second.erase(key);
        if (entry->second.empty()) index.entries.erase(entry);
      }
    }
    if (change.after != nullptr) {
      for (const std::string& value : index.function(*change.after)) {
        index.entries[value].insert_or_assign(key, change.after);
      }
    }
  }
}

// Handlers that are added while a change is delivered have already seen it in the copy.
template <class T>
void Informer<T>::Deliver(const Change& change, size_t handlers) {
  for (size_t i = 0; i < handlers; ++i) {
    const Handler handler = handlers_[i];  // the list may grow meanwhile
    handler(change.before, change.after);
  }
}

template <class T>
void Informer<T>::Resync() {
  resync_timer_.Set(resync_, [this] { Resync(); });
  const size_t handlers = handlers_.size();
  for (const Ptr& object : List()) Deliver({object, object}, handlers);
}

}  // namespace koord::kube
