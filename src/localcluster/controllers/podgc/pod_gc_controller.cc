#include "localcluster/controllers/podgc/pod_gc_controller.h"

#include "localcluster/controllers/podgc/pod_gc_plan.h"

namespace koord::localcluster {
namespace {

// A node that registers anew within this time keeps its pods.
constexpr Duration kQuarantine = 40s;
// Not the name of a node.
const std::string kEnded = "ended pods";

}  // namespace

PodGcController::PodGcController(ControllerContext& context, size_t ended_limit)
    : ClusterController("pod-garbage-collector", context), ended_limit_(ended_limit) {
  Watch(informers().nodes, [this](const auto& before, const auto& after) {
    if (after == nullptr) Enqueue(before->metadata.name);
    if (before == nullptr) missing_since_.erase(after->metadata.name);
  });
  Watch(informers().pods, [this](const auto&, const auto& after) {
    if (after == nullptr) return;
    if (kube::IsAssigned(*after) && informers().nodes.Get({"", after->spec.node_name}) == nullptr) {
      Enqueue(after->spec.node_name);
    }
    if (informers().pods.size() > ended_limit_ && kube::IsTerminal(*after)) Enqueue(kEnded);
  });
}

kube::Plan PodGcController::Decide(const std::string& key) {
  return key == kEnded ? DecideEnded() : DecideNode(key);
}

kube::Plan PodGcController::DecideNode(const std::string& node) {
  kube::Plan plan;
  const PodList pods = informers().pods.ByIndex(kube::kByNode, node);
  if (pods.empty() || informers().nodes.Get({"", node}) != nullptr) {
    missing_since_.erase(node);
    return plan;
  }
  const SteadyTime now = context().clock().Steady();
  const SteadyTime due = missing_since_.emplace(node, now).first->second + kQuarantine;
  if (now < due) {
    plan.AgainWithin(due - now);
  } else {
    PlanOrphans(pods, Now(), plan);
  }
  return plan;
}

kube::Plan PodGcController::DecideEnded() {
  kube::Plan plan;
  PodList ended;
  for (auto& pod : informers().pods.List()) {
    if (kube::IsTerminal(*pod) && !kube::IsBeingDeleted(pod->metadata)) ended.push_back(pod);
  }
  PlanSurplusOfEnded(std::move(ended), ended_limit_, plan);
  return plan;
}

}  // namespace koord::localcluster
