#include "localcluster/apiserver/core/core.h"

#include "kube/time.h"
#include "localcluster/apiserver/core/versions.h"

namespace koord::apiserver {
namespace {

constexpr Duration kRevisionWait = std::chrono::seconds(3);

}  // namespace

const CustomState* Core::FindCustom(const ResourceInfo& info) const {
  if (!info.custom) return nullptr;
  const auto it = customs.find(info.resource.qualified());
  return it == customs.end() ? nullptr : &it->second;
}

const CustomVersion* Core::FindCustomVersion(const ResourceInfo& info) const {
  const CustomState* custom = FindCustom(info);
  return custom == nullptr ? nullptr : custom->resource->Find(info.resource.version);
}

std::string Core::NewUid() {
  const uint64_t high = (random() & ~0xf000ull) | 0x4000ull;
  const uint64_t low = (random() & ~(0x3ull << 62)) | (0x2ull << 62);
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xffff,
                     high & 0xffff, low >> 48, low & 0xffffffffffff);
}

std::string UidOf(const Core& core, const kube::Resource& resource, const kube::ObjectKey& key) {
  const EntryPtr entry = core.store.Get(resource.qualified(), KeyOf(key.ns, key.name));
  const auto object = kube::ParseShortLivedJson(entry == nullptr ? "" : entry->value);
  return object.ok() ? std::string(kube::FindString(*object, {"metadata", "uid"})) : "";
}

std::string Core::NameSuffix() {
  constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string suffix;
  for (int i = 0; i < 5; ++i) suffix += kAlphabet[random.Below(kAlphabet.size())];
  return suffix;
}

std::string Core::Timestamp() const { return kube::FormatTime(now()); }

void Core::WhenReached(Revision revision, absl::AnyInvocable<void(bool)> task) {
  if (revision <= store.revision()) return task(true);
  const auto it = waiters_.emplace(revision, std::make_unique<Waiter>(loop));
  it->second->task = std::move(task);
  it->second->timeout.Set(kRevisionWait, [this, it] {
    auto expired = std::move(it->second->task);
    waiters_.erase(it);
    expired(false);
  });
}

void Core::Observe(std::string_view stored_as, Observer observer) {
  observers_[std::string(stored_as)].push_back(std::move(observer));
}

EntryPtr Core::Put(const ResourceInfo& info, const std::string& key, const kube::Json& object) {
  const std::string stored_as = info.stored_as();
  const EntryPtr before = store.Get(stored_as, key);
  EntryPtr after = store.Put(stored_as, MakeEntry(info, key, object, store.revision() + 1));
  OnWritten(stored_as, before, after);
  return after;
}

EntryPtr Core::Remove(const ResourceInfo& info, const std::string& key, const kube::Json& last) {
  const std::string stored_as = info.stored_as();
  EntryPtr before = store.Delete(stored_as, MakeEntry(info, key, last, store.revision() + 1));
  OnWritten(stored_as, before, nullptr);
  return before;
}

void Core::OnWritten(const std::string& stored_as, const EntryPtr& before, const EntryPtr& after) {
  while (!waiters_.empty() && waiters_.begin()->first <= store.revision()) {
    auto node = waiters_.extract(waiters_.begin());
    Post([task = std::move(node.mapped()->task)]() mutable { task(true); });
  }
  if (const auto it = observers_.find(stored_as); it != observers_.end()) {
    for (const Observer& observer : it->second) observer(before, after);
  }
  for (const AnyObserver& observer : any_observers_) observer(stored_as, before, after);
}

}  // namespace koord::apiserver
