#pragma once
#include <string_view>

#include "scheduler/framework/plugin.h"
#include "scheduler/framework/plugin_context.h"

namespace koord::scheduler {

// Which pod is placed first: the one with the higher priority; of equals the one that has waited
// longer since it last came into the queue, so that pods that failed stand behind fresh ones.
class PrioritySort final : public QueueSortPlugin {
 public:
  static constexpr std::string_view kName = "PrioritySort";

  explicit PrioritySort(const PluginContext&) {}

  std::string_view name() const override { return kName; }
  bool Less(const QueuedPodView& a, const QueuedPodView& b) const override {
    if (a.priority != b.priority) return a.priority > b.priority;
    if (a.timestamp != b.timestamp) return a.timestamp < b.timestamp;
    return a.sequence < b.sequence;
  }
};

}  // namespace koord::scheduler
