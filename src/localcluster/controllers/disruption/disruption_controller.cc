#include "localcluster/controllers/disruption/disruption_controller.h"

#include "kube/resources.h"
#include "localcluster/controllers/common/ownership.h"

namespace koord::localcluster {
namespace {

// What a budget sees of a pod.
bool LooksTheSame(const kube::Pod& a, const kube::Pod& b) {
  return a.metadata.labels == b.metadata.labels && kube::IsReady(a) == kube::IsReady(b) &&
         kube::IsBeingDeleted(a.metadata) == kube::IsBeingDeleted(b.metadata) &&
         a.metadata.owner_references == b.metadata.owner_references;
}

template <class T>
std::optional<PodScale> Scale(const std::shared_ptr<const T>& workload) {
  if (workload == nullptr) return std::nullopt;
  return PodScale{workload->metadata.uid, workload->spec.replicas.value_or(1)};
}

}  // namespace

DisruptionController::DisruptionController(ControllerContext& context)
    : ClusterController("controllermanager", context) {
  Watch(informers().disruption_budgets, [this](const auto&, const auto& after) {
    if (after != nullptr) Enqueue(KeyText(after->metadata));
  });
  Watch(informers().pods, [this](const auto& before, const auto& after) {
    if (before != nullptr && after != nullptr && LooksTheSame(*before, *after)) return;
    if (before != nullptr) EnqueueMatching(*before);
    if (after != nullptr) EnqueueMatching(*after);
  });
}

void DisruptionController::EnqueueMatching(const kube::Pod& pod) {
  for (const auto& budget :
       informers().disruption_budgets.ByIndex(kube::kByNamespace, pod.metadata.ns)) {
    const auto matcher = MatcherOf(budget->spec.selector);
    if (matcher && matcher->Matches(pod.metadata.labels)) Enqueue(KeyText(budget->metadata));
  }
}

kube::Plan DisruptionController::Decide(const std::string& key) {
  kube::Plan plan;
  const auto budget = informers().disruption_budgets.Get(kube::ParseKey(key));
  if (budget == nullptr) return plan;
  const auto matcher = MatcherOf(budget->spec.selector);
  PodList pods;
  for (auto& pod : informers().pods.ByIndex(kube::kByNamespace, budget->metadata.ns)) {
    if (matcher && matcher->Matches(pod->metadata.labels)) pods.push_back(pod);
  }
  PlanDisruption({.budget = *budget,
                  .pods = pods,
                  .scale_of = [this](const kube::Pod& pod) { return ScaleOf(pod); },
                  .now = Now()},
                 plan);
  return plan;
}

StatusOr<std::optional<PodScale>> DisruptionController::ScaleOf(const kube::Pod& pod) {
  const kube::OwnerReference* owner = kube::ControllerOf(pod.metadata);
  if (owner == nullptr) return std::nullopt;
  const kube::ObjectKey key{pod.metadata.ns, owner->name};
  if (owner->kind == "ReplicaSet") {
    const auto set = informers().replica_sets.Get(key);
    if (set == nullptr) return std::nullopt;
    if (const auto deployment = ControllerKey(set->metadata, kube::kDeployments)) {
      return Scale(informers().deployments.Get(kube::ParseKey(*deployment)));
    }
    return Scale(set);
  }
  if (owner->kind == "StatefulSet") return Scale(informers().stateful_sets.Get(key));
  if (owner->kind == "ReplicationController") {
    return Scale(informers().replication_controllers.Get(key));
  }
  return FailedPrecondition("{} {} does not implement the scale subresource", owner->kind,
                            owner->name);
}

}  // namespace koord::localcluster
