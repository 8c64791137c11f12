#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/event_loop.h"
#include "base/scope.h"
#include "scheduler/queue/backoff.h"
#include "scheduler/queue/entry_table.h"
#include "scheduler/queue/event_log.h"
#include "scheduler/queue/indexed_heap.h"
#include "scheduler/queue/wait_groups.h"
#include "scheduler/queue/wait_index.h"

namespace koord::scheduler {

struct QueueOptions {
  Backoff backoff;
  // Pods that wait for an event longer than this are tried anyway: a net under lost events.
  Duration flush_after = 5min;
  size_t max_logged_events = 10'000;
  // For the counter of pods entering a pool ("active", "backoff", "unschedulable", "gated") and
  // why.
  std::function<void(std::string_view pool, std::string_view event)> on_incoming = {};
};

// A pod that was taken out to be placed.
struct QueuedPod {
  std::shared_ptr<const kube::Pod> pod;
  int attempts = 0;             // with this one
  SteadyTime timestamp{};       // when it entered the queue, last
  SteadyTime first_attempt{};   // for durations
  WallTime first_attempt_at{};  // for people
};

// How an attempt ended that did not bind the pod.
struct AttemptFailure {
  struct RejectedBy {
    std::string plugin;
    bool pending = false;  // with the code Pending
    // It has not rejected the pod, but what it waits for may help nevertheless.
    bool only_listens = false;
  };
  std::vector<RejectedBy> rejected_by = {};  // none: an internal error
  std::string message = {};
  // Given if all pods of its shape would have failed like that.
  std::optional<Unfit> unfit = {};
};

// Where a pod is and what it waits for, for people who ask.
struct QueuePosition {
  QueuePool pool = QueuePool::kActive;
  std::optional<size_t> ahead = {};  // pods that come out of its pool first
  int attempts = 0;
  int unschedulable_count = 0;
  int error_count = 0;  // in a row
  WallTime added_at{};
  std::optional<WallTime> first_attempt_at = {};
  std::optional<Duration> backoff_left = {};
  std::vector<std::string> rejected_by = {};  // plugins, at the last attempt
  std::string gated_by = {};
  std::string message = {};               // of the last failure, or of the gate
  bool waits_for_any_event = false;       // some plugin does not say what may help
  std::vector<EventKind> waits_for = {};  // otherwise: the kinds that may help
};

// Decides which pod is tried next, and when a pod that failed is tried again.
//
// A pod is `active` when it may be tried: the sort plugin says in which order. A pod that some
// plugins rejected waits until an event that one of them cares about may have changed the answer,
// then for the rest of its backoff; one that met an internal error waits for its backoff alone.
// While nobody is active, rejected pods are taken before their backoff is over. Pods of a shape
// that fits nowhere wait as one: see WaitGroup. Gates (PreEnqueue) keep pods out of all this until
// they open.
//
// Events that arrive while a pod is being tried or bound are remembered and count when it comes
// back: none is lost. The net below, a flush of pods that wait for long, should never catch one;
// `rescued()` counts those that it did.
//
// Every pod that came out by Pop or Take must go in again by exactly one of Return, Done and Drop.
// Lives on one loop. Plugins must not call the queue from PreEnqueue, Less or MightCure.
class SchedulingQueue {
 public:
  struct Counts {
    size_t active = 0;
    size_t backoff = 0;  // of both kinds
    size_t unschedulable = 0;
    size_t gated = 0;
    size_t in_flight = 0;
  };

  // All profiles share one order. Whatever is given here outlives the queue.
  SchedulingQueue(EventLoop& loop, const QueueSortPlugin& sort, std::vector<QueueProfile> profiles,
                  QueueOptions options = {});

  // ---- What the cluster says

  bool Serves(std::string_view scheduler_name) const;

  // A pod without node. Of known pods this is an update. False if no profile serves it.
  bool Add(std::shared_ptr<const kube::Pod> pod);
  // Wakes the pod if more than its status changed.
  bool Update(std::shared_ptr<const kube::Pod> pod) { return Add(std::move(pod)); }
  // The pod is gone, has a node, or is no longer ours. One in flight does not come back.
  bool Delete(std::string_view uid);
  // Something changed that may help pods that wait.
  void OnEvent(const ClusterEvent& event, const WakeFilter& filter = {});
  // Makes pods active at once, unless a gate holds them.
  void Activate(std::span<const kube::ObjectKey> pods);

  // ---- What the scheduling cycle does

  // Called (from the loop) when there is something to pop again after Pop gave nothing.
  void OnReady(std::function<void()> ready) { ready_ = std::move(ready); }

  std::optional<QueuedPod> Pop();
  // Takes a certain pod out of whatever pool it is in. With `like` it gets the timestamps and the
  // attempt count of that pod. Nothing if it is not there or in flight, or if a gate holds it back
  // that is not `plugin`'s own.
  std::optional<QueuedPod> Take(std::string_view uid, const QueuedPod* like = nullptr,
                                std::string_view plugin = "");
  // The gate that does, now; "" if none does.
  std::string_view HeldBy(std::string_view uid, std::string_view plugin = "") const;

