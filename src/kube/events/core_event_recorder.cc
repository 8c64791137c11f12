#include <functional>
#include <set>
#include <utility>

#include "kube/client/token_bucket.h"
#include "kube/events/event_recorder.h"
#include "kube/events/event_sender.h"
#include "kube/events/lru_cache.h"
#include "kube/objects/event.h"
#include "kube/resources.h"
#include "kube/time.h"

namespace koord::kube {
namespace {

constexpr size_t kSimilarCacheSize = 4096;
constexpr size_t kMaxSimilar = 10;  // different messages, before they are combined
constexpr Duration kSimilarWindow = std::chrono::minutes(10);
constexpr double kSpamBurst = 25;
constexpr double kSpamRate = 1.0 / 300;

size_t HashOf(std::string_view text) { return std::hash<std::string_view>{}(text); }

class CoreEventRecorder final : public EventRecorder {
 public:
  CoreEventRecorder(Client& client, EventRecorderOptions options)
      : clock_(client.loop().clock()),
        options_(std::move(options)),
        sender_(client, kEvents, options_.component, options_.seed),
        similar_(kSimilarCacheSize),
        known_(kSimilarCacheSize),
        spam_(kSimilarCacheSize) {}

  void Record(const Note& note) override {
    const std::string matter = MatterKey(note);
    const bool combined = IsOneOfMany(matter, note.message);
    const std::string message =
        combined ? "(combined from similar events): " + note.message : note.message;
    const std::string key = combined ? matter
                                     : fmt::format("{}\n{}\n{:x}", matter,
                                                   note.regarding.field_path, HashOf(note.message));
    const bool repeated = Count(key, note);
    if (IsSpam(note)) return;
    const Known& known = *known_.Find(key);
    CoreEvent event = MakeEvent(note, message, known);
    Json whole = EncodeObject(kEvents, event);
    const ObjectKey name{event.metadata.ns, event.metadata.name};
    if (!repeated) return sender_.Create(name, std::move(whole));
    Json patch{{"count", event.count},
               {"lastTimestamp", FormatTime(*event.last_timestamp)},
               {"message", message}};
    sender_.Patch(name, std::move(patch), std::move(whole));
  }

 private:
  struct Similar {
    std::set<size_t> messages;  // their hashes
    SteadyTime last{0};
  };
  // An event that was written.
  struct Known {
    std::string name;
    int32_t count = 0;
    WallTime first;
  };

  std::string ObjectKeyText(const ObjectReference& object) const {
    return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}", options_.component, options_.host, object.kind,
                       object.ns, object.name, object.uid, object.api_version);
  }
  std::string MatterKey(const Note& note) const {
    return fmt::format("{}\n{}\n{}", ObjectKeyText(note.regarding), note.type, note.reason);
  }

  bool IsOneOfMany(const std::string& matter, std::string_view message) {
    const SteadyTime now = clock_.Steady();
    Similar* similar = similar_.Find(matter);
    if (similar == nullptr || now - similar->last > kSimilarWindow) {
      similar = &similar_.Put(matter, {});
    }
    similar->last = now;
    if (similar->messages.size() < kMaxSimilar) similar->messages.insert(HashOf(message));
    return similar->messages.size() >= kMaxSimilar;
  }

  // True if the event was seen before.
  bool Count(const std::string& key, const Note& note) {
    if (Known* known = known_.Find(key)) {
      ++known->count;
      return true;
    }
    known_.Put(key, {sender_.NameFor(note.regarding.name), 1, clock_.Now()});
    return false;
  }

  bool IsSpam(const Note& note) {
    const std::string key = ObjectKeyText(note.regarding);
    TokenBucket* bucket = spam_.Find(key);
    if (bucket == nullptr) bucket = &spam_.Put(key, TokenBucket(clock_, kSpamRate, kSpamBurst));
    return !bucket->TryTake();
  }

  CoreEvent MakeEvent(const Note& note, const std::string& message, const Known& known) const {
    CoreEvent event;
    event.metadata.name = known.name;
    event.metadata.ns = note.regarding.ns.empty() ? "default" : note.regarding.ns;
    event.involved_object = note.regarding;
    event.reason = note.reason;
    event.message = message;
    event.type = note.type;
    event.source = {options_.component, options_.host};
    event.reporting_component = options_.component;
    event.first_timestamp = known.first;
    event.last_timestamp = clock_.Now();
    event.count = known.count;
    return event;
  }

  const Clock& clock_;
  const EventRecorderOptions options_;
  EventSender sender_;
  LruCache<Similar> similar_;
  LruCache<Known> known_;
  LruCache<TokenBucket> spam_;
};

}  // namespace

std::unique_ptr<EventRecorder> MakeCoreEventRecorder(Client& client, EventRecorderOptions options) {
  return std::make_unique<CoreEventRecorder>(client, std::move(options));
}

}  // namespace koord::kube
