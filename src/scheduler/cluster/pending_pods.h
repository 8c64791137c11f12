#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "scheduler/cluster/pod_set.h"

namespace koord::scheduler {

// Hears of pods without a node, whoever schedules them, as the API server shows them. What becomes
// of them once they have one is told to LedgerListener.
class PodListener {
 public:
  using PodPtr = std::shared_ptr<const kube::Pod>;

  virtual ~PodListener() = default;
  virtual void OnPodPending(const PodPtr& /*before*/, const PodPtr& /*after*/) {}  // new: no before
  // It is seen on a node. `before` is what was seen last; null if it was not seen without one.
  virtual void OnPodBound(const PodPtr& /*before*/, const PodPtr& /*after*/) {}
  virtual void OnPodGone(const PodPtr& /*last*/) {}  // and never had one
};

// The pods without a node, as last shown. Listeners hear of a change before the queue and the
// ledger do, so that plugins know a pod when they are asked about it.
class PendingPods {
 public:
  using PodPtr = PodListener::PodPtr;

  const PodSet& pods() const { return pods_; }
  bool contains(std::string_view uid) const { return pods_.contains(uid); }
  size_t size() const { return pods_.size(); }

  // Hears of the pods that are there, and of all that happens from now on. Outlives this.
  void AddListener(PodListener& listener) {
    listeners_.push_back(&listener);
    for (const PodPtr& pod : pods_) listener.OnPodPending(nullptr, pod);
  }

  void Set(const PodPtr& pod) {
    const PodPtr before = Put(pods_, pod);
    for (PodListener* listener : listeners_) listener->OnPodPending(before, pod);
  }
  // It has a node. Also told of pods that were known to have one: those are nobody's news.
  void SetBound(const PodPtr& pod, bool was_known) {
    const PodPtr before = Take(pod->metadata.uid);
    if (before == nullptr && was_known) return;
    for (PodListener* listener : listeners_) listener->OnPodBound(before, pod);
  }
  void Remove(std::string_view uid) {
    const PodPtr last = Take(uid);
    if (last == nullptr) return;
    for (PodListener* listener : listeners_) listener->OnPodGone(last);
  }

 private:
  PodPtr Take(std::string_view uid) {
    auto found = pods_.extract(uid);
    return found ? std::move(found.value()) : nullptr;
  }

  PodSet pods_;
  std::vector<PodListener*> listeners_;
};

}  // namespace koord::scheduler
