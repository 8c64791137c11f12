#pragma once
#include <optional>
#include <string>

#include "kube/objects/meta.h"
#include "kube/time.h"

// What happened to an object, for people. One stored object has two spellings: the core API's and
// that of events.k8s.io.
namespace koord::kube {

struct EventSource {
  std::string component;
  std::string host;

  static void Fields(auto& self, auto&& field) {
    field("component", self.component);
    field("host", self.host);
  }
  bool operator==(const EventSource&) const = default;
};

struct EventSeries {
  int32_t count = 0;
  std::optional<MicroTime> last_observed_time;

  static void Fields(auto& self, auto&& field) {
    field("count", Always(self.count));
    field("lastObservedTime", self.last_observed_time);
  }
  bool operator==(const EventSeries&) const = default;
};

// v1
struct CoreEvent {
  ObjectMeta metadata;
  ObjectReference involved_object;
  std::string reason;
  std::string message;
  EventSource source;
  std::optional<WallTime> first_timestamp;
  std::optional<WallTime> last_timestamp;
  int32_t count = 0;
  std::string type;  // Normal, Warning
  std::optional<MicroTime> event_time;
  std::optional<EventSeries> series;
  std::string action;
  std::optional<ObjectReference> related;
  std::string reporting_component;
  std::string reporting_instance;

  static void Fields(auto& self, auto&& field) {
    field("metadata", Always(self.metadata));
    field("involvedObject", Always(self.involved_object));
    field("reason", self.reason);
    field("message", self.message);
    field("source", self.source);
    field("firstTimestamp", self.first_timestamp);
    field("lastTimestamp", self.last_timestamp);
    field("count", self.count);
    field("type", self.type);
    field("eventTime", self.event_time);
    field("series", self.series);
    field("action", self.action);
    field("related", self.related);
    field("reportingComponent", self.reporting_component);
    field("reportingInstance", self.reporting_instance);
  }
  bool operator==(const CoreEvent&) const = default;
};

// events.k8s.io/v1
struct Event {
  ObjectMeta metadata;
  std::optional<MicroTime> event_time;
  std::optional<EventSeries> series;
  std::string reporting_controller;
  std::string reporting_instance;
  std::string action;
  std::string reason;
  ObjectReference regarding;
  std::optional<ObjectReference> related;
  std::string note;
  std::string type;  // Normal, Warning
  EventSource deprecated_source;
  std::optional<WallTime> deprecated_first_timestamp;
  std::optional<WallTime> deprecated_last_timestamp;
  int32_t deprecated_count = 0;

  static void Fields(auto& self, auto&& field) {
    field("metadata", Always(self.metadata));
    field("eventTime", self.event_time);
    field("series", self.series);
    field("reportingController", self.reporting_controller);
    field("reportingInstance", self.reporting_instance);
    field("action", self.action);
    field("reason", self.reason);
    field("regarding", self.regarding);
    field("related", self.related);
    field("note", self.note);
    field("type", self.type);
    field("deprecatedSource", self.deprecated_source);
    field("deprecatedFirstTimestamp", self.deprecated_first_timestamp);
    field("deprecatedLastTimestamp", self.deprecated_last_timestamp);
    field("deprecatedCount", self.deprecated_count);
  }
  bool operator==(const Event&) const = default;
};

}  // namespace koord::kube

KOORD_DECLARE_CODEC(koord::kube::CoreEvent);
KOORD_DECLARE_CODEC(koord::kube::Event);
