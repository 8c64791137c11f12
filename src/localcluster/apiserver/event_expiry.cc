#include "localcluster/apiserver/event_expiry.h"

#include <algorithm>

#include "kube/resources.h"
#include "localcluster/apiserver/core/versions.h"

namespace koord::apiserver {
namespace {

// Nobody minds an event that stays a little longer; many go in one turn.
constexpr Duration kSweep = std::chrono::minutes(1);

}  // namespace

EventExpiry::EventExpiry(Core& core) : core_(core), timer_(core.loop) {
  info_ = core_.registry.Find(kube::kEvents.group, kube::kEvents.version, kube::kEvents.resource);
  core_.Observe(info_->stored_as(), [this](const EntryPtr&, const EntryPtr& after) {
    if (after != nullptr) Add(*after);
  });
  core_.store
      .Range(info_->stored_as(), "", "", 0,
             [this](const EntryPtr& entry) {
               Add(*entry);
               return true;
             })
      .IgnoreError();
}

void EventExpiry::Add(const Entry& entry) {
  const SteadyTime due = core_.loop.clock().Steady() + core_.options.event_ttl;
  pending_.push_back({due, entry.key, entry.revision});
  if (!timer_.pending()) timer_.Set(core_.options.event_ttl, [this] { Expire(); });
}

void EventExpiry::Expire() {
  const SteadyTime now = core_.loop.clock().Steady();
  while (!pending_.empty() && pending_.front().due <= now) {
    const Pending event = std::move(pending_.front());
    pending_.pop_front();
    const EntryPtr current = core_.store.Get(info_->stored_as(), event.key);
    if (current == nullptr || current->revision != event.revision) continue;
    core_.Remove(*info_, event.key, LoadObject(core_, *info_, *current));
  }
  if (pending_.empty()) return;
  timer_.Set(std::max(kSweep, pending_.front().due - now), [this] { Expire(); });
}

}  // namespace koord::apiserver
