#pragma once
#include <absl/container/flat_hash_map.h>

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/queue/wait_index.h"

namespace koord::scheduler {

// Pods of one shape that fit nowhere, and wait for the same to change.
//
// An event that may help wakes the first of them, or a few: if one fits nowhere again, none of them
// would, and if all are placed, twice as many follow. So what an event costs follows the pods that
// it helps, not those that wait.
struct WaitGroup {
  struct Listening {
    Rejector* to = nullptr;
    uint32_t place = 0;  // in to->groups
  };

  Unfit unfit;
  QueueProfileState* profile = nullptr;
  absl::InlinedVector<Listening, 2> listens;  // whoever rejects the shape on some row
  std::vector<QueueEntry*> members;           // in no order
  size_t on_their_way = 0;                    // woken, and not tried yet
  size_t next_batch = 1;                      // how many to wake next
  bool may_fit = false;                       // an event came since it was found to fit nowhere
  bool in_relay = false;
  std::string_view event;  // that woke the last ones
};

// All such groups. Says nothing about the order in which pods are tried: the queue does.
class WaitGroups {
 public:
  explicit WaitGroups(WaitIndex& index) : index_(index) {}
  WaitGroups(const WaitGroups&) = delete;
  WaitGroups& operator=(const WaitGroups&) = delete;

  // A pod was just found to fit nowhere: so would all others of its group.
  void Join(QueueEntry& entry, const Unfit& unfit);
  void Leave(QueueEntry& entry);
  // A woken pod is tried or gone. True if it was the last: the group is due for NextInRelay.
  bool Arrive(QueueEntry& entry);
  void SetOut(QueueEntry& entry, WaitGroup& from);

  // The groups that somebody has to be woken of, after an event.
  std::vector<WaitGroup*> WokenBy(const ClusterEvent& event, const WakeFilter& filter,
                                  WallTime now);
  // The next group whose woken pods have all been tried and which may still fit; null if none.
  WaitGroup* NextInRelay(WallTime now);

  size_t size() const { return groups_.size(); }

 private:
  using Key = std::pair<const QueueProfileState*, uint32_t>;  // and the id of the shape

  bool MayFit(WaitGroup& group, WallTime now);
  void Listen(WaitGroup& group, Rejector& to);
  void StopListening(WaitGroup& group);
  void DropIfUnused(WaitGroup& group);

  WaitIndex& index_;
  absl::flat_hash_map<Key, std::unique_ptr<WaitGroup>> groups_;
  std::vector<WaitGroup*> relay_;
};

}  // namespace koord::scheduler
