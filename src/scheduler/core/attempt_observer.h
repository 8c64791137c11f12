#pragma once
#include <string_view>

#include "scheduler/framework/plugin.h"
#include "scheduler/pipeline/pipeline.h"
#include "scheduler/queue/scheduling_queue.h"

namespace koord::scheduler {

enum class AttemptResult { kScheduled, kUnschedulable, kError };
std::string_view ToString(AttemptResult result);  // as the metrics name it

// Watches attempts without taking part: metrics, the monitor of slow attempts, debug logs.
class AttemptObserver {
 public:
  virtual ~AttemptObserver() = default;
  virtual void OnPopped(const QueuedPod&) {}
  virtual void OnStarted(const QueuedPod&, std::string_view /*profile*/) {}
  // The node is chosen, or none is; `took` is the time of the decision alone.
  virtual void OnDecided(const kube::Pod&, Pipeline&, const ShapePtr&, const Decision&,
                         Duration /*took*/) {}
  virtual void OnFinished(const kube::Pod&, std::string_view /*profile*/, AttemptResult) {}
  virtual void OnBound(const Attempt&) {}
  virtual void OnPreempted(size_t /*victims*/) {}
};

}  // namespace koord::scheduler
