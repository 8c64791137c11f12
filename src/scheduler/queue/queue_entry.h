#pragma once
#include <absl/container/inlined_vector.h>

#include <bitset>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "kube/objects/pod.h"
#include "scheduler/framework/plugin.h"

// The parts of the scheduling queue. Nobody but the queue's own files needs them.
namespace koord::scheduler {

// Where a pod is between its creation and its binding.
enum class QueuePool : uint8_t {
  kActive,         // may be tried now
  kBackoff,        // was rejected; tried when its time is over, or earlier if nobody else is there
  kErrorBackoff,   // met an internal error; tried when its time is over
  kUnschedulable,  // was rejected; waits for an event that may help
  kGated,          // somebody wants it held back
  kInFlight,       // is being tried or bound
  kNone,           // not in the queue
};
std::string_view ToString(QueuePool pool);

struct QueueEntry;
struct Rejector;
struct WaitGroup;

// One plugin's word against one pod.
struct Rejection {
  Rejector* by = nullptr;
  bool pending = false;       // waits for somebody outside: no backoff once they act
  bool only_listens = false;  // it has said nothing, but may help
  uint32_t place = 0;         // in by->waiting, while the pod waits for an event
};

// A plugin of one profile as the author of rejections.
struct Rejector {
  struct Waiting {
    QueueEntry* entry;
    Rejection* rejection;  // of this entry
  };

  std::string_view profile;
  std::string name;
  RequeuePlugin* plugin = nullptr;  // null: any event may help
  std::bitset<kEventKinds> wants;
  std::vector<Waiting> waiting;    // by themselves
  std::vector<WaitGroup*> groups;  // pods of one shape that wait together
  size_t recorded = 0;             // pods that it rejected last and that were not tried since

  bool Wants(EventKind kind) const { return wants[static_cast<size_t>(kind)]; }
  bool MightCure(const kube::Pod& pod, const ClusterEvent& event) const {
    return event.kind == EventKind::kForced || plugin == nullptr || plugin->MightCure(pod, event);
  }
};

// How a pod leaves the pool of those that wait for an event.
enum class Wake : uint8_t { kNo, kAfterBackoff, kAtOnce };

struct QueueProfileState;

struct QueueEntry {
  std::shared_ptr<const kube::Pod> pod;
  QueueProfileState* profile = nullptr;
  uint32_t id = 0;  // of the entry, whatever pod it is for
  size_t uid_hash = 0;
  size_t name_hash = 0;

  QueuePool pool = QueuePool::kNone;
  bool gone = false;      // in flight, and deleted or bound meanwhile: must not come back
  bool flushed = false;   // the next attempt is owed to the periodic flush alone
  Wake wake = Wake::kNo;  // what the present event does to it
  int32_t priority = 0;
  uint64_t sequence = 0;      // moves with timestamp
  SteadyTime timestamp{};     // when it was created or last came back
  SteadyTime until{};         // in a backoff pool: its last second there
  SteadyTime since{};         // waiting for an event: from when, or since the last flush
  uint64_t log_position = 0;  // in flight: events from here on have been missed

  WaitGroup* group = nullptr;  // waits for an event together with others of its shape
  uint32_t group_place = 0;
  WaitGroup* woken_of = nullptr;  // a group that hears what comes of its waking up

  // Its list: of those that wait for an event, or of those in flight. Oldest first.
  QueueEntry* before = nullptr;
  QueueEntry* after = nullptr;

  int attempts = 0;
  int unschedulable_count = 0;
  int error_count = 0;  // in a row
  SteadyTime first_attempt{};
  WallTime first_attempt_at{};
  WallTime added_at{};

  absl::InlinedVector<Rejection, 2> rejections;
  Rejection gate;  // by nobody unless gated
  PreEnqueuePlugin* gating_plugin = nullptr;
  kube::Text gate_message;
  kube::Text message;  // of the last failure

  bool waits_for_event() const {
    return pool == QueuePool::kUnschedulable || pool == QueuePool::kGated;
  }
};

// A list of entries through their own links.
class EntryList {
 public:
  bool empty() const { return first_ == nullptr; }
  size_t size() const { return size_; }
  QueueEntry* first() const { return first_; }

  void Append(QueueEntry& entry) {
    entry.before = last_;
    entry.after = nullptr;
    (last_ != nullptr ? last_->after : first_) = &entry;
    last_ = &entry;
    ++size_;
  }
  void Remove(QueueEntry& entry) {
    (entry.before != nullptr ? entry.before->after : first_) = entry.after;
    (entry.after != nullptr ? entry.after->before : last_) = entry.before;
    --size_;
  }

 private:
  QueueEntry* first_ = nullptr;
  QueueEntry* last_ = nullptr;
  size_t size_ = 0;
};

}  // namespace koord::scheduler
