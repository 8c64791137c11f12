#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "scheduler/framework/plugin.h"
#include "scheduler/queue/scheduling_queue.h"

namespace koord::scheduler {

// Who is tried next: whoever a plugin names, otherwise the first of the queue.
class NextPods {
 public:
  // All of it outlives this.
  NextPods(SchedulingQueue& queue, std::vector<NextPodPlugin*> plugins)
      : queue_(queue), plugins_(std::move(plugins)) {}

  // Out of the queue; nothing: nobody is there to be tried.
  std::optional<QueuedPod> Take();

 private:
  std::optional<QueuedPod> Ask(NextPodPlugin& plugin);

  SchedulingQueue& queue_;
  const std::vector<NextPodPlugin*> plugins_;
  std::optional<QueuedPod> popped_;  // by the queue's order, last
};

}  // namespace koord::scheduler
