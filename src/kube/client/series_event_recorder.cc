#include <utility>

#include "base/event_loop.h"
#include "kube/client/event_recorder.h"
#include "kube/client/event_sender.h"
#include "kube/client/lru_cache.h"
#include "kube/objects/event.h"
#include "kube/resources.h"
#include "kube/time.h"

namespace koord::kube {
namespace {

constexpr size_t kCacheSize = 10'000;
constexpr Duration kSeriesEnd = std::chrono::minutes(6);       // without a repetition
constexpr Duration kSeriesRefresh = std::chrono::minutes(30);  // while it goes on
constexpr size_t kMaxNote = 1024;                              // bytes, by the API

std::string Truncated(const std::string& text) {
  if (text.size() <= kMaxNote) return text;
  size_t end = kMaxNote - 3;
  // Not inside a UTF-8 character.
  while (end > 0 && (text[end] & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

std::string Identify(const ObjectReference& object) {
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}", object.kind, object.ns, object.name, object.uid,
                     object.api_version, object.resource_version, object.field_path);
}

class SeriesEventRecorder final : public EventRecorder {
 public:
  SeriesEventRecorder(Client& client, EventRecorderOptions options)
      : clock_(client.loop().clock()),
        options_(std::move(options)),
        sender_(client, kEventsV1, options_.seed),
        entries_(kCacheSize),
        timer_(client.loop()) {}

  void Record(const Note& note) override {
    const std::string key = MatterKey(note);
    Entry* entry = entries_.Find(key);
    if (entry != nullptr && IsOver(*entry)) {
      Write(*entry);
      entries_.Erase(key);
      entry = nullptr;
    }
    if (entry == nullptr) {
      Start(key, note);
    } else {
      Repeat(*entry);
    }
    if (!timer_.pending()) timer_.Set(kSeriesEnd, [this] { Sweep(); });
  }

 private:
  struct Entry {
    Event event;
    SteadyTime last{0};     // seen
    SteadyTime written{0};  // the series, to the server
    bool dirty = false;     // seen since it was written
  };

  std::string MatterKey(const Note& note) const {
    return fmt::format("{}\n{}\n{}\n{}\n{}", note.type, note.reason, note.action,
                       Identify(note.regarding), note.related ? Identify(*note.related) : "");
  }

  bool IsOver(const Entry& entry) const { return clock_.Steady() - entry.last > kSeriesEnd; }

  void Start(const std::string& key, const Note& note) {
    Entry entry;
    entry.last = clock_.Steady();
    Event& event = entry.event;
    event.metadata.name = sender_.NameFor(note.regarding.name);
    event.metadata.ns = note.regarding.ns.empty() ? "default" : note.regarding.ns;
    event.event_time = MicroTime{clock_.Now()};
    event.reporting_controller = options_.component;
    event.reporting_instance = options_.component + "-" + options_.host;
    event.action = note.action;
    event.reason = note.reason;
    event.regarding = note.regarding;
    event.related = note.related;
    event.note = Truncated(note.message);
    event.type = note.type;
    sender_.Create(KeyOf(event.metadata), EncodeObject(kEventsV1, event));
    entries_.Put(key, std::move(entry));
  }

  void Repeat(Entry& entry) {
    const bool first = !entry.event.series.has_value();
    if (first) entry.event.series = EventSeries{1, {}};
    ++entry.event.series->count;
    entry.event.series->last_observed_time = MicroTime{clock_.Now()};
    entry.last = clock_.Steady();
    entry.dirty = true;
    if (first) Write(entry);
  }

  void Write(Entry& entry) {
    if (!entry.dirty) return;
    entry.dirty = false;
    entry.written = clock_.Steady();
    sender_.Patch(KeyOf(entry.event.metadata), {{"series", Encode(*entry.event.series)}},
                  EncodeObject(kEventsV1, entry.event));
  }

  void Sweep() {
    std::vector<std::string> over;
    for (auto& [key, entry] : entries_) {
      const bool ends = IsOver(entry);
      // The next look would be too late for a series that is due before it.
      const bool due = clock_.Steady() - entry.written > kSeriesRefresh - kSeriesEnd;
      if (ends || due) Write(entry);
      if (ends) over.push_back(key);
    }
    for (const std::string& key : over) entries_.Erase(key);
    if (entries_.size() > 0) timer_.Set(kSeriesEnd, [this] { Sweep(); });
  }

  const Clock& clock_;
  const EventRecorderOptions options_;
  EventSender sender_;
  LruCache<Entry> entries_;
  Timer timer_;
};

}  // namespace

std::unique_ptr<EventRecorder> MakeSeriesEventRecorder(Client& client,
                                                       EventRecorderOptions options) {
  return std::make_unique<SeriesEventRecorder>(client, std::move(options));
}

}  // namespace koord::kube
