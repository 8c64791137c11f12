#include "localcluster/controllers/statefulset/stateful_set_controller.h"

#include "kube/resources.h"
#include "localcluster/controllers/common/ownership.h"
#include "localcluster/controllers/statefulset/stateful_set_plan.h"

namespace koord::localcluster {

StatefulSetController::StatefulSetController(ControllerContext& context)
    : Controller("statefulset-controller", context) {
  Watch(informers().stateful_sets, [this](const auto& before, const auto& after) {
    Enqueue(KeyText((after ? after : before)->metadata));
  });
  const auto enqueue = [this](const std::string& key) { Enqueue(key); };
  Watch(informers().pods, [this, enqueue](const auto& before, const auto& after) {
    ForOwners(before, after, kube::kStatefulSets, informers().stateful_sets, enqueue);
  });
  Watch(informers().controller_revisions, [this, enqueue](const auto& before, const auto& after) {
    ForOwners(before, after, kube::kStatefulSets, informers().stateful_sets, enqueue);
  });
}

Plan StatefulSetController::Decide(const std::string& key) {
  Plan plan;
  const auto set = informers().stateful_sets.Get(ParseKey(key));
  if (set == nullptr) return plan;
  const Owner owner{kube::kStatefulSets, set->metadata};
  const PodList pods = ClaimAll(informers().pods, kube::kPods, owner, set->spec.selector, plan);
  const RevisionList revisions =
      ClaimAll(informers().controller_revisions, kube::kControllerRevisions, owner,
               set->spec.selector, plan);
  PlanStatefulSet(
      {.set = *set,
       .pods = pods,
       .revisions = revisions,
       .revision_is_taken =
           [&](const std::string& name) {
             return informers().controller_revisions.Get({set->metadata.ns, name}) != nullptr;
           },
       .has_claim =
           [&](const std::string& name) {
             return informers().volume_claims.Get({set->metadata.ns, name}) != nullptr;
           },
       .now = Now()},
      plan);
  return plan;
}

}  // namespace koord::localcluster
