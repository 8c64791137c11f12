#pragma once
#include <cstdint>
#include <deque>
#include <optional>

#include "scheduler/queue/wait_index.h"

namespace koord::scheduler {

// The events that pods in flight have missed: what happens while a pod is being tried may cure the
// very rejection that the attempt ends with.
//
// Pods enter at the end and leave in any order; what nobody needs any more is forgotten. The log is
// bounded: a pod that waits for its permit through too many events has missed an unknown number.
class EventLog {
 public:
  explicit EventLog(size_t limit) : limit_(limit) {}

  size_t pods() const { return pods_.size(); }
  size_t events() const { return records_.size(); }

  void Enter(QueueEntry& entry);
  void Leave(QueueEntry& entry);
  void Append(const ClusterEvent& event, WakeFilter filter);
  void AppendFor(const QueueEntry& only, const ClusterEvent& event);

  // Whether anything has happened since a pod in flight was taken out.
  bool HasAnySince(const QueueEntry& entry) const { return entry.log_position != end(); }
  // What a pod in flight has missed, taken together.
  Wake Missed(const QueueEntry& entry) const;

 private:
  struct Record {
    ClusterEvent event;
    WakeFilter filter;
    const QueueEntry* only = nullptr;  // for this pod alone
  };
  uint64_t end() const { return start_ + records_.size(); }
  void Push(Record record);
  void Forget(uint64_t before);

  size_t limit_;
  EntryList pods_;  // by the time they entered, so by log position too
  std::deque<Record> records_;
  uint64_t start_ = 0;
};

}  // namespace koord::scheduler
