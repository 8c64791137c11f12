#include <absl/hash/hash.h>

#include <tuple>
#include <utility>

#include "base/event_loop.h"
#include "kube/events/event_recorder.h"
#include "kube/events/event_sender.h"
#include "kube/events/lru_cache.h"
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

auto Identify(const ObjectReference& object) {
  return std::tie(object.kind, object.ns, object.name, object.uid, object.api_version,
                  object.resource_version, object.field_path);
}

// Notes about the same matter belong to one series. Ten thousand keys as short as this one fit in
// little memory, and two of them are the same by chance once in a trillion times.
std::string KeyOfMatter(const EventRecorder::Note& note) {
  static const ObjectReference kNothing;
  const uint64_t hash = absl::HashOf(note.type, note.reason, note.action, Identify(note.regarding),
                                     Identify(note.related ? *note.related : kNothing));
  return std::string(reinterpret_cast<const char*>(&hash), sizeof(hash));
}

class SeriesEventRecorder final : public EventRecorder {
 public:
  SeriesEventRecorder(Client& client, EventRecorderOptions options)
      : clock_(client.loop().clock()),
        options_(std::move(options)),
        sender_(client, kEventsV1, options_.component, options_.seed),
        matters_(kCacheSize),
        timer_(client.loop()) {}

  void Record(const Note& note) override {
    const std::string key = KeyOfMatter(note);
    Matter* matter = matters_.Find(key);
    if (matter != nullptr && IsOver(*matter)) {
      Write(*matter);
      matters_.Erase(key);
      matter = nullptr;
    }
    if (matter == nullptr) {
      Start(key, note);
    } else {
      Repeat(*matter, note);
    }
    if (!timer_.pending()) timer_.Set(kSeriesEnd, [this] { Sweep(); });
  }

 private:
  struct Series {
    Event event;
    SteadyTime written{0};  // to the server
    bool dirty = false;     // seen since it was written
  };

  // Most matters come up once, so that little is kept of them: a note that repeats says the rest.
  struct Matter {
    int64_t stamp = 0;                            // of the event's name
    std::unique_ptr<const std::string> odd_name;  // where that makes none
    MicroTime began;
    SteadyTime last{0};  // seen
    std::unique_ptr<Series> series;
  };

  bool IsOver(const Matter& matter) const { return clock_.Steady() - matter.last > kSeriesEnd; }

  Event EventOf(const Matter& matter, const Note& note) const {
    Event event;
    event.metadata.name = matter.odd_name != nullptr
                              ? *matter.odd_name
                              : EventSender::NameAt(note.regarding.name, matter.stamp);
    event.metadata.ns = note.regarding.ns.empty() ? "default" : note.regarding.ns;
    event.event_time = matter.began;
    event.reporting_controller = options_.component;
    event.reporting_instance = options_.component + "-" + options_.host;
    event.action = note.action;
    event.reason = note.reason;
    event.regarding = note.regarding;
    event.related = note.related;
    event.note = Truncated(note.message);
    event.type = note.type;
    return event;
  }

  void Start(const std::string& key, const Note& note) {
    Matter matter{.stamp = sender_.NextStamp(),
                  .odd_name = nullptr,
                  .began = MicroTime{clock_.Now()},
                  .last = clock_.Steady(),
                  .series = nullptr};
    Event event = EventOf(matter, note);
    if (event.metadata.name.empty()) {
      event.metadata.name = sender_.NameFor(note.regarding.name);
      matter.odd_name = std::make_unique<const std::string>(event.metadata.name);
    }
    sender_.Create(KeyOf(event.metadata), EncodeObject(kEventsV1, event));
    matters_.Put(key, std::move(matter));
  }

  void Repeat(Matter& matter, const Note& note) {
    const bool first = matter.series == nullptr;
    if (first) {
      matter.series = std::make_unique<Series>(Series{.event = EventOf(matter, note)});
      matter.series->event.series = EventSeries{1, {}};
    }
    EventSeries& series = *matter.series->event.series;
    ++series.count;
    series.last_observed_time = MicroTime{clock_.Now()};
    matter.last = clock_.Steady();
    matter.series->dirty = true;
    if (first) Write(matter);
  }

  void Write(Matter& matter) {
    if (matter.series == nullptr || !matter.series->dirty) return;
    Series& series = *matter.series;
    series.dirty = false;
    series.written = clock_.Steady();
    sender_.Patch(KeyOf(series.event.metadata), {{"series", Encode(*series.event.series)}},
                  EncodeObject(kEventsV1, series.event));
  }

  void Sweep() {
    std::vector<std::string> over;
    for (auto& [key, matter] : matters_) {
      const bool ends = IsOver(matter);
      if (ends || IsDue(matter)) Write(matter);
      if (ends) over.push_back(key);
    }
    for (const std::string& key : over) matters_.Erase(key);
    if (matters_.size() > 0) timer_.Set(kSeriesEnd, [this] { Sweep(); });
  }

  // The next look would be too late for it.
  bool IsDue(const Matter& matter) const {
    return matter.series != nullptr &&
           clock_.Steady() - matter.series->written > kSeriesRefresh - kSeriesEnd;
  }

  const Clock& clock_;
  const EventRecorderOptions options_;
  EventSender sender_;
  LruCache<Matter> matters_;
  Timer timer_;
};

}  // namespace

std::unique_ptr<EventRecorder> MakeSeriesEventRecorder(Client& client,
                                                       EventRecorderOptions options) {
  return std::make_unique<SeriesEventRecorder>(client, std::move(options));
}

}  // namespace koord::kube
