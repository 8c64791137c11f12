#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/framework/plugin_context.h"

namespace koord::scheduler {

// A scheduler without queue and API: every pod fits, and nothing comes of what plugins ask for.
// Tests override what they look at.
class IdleHandle : public SchedulerHandle {
 public:
  using PodPtr = std::shared_ptr<const kube::Pod>;

  RowVerdict CheckRow(PodQuery&, const RowView&) override { return {}; }
  uint64_t RowsVersion(PodQuery&) override { return 1; }
  void Preempt(const Attempt&, const std::string&, std::vector<PodPtr>, PreemptDone) override {}
  void ForEachWaiting(const std::function<void(const Attempt&)>&) override {}
  bool Allow(std::string_view, std::string_view) override { return false; }
  bool Reject(std::string_view, std::string_view, std::string, PromiseAfter) override {
    return false;
  }
  void Activate(const std::vector<kube::ObjectKey>&) override {}
  std::vector<PodPtr> NominatedTo(std::string_view) override { return {}; }
  void ClearNomination(const kube::Pod&) override {}
  std::string NominatedNodeOf(const kube::Pod&) override { return ""; }
};

}  // namespace koord::scheduler
