#pragma once
#include <string_view>
#include <vector>

#include "scheduler/framework/cycle_point.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/pipeline/pipeline.h"
#include "scheduler/queue/scheduling_queue.h"

namespace koord::scheduler {

enum class AttemptResult : uint8_t { kScheduled, kUnschedulable, kError };
inline constexpr size_t kAttemptResults = static_cast<size_t>(AttemptResult::kError) + 1;
std::string_view ToString(AttemptResult result);  // as the metrics name it

// What came of asking the PostFilter plugins.
struct PostFilterOutcome {
  std::string message;
  std::string nominated_node;
};

// Watches attempts without taking part: metrics, the monitor of slow attempts, debug logs.
class AttemptObserver {
 public:
  virtual ~AttemptObserver() = default;

  virtual void OnPopped(const QueuedPod&) {}
  // It is not tried: nobody serves it, it has a node or is being deleted.
  virtual void OnSkipped(const kube::Pod&) {}
  virtual void OnStarted(const Attempt&) {}
  // The node is chosen (attempt.node is not set yet), or none is. `took` is the time of the
  // decision alone; what is asked of the pipeline here must not change what it decides.
  virtual void OnDecided(const Attempt&, Pipeline&, const Decision&, WallTime /*now*/,
                         Duration /*took*/) {}
  // No node can do.
  virtual void OnUnfit(const Attempt&, Pipeline&, const Diagnosis&, const PostFilterOutcome&) {}
  virtual void OnPoint(CyclePoint, const Attempt&, Code, Duration /*took*/) {}
  // It has a node and waits for a permit.
  virtual void OnWaiting(const Attempt&) {}
  virtual void OnWaited(const Attempt&, const Verdict&, Duration /*how_long*/) {}
  virtual void OnBound(const Attempt&) {}
  virtual void OnFinished(const Attempt&, AttemptResult) {}
  virtual void OnPreempted(size_t /*victims*/) {}
};

// Several observers as one.
class ObserverList final : public AttemptObserver {
 public:
  void Add(AttemptObserver& observer) { observers_.push_back(&observer); }

  void OnPopped(const QueuedPod& pod) override { Tell(&AttemptObserver::OnPopped, pod); }
  void OnSkipped(const kube::Pod& pod) override { Tell(&AttemptObserver::OnSkipped, pod); }
  void OnStarted(const Attempt& attempt) override { Tell(&AttemptObserver::OnStarted, attempt); }
  void OnDecided(const Attempt& attempt, Pipeline& pipeline, const Decision& decision, WallTime now,
                 Duration took) override {
    Tell(&AttemptObserver::OnDecided, attempt, pipeline, decision, now, took);
  }
  void OnUnfit(const Attempt& attempt, Pipeline& pipeline, const Diagnosis& diagnosis,
               const PostFilterOutcome& outcome) override {
    Tell(&AttemptObserver::OnUnfit, attempt, pipeline, diagnosis, outcome);
  }
  void OnPoint(CyclePoint point, const Attempt& attempt, Code code, Duration took) override {
    Tell(&AttemptObserver::OnPoint, point, attempt, code, took);
  }
  void OnWaiting(const Attempt& attempt) override { Tell(&AttemptObserver::OnWaiting, attempt); }
  void OnWaited(const Attempt& attempt, const Verdict& verdict, Duration how_long) override {
    Tell(&AttemptObserver::OnWaited, attempt, verdict, how_long);
  }
  void OnBound(const Attempt& attempt) override { Tell(&AttemptObserver::OnBound, attempt); }
  void OnFinished(const Attempt& attempt, AttemptResult result) override {
    Tell(&AttemptObserver::OnFinished, attempt, result);
  }
  void OnPreempted(size_t victims) override { Tell(&AttemptObserver::OnPreempted, victims); }

 private:
  template <class Method, class... Args>
  void Tell(Method method, Args&&... args) {
    for (AttemptObserver* observer : observers_) (observer->*method)(args...);
  }

  std::vector<AttemptObserver*> observers_;
};

}  // namespace koord::scheduler
