#include "localcluster/controllers/replicaset/replica_set_controller.h"

#include "kube/resources.h"
#include "localcluster/controllers/common/ownership.h"

namespace koord::localcluster {

ReplicaSetController::ReplicaSetController(ControllerContext& context)
    : Controller("replicaset-controller", context) {
  Watch(informers().replica_sets, [this](const auto& before, const auto& after) {
    Enqueue(KeyText((after ? after : before)->metadata));
  });
  Watch(informers().pods, [this](const auto& before, const auto& after) {
    ForOwners(before, after, kube::kReplicaSets, informers().replica_sets,
              [this](const std::string& key) { Enqueue(key); });
  });
}

Plan ReplicaSetController::Decide(const std::string& key) {
  Plan plan;
  const auto set = informers().replica_sets.Get(ParseKey(key));
  if (set == nullptr) {
    failures_.erase(key);
    return plan;
  }
  const PodList pods = ClaimAll(informers().pods, kube::kPods, {kube::kReplicaSets, set->metadata},
                                set->spec.selector, plan);
  const auto failure = failures_.find(key);
  ReplicaSetInput input{.set = *set, .pods = pods, .neighbours = NeighboursOf(*set), .now = Now()};
  if (failure != failures_.end()) input.failure = failure->second;
  PlanReplicaSet(input, context().random, plan);
  return plan;
}

// How many active pods of the same deployment (or else of the set itself) each node has.
std::map<std::string, int> ReplicaSetController::NeighboursOf(const kube::ReplicaSet& set) {
  std::map<std::string, int> neighbours;
  const auto count = [&](const std::string& uid) {
    for (const PodPtr& pod : informers().pods.ByIndex(SharedInformers::kByOwner, uid)) {
      if (IsActive(*pod) && kube::IsAssigned(*pod)) ++neighbours[pod->spec.node_name];
    }
  };
  const kube::OwnerReference* owner = kube::ControllerOf(set.metadata);
  if (owner == nullptr) {
    count(set.metadata.uid);
    return neighbours;
  }
  for (const auto& sibling :
       informers().replica_sets.ByIndex(SharedInformers::kByOwner, owner->uid)) {
    count(sibling->metadata.uid);
  }
  return neighbours;
}

void ReplicaSetController::OnRefused(const std::string& key, const Write& write,
                                     const Status& status) {
  if (write.resource != kube::kPods) return;
  const bool creating = write.verb == Write::Verb::kCreate;
  failures_[key] = {.reason = creating ? "FailedCreate" : "FailedDelete",
                    .message = std::string(Message(status))};
  const auto set = informers().replica_sets.Get(ParseKey(key));
  if (set == nullptr) return;
  Plan told;
  told.Warn(kube::kReplicaSets, set->metadata, failures_[key].reason,
            (creating ? "Error creating: " : "Error deleting: ") + failures_[key].message);
  context().tell(name(), told.notes.front());
}

}  // namespace koord::localcluster
