#pragma once
#include <memory>
#include <optional>
#include <string>

#include "kube/client/client.h"
#include "kube/objects/meta.h"

// Tells people what happened to an object, as Events that `kubectl describe` shows. Recording never
// waits and never fails: events are sent in the background and, under load, left out.
namespace koord::kube {

class EventRecorder {
 public:
  struct Note {
    ObjectReference regarding;
    std::optional<ObjectReference> related = {};
    std::string type = "Normal";  // or Warning
    std::string reason;           // one word: FailedScheduling
    std::string action = {};      // what was being done: Scheduling; events.k8s.io only
    std::string message;
  };

  virtual ~EventRecorder() = default;
  virtual void Record(const Note& note) = 0;
};

struct EventRecorderOptions {
  std::string component;  // "koord-manager"
  std::string host;
  uint64_t seed = 1;
};

// Events of the core API, as most controllers write them. What repeats becomes a count of one
// event; ten different messages about the same matter within ten minutes become one that says so;
// and an object about which too much is said (25, then one every five minutes) is left alone.
std::unique_ptr<EventRecorder> MakeCoreEventRecorder(Client& client, EventRecorderOptions options);

// Events of events.k8s.io, as schedulers write them. What repeats within six minutes becomes a
// series, which is written on its first repetition, every half hour, and when it ends.
std::unique_ptr<EventRecorder> MakeSeriesEventRecorder(Client& client,
                                                       EventRecorderOptions options);

}  // namespace koord::kube
