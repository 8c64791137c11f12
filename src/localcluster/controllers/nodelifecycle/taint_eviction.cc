#include "localcluster/controllers/nodelifecycle/taint_eviction.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/duration.h"
#include "kube/resources.h"
#include "localcluster/controllers/common/disruption_mark.h"
#include "localcluster/controllers/common/pod_state.h"

namespace koord::localcluster {
namespace {

bool EvictsPods(const kube::Taint& taint) { return taint.effect == kube::kNoExecute; }

bool AnyEvictsPods(const kube::Node& node) {
  return std::any_of(node.spec.taints.begin(), node.spec.taints.end(), EvictsPods);
}

}  // namespace

std::optional<WallTime> LeaveAt(std::span<const kube::Taint> taints,
                                std::span<const kube::Toleration> tolerations, WallTime since) {
  std::optional<WallTime> leave;
  for (const kube::Taint& taint : taints) {
    if (!EvictsPods(taint)) continue;
    bool tolerated = false;
    for (const kube::Toleration& toleration : tolerations) {
      if (!kube::Tolerates(toleration, taint)) continue;
      tolerated = true;
      if (!toleration.toleration_seconds) continue;
      const Duration span = BoundedSeconds(std::max<int64_t>(*toleration.toleration_seconds, 0));
      const WallTime end = taint.time_added.value_or(since) + span;
      leave = leave ? std::min(*leave, end) : end;
    }
    if (!tolerated) return since;
  }
  return leave;
}

TaintEvictionController::TaintEvictionController(ControllerContext& context)
    : ClusterController("taint-eviction-controller", context) {
  Watch(informers().nodes, [this](const auto& before, const auto& after) {
    if (after == nullptr) return;
    if (before != nullptr && before->spec.taints == after->spec.taints) return;
    // Also when the last such taint is lifted, to forget those that were to leave.
    const bool did = before != nullptr && AnyEvictsPods(*before);
    if (did || AnyEvictsPods(*after)) EnqueuePodsOf(after->metadata.name);
  });
  Watch(informers().pods, [this](const auto& before, const auto& after) {
    if (after == nullptr || !kube::IsAssigned(*after)) return;
    if (before != nullptr && kube::IsAssigned(*before) &&
        before->spec.tolerations == after->spec.tolerations) {
      return;
    }
    const auto node = informers().nodes.Get({"", after->spec.node_name});
    if (node == nullptr || AnyEvictsPods(*node)) Enqueue(KeyText(after->metadata));
  });
}

void TaintEvictionController::EnqueuePodsOf(const std::string& node) {
  for (const auto& pod : informers().pods.ByIndex(kube::kByNode, node)) {
    Enqueue(KeyText(pod->metadata));
  }
}

std::optional<WallTime> TaintEvictionController::LeaveAtOf(const std::string& key,
                                                           const kube::Pod* pod) {
  std::optional<WallTime> leave;
  if (pod != nullptr && IsActive(*pod)) {
    const auto node = informers().nodes.Get({"", pod->spec.node_name});
    const WallTime since = since_.try_emplace(key, Now()).first->second;
    if (node != nullptr) leave = LeaveAt(node->spec.taints, pod->spec.tolerations, since);
  }
  if (!leave) since_.erase(key);
  return leave;
}

kube::Plan TaintEvictionController::Decide(const std::string& key) {
  kube::Plan plan;
  const auto pod = informers().pods.Get(kube::ParseKey(key));
  const auto leave = LeaveAtOf(key, pod.get());
  if (!leave) return plan;
  if (*leave > Now()) {
    plan.AgainWithin(*leave - Now());
    return plan;
  }
  plan.Add(MarkDisrupted(
      *pod, {"DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint"}, Now()));
  plan.Add(Delete(kube::kPods, pod->metadata));
  plan.Tell(kube::kPods, pod->metadata, "TaintManagerEviction",
            fmt::format("Marking for deletion Pod {}", key));
  return plan;
}

}  // namespace koord::localcluster