  // Whether anything has happened since a pod that is in flight was taken out.
  bool HasHeardSince(std::string_view uid) const;
  // The attempt failed. Where the pod went; nothing if it is gone.
  std::optional<QueuePool> Return(std::string_view uid, const AttemptFailure& failure);
  void Done(std::string_view uid);  // it was bound
  void Drop(std::string_view uid);  // it need not be tried again

  // ---- What people ask

  Counts counts() const;
  size_t logged_events() const { return log_.events(); }
  // Pods that were bound only because the flush woke them: each is an event that was lost.
  uint64_t rescued() const { return rescued_; }
  std::optional<QueuePosition> Describe(std::string_view uid) const;
  std::optional<QueuePosition> Describe(const kube::ObjectKey& key) const;
  // How many pods each plugin rejected last: visit(profile, plugin, pods).
  void ForEachRejector(
      const std::function<void(std::string_view, std::string_view, size_t)>& visit) const;

 private:
  // What a heap compares, without looking at the entry.
  struct Slot {
    const kube::Pod* pod = nullptr;
    QueueEntry* entry = nullptr;
    SteadyTime until{};
    SteadyTime timestamp{};
    uint64_t sequence = 0;
    int32_t priority = 0;
    uint32_t id = 0;  // the entry's

    QueuedPodView view() const { return {*pod, priority, timestamp, sequence}; }
  };
  struct BySort {
    const QueueSortPlugin* sort;
    bool operator()(const Slot& a, const Slot& b) const { return sort->Less(a.view(), b.view()); }
  };
  struct ByExpiry {
    BySort sort;
    bool operator()(const Slot& a, const Slot& b) const {
      return a.until != b.until ? a.until < b.until : sort(a, b);
    }
  };

  void AddNew(std::shared_ptr<const kube::Pod> pod, const EntryTable::Uid& uid,
              QueueProfileState& profile);
  void UpdateKnown(QueueEntry& entry, std::shared_ptr<const kube::Pod> pod);
  void Revive(QueueEntry& entry);
  void Remove(QueueEntry& entry);

  // Brings a pod into a pool from wherever it is; `event` says why.
  void Admit(QueueEntry& entry, Wake wake, std::string_view event);
  void EnterActive(QueueEntry& entry, std::string_view event);
  void EnterBackoff(QueueEntry& entry, SteadyTime until, std::string_view event);
  void EnterUnschedulable(QueueEntry& entry, std::string_view event, const Unfit* unfit = nullptr);
  void EnterGated(QueueEntry& entry, Rejector& gate, std::string_view event);
  void WaitForEvent(QueueEntry& entry);
  // From now on it does not wait together with its like.
  void WaitAlone(QueueEntry& entry);
  // Wakes the members of a group that are to be tried first.
  void WakeSome(WaitGroup& group, const WakeFilter& filter = {});
  void WakeAll(const WakeFilter& filter, std::string_view event);
  void Arrive(QueueEntry& entry);
  void Leave(QueueEntry& entry);
  QueuedPod Start(QueueEntry& entry);
  QueueEntry* Find(std::string_view uid) const { return entries_.Find(EntryTable::Uid(uid)); }
  QueueEntry* InFlight(std::string_view uid) const;
  void EndAttempt(QueueEntry& entry);

  Rejector* ClosedGate(QueueEntry& entry);
  static std::string_view ClosedGateBut(const QueueEntry& entry, std::string_view plugin);
  bool IsClosed(QueueEntry& entry, PreEnqueuePlugin& gate);
  void Record(QueueEntry& entry, const AttemptFailure& failure);
  void ClearRejections(QueueEntry& entry);
  void Stamp(QueueEntry& entry);
  // Until when it must wait; nothing if it need not, or no longer.
  std::optional<SteadyTime> BackoffUntil(const QueueEntry& entry) const;

  static Slot SlotOf(QueueEntry& entry);
  void Count(std::string_view pool, std::string_view event) const;
  void TellReady();

  void ArmBackoffTimer();
  void FlushBackoff();
  void FlushHeap(IndexedHeap<Slot, ByExpiry>& heap);
  void ArmFlushTimer();
  void FlushWaiting();

  QueuePosition DescribeEntry(const QueueEntry& entry) const;

  SteadyTime now() const { return loop_.clock().Steady(); }

  EventLoop& loop_;
  QueueOptions options_;
  const BySort sort_;
  SteadyTime start_;  // flushes are counted from here

  EntryTable entries_;
  WaitIndex index_;
  WaitGroups groups_{index_};
  EventLog log_;
  IndexedHeap<Slot, BySort> active_;
  IndexedHeap<Slot, ByExpiry> backoff_;
  IndexedHeap<Slot, ByExpiry> error_backoff_;
  EntryList waiting_;  // for an event, gated or not; by `since`
  size_t gated_ = 0;

  uint64_t next_sequence_ = 0;
  uint64_t rescued_ = 0;
  bool starved_ = false;  // Pop gave nothing
  std::function<void()> ready_;

  SteadyTime backoff_timer_at_{};
  Timer backoff_timer_;
  Timer flush_timer_;
  Scope scope_;
};

}  // namespace koord::scheduler
