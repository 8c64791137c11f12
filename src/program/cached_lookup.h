#pragma once
#include <absl/functional/any_invocable.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/scope.h"
#include "base/status.h"
#include "base/string_map.h"
#include "kube/events/lru_cache.h"

namespace koord::program {

// Asks somebody else for a value, keeps the answer for a while, and asks once for all who want the
// same at the same time. Errors are not kept.
template <class V>
class CachedLookup {
 public:
  using Done = absl::AnyInvocable<void(const StatusOr<V>&)>;
  using Fetch = std::function<void(absl::AnyInvocable<void(StatusOr<V>)>)>;
  using TimeToLive = std::function<Duration(const V&)>;

  CachedLookup(const Clock& clock, TimeToLive ttl) : clock_(clock), ttl_(std::move(ttl)) {}

  // `done` may be called at once.
  void Get(const std::string& key, const Fetch& fetch, Done done) {
    if (const Entry* entry = cache_.Find(key); entry && clock_.Steady() < entry->until) {
      const StatusOr<V> value = entry->value;
      return done(value);
    }
    std::vector<Done>& waiting = waiting_[key];
    waiting.push_back(std::move(done));
    if (waiting.size() > 1) return;
    fetch(scope_.Wrap([this, key](StatusOr<V> value) { Deliver(key, value); }));
  }

 private:
  struct Entry {
    V value;
    SteadyTime until;
  };
  static constexpr size_t kCapacity = 4096;

  void Deliver(const std::string& key, const StatusOr<V>& value) {
    if (value.ok()) cache_.Put(key, {*value, clock_.Steady() + ttl_(*value)});
    const auto it = waiting_.find(key);
    std::vector<Done> waiting = std::move(it->second);
    waiting_.erase(it);
    for (Done& done : waiting) done(value);
  }

  const Clock& clock_;
  const TimeToLive ttl_;
  kube::LruCache<Entry> cache_{kCapacity};
  StringMap<std::vector<Done>> waiting_;
  Scope scope_;
};

}  // namespace koord::program
