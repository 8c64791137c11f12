#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/scope.h"
#include "base/string_map.h"
#include "scheduler/framework/plugin_context.h"

namespace koord::scheduler {

// Evicts the victims that were chosen for a pod, and knows of it until it is seen.
//
// A pod must not be tried again while its victims are being told (a gate asks IsUnderWayFor); then
// it is made active. If a victim could not be told, that happens after a pause.
class VictimEviction {
 public:
  explicit VictimEviction(const PluginContext& context) : context_(context) {}

  // Less important pods that were promised the node must find another.
  void Evict(const Attempt& attempt, NodeRow row, const std::vector<const PodInfo*>& victims);

  bool IsUnderWayFor(const kube::Pod& pod) const {
    return evicting_for_.contains(pod.metadata.uid);
  }
  // Leaves because of a preemption, whether or not the watch shows it yet.
  bool IsLeaving(const PodInfo& pod) const;
  size_t remembered() const { return evicting_for_.size() + told_.size(); }

 private:
  // Of victims, those that the API server is told to delete: the others leave already, or wait for
  // their permit and go back to the queue.
  std::vector<std::string> ToBeTold(
      const std::vector<std::shared_ptr<const kube::Pod>>& victims) const;
  void End(const std::string& uid, const kube::ObjectKey& key);
  void RememberTold(const std::vector<std::string>& victims);

  const PluginContext context_;
  StringSet evicting_for_;  // uids of pods whose victims are being told
  StringSet told_;          // uids of victims that leave, seen or not
  Scope scope_;
};

}  // namespace koord::scheduler
