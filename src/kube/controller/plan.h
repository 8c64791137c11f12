#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "kube/controller/write.h"
#include "kube/events/event_recorder.h"
#include "kube/objects/meta.h"
#include "kube/resource.h"

namespace koord::kube {

// What a controller has decided to do about one object.
struct Plan {
  std::vector<Write> writes;
  std::vector<EventRecorder::Note> notes;  // told when the writes have succeeded
  std::optional<Duration> again;           // look again then even if nothing changes
  std::optional<Duration> retry;  // after a refusal look again then, not after a growing pause
  bool undecided = false;         // nothing could be decided: look again after a growing pause

  void Add(std::optional<Write> write) {
    if (write) writes.push_back(*std::move(write));
  }
  void AgainWithin(Duration delay) {
    if (!again || delay < *again) again = delay;
  }
  void Tell(const Resource& resource, const ObjectMeta& about, std::string_view reason,
            std::string message) {
    Note("Normal", resource, about, reason, std::move(message));
  }
  void Warn(const Resource& resource, const ObjectMeta& about, std::string_view reason,
            std::string message) {
    Note("Warning", resource, about, reason, std::move(message));
  }

 private:
  void Note(std::string type, const Resource& resource, const ObjectMeta& about,
            std::string_view reason, std::string message) {
    notes.push_back({.regarding = {.kind = resource.kind,
                                   .ns = about.ns,
                                   .name = about.name,
                                   .uid = about.uid,
                                   .api_version = resource.api_version(),
                                   .resource_version = about.resource_version},
                     .type = std::move(type),
                     .reason = std::string(reason),
                     .message = std::move(message)});
  }
};

}  // namespace koord::kube
