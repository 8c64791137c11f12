#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/string_map.h"
#include "scheduler/framework/shape_probe.h"
#include "scheduler/queue/queue_entry.h"

namespace koord::scheduler {

// What the queue must know of the pods of one schedulerName.
struct QueueProfile {
  std::string name;
  std::vector<PreEnqueuePlugin*> pre_enqueue;
  // By plugin name. Rejections of a plugin that is not among them may be cured by any event.
  StringMap<RequeuePlugin*> requeue;
  // Asked before pods of a shape that fits nowhere are woken; null: they are always worth trying.
  ShapeProbe* probe = nullptr;
};

struct QueueProfileState {
  QueueProfile plugins;
  StringMap<Rejector*> rejectors;
};

// Limits whom an event wakes.
struct WakeFilter {
  std::string except_uid;               // "": nobody is left out
  std::optional<int32_t> max_priority;  // only pods of at most this priority
  // Pods to which the event is no news; null: to none.
  std::function<bool(const kube::Pod&)> is_no_news_to = {};

  bool AdmitsPriority(int32_t priority) const {
    return !max_priority.has_value() || priority <= *max_priority;
  }
  bool Admits(const QueueEntry& entry) const {
    return AdmitsPriority(entry.priority) &&
           (except_uid.empty() || entry.pod->metadata.uid != except_uid) &&
           (is_no_news_to == nullptr || !is_no_news_to(*entry.pod));
  }
};

// Which pods wait for which plugin to change its mind. An event looks only at pods of plugins that
// care about its kind.
class WaitIndex {
 public:
  explicit WaitIndex(std::vector<QueueProfile> profiles);
  WaitIndex(const WaitIndex&) = delete;
  WaitIndex& operator=(const WaitIndex&) = delete;

  QueueProfileState* FindProfile(std::string_view name) const;
  Rejector& RejectorOf(QueueProfileState& profile, std::string_view plugin);
  const std::vector<std::unique_ptr<Rejector>>& rejectors() const { return rejectors_; }

  // An entry waits for its gate if it has one, else for those who rejected it.
  void Insert(QueueEntry& entry);
  void Remove(QueueEntry& entry);

  // Who wakes up, and how (entry.wake); oldest first.
  std::vector<QueueEntry*> WokenBy(const ClusterEvent& event, const WakeFilter& filter);

 private:
  void InsertAt(QueueEntry& entry, Rejection& rejection);
  void RemoveAt(Rejection& rejection);

  StringMap<std::unique_ptr<QueueProfileState>> profiles_;
  std::vector<std::unique_ptr<Rejector>> rejectors_;  // in the order of their first rejection
};

// What an event does to a pod with these rejections.
Wake WakeOf(const QueueEntry& entry, const ClusterEvent& event);

}  // namespace koord::scheduler
