#include "localcluster/controllers/replicaset/replica_set_controller.h"

#include "kube/resources.h"
#include "localcluster/controllers/common/ownership.h"

namespace koord::localcluster {

template <class T>
ReplicaSetController::ReplicaSetController(std::string name, ControllerContext& context,
                                           const kube::Resource& resource, kube::Informer<T>& sets)
    : ClusterController(std::move(name), context),
      resource_(resource),
      find_([&sets](const kube::ObjectKey& key) { return sets.Get(key); }) {
  Watch(sets, [this](const auto& before, const auto& after) {
    Enqueue(KeyText((after ? after : before)->metadata));
  });
  Watch(informers().pods, [this, &sets](const auto& before, const auto& after) {
    ForOwners(before, after, resource_, sets, [this](const std::string& key) { Enqueue(key); });
  });
}

std::unique_ptr<kube::Controller> ReplicaSetController::ForReplicaSets(ControllerContext& context) {
  return std::unique_ptr<kube::Controller>(new ReplicaSetController(
      "replicaset-controller", context, kube::kReplicaSets, context.informers.replica_sets));
}

std::unique_ptr<kube::Controller> ReplicaSetController::ForReplicationControllers(
    ControllerContext& context) {
  return std::unique_ptr<kube::Controller>(
      new ReplicaSetController("replication-controller", context, kube::kReplicationControllers,
                               context.informers.replication_controllers));
}

kube::Plan ReplicaSetController::Decide(const std::string& key) {
  kube::Plan plan;
  const auto set = find_(kube::ParseKey(key));
  if (set == nullptr) {
    failures_.erase(key);
    return plan;
  }
  const PodList pods =
      ClaimAll(informers().pods, kube::kPods, {resource_, set->metadata}, set->spec.selector, plan);
  const auto failure = failures_.find(key);
  ReplicaSetInput input{.resource = resource_,
                        .set = *set,
                        .pods = pods,
                        .neighbours = [&] { return NeighboursOf(*set); },
                        .now = Now()};
  if (failure != failures_.end()) input.failure = failure->second;
  PlanReplicaSet(input, context().random, plan);
  return plan;
}

// How many active pods of the same deployment (or else of the set itself) each node has.
std::map<std::string, int> ReplicaSetController::NeighboursOf(const kube::ReplicaSet& set) {
  std::map<std::string, int> neighbours;
  const auto count = [&](const std::string& uid) {
    for (const PodPtr& pod : informers().pods.ByIndex(kube::kByOwner, uid)) {
      if (IsActive(*pod) && kube::IsAssigned(*pod)) ++neighbours[pod->spec.node_name];
    }
  };
  const kube::OwnerReference* owner = kube::ControllerOf(set.metadata);
  if (owner == nullptr) {
    count(set.metadata.uid);
    return neighbours;
  }
  for (const auto& sibling : informers().replica_sets.ByIndex(kube::kByOwner, owner->uid)) {
    count(sibling->metadata.uid);
  }
  return neighbours;
}

void ReplicaSetController::OnRefused(const std::string& key, const kube::Write& write,
                                     const Status& status) {
  if (write.resource != kube::kPods) return;
  const bool creating = write.verb == kube::Write::Verb::kCreate;
  failures_[key] = {.reason = creating ? "FailedCreate" : "FailedDelete",
                    .message = std::string(Message(status))};
  const auto set = find_(kube::ParseKey(key));
  if (set == nullptr) return;
  WarnNow(resource_, set->metadata, failures_[key].reason,
          (creating ? "Error creating: " : "Error deleting: ") + failures_[key].message);
}

}  // namespace koord::localcluster
