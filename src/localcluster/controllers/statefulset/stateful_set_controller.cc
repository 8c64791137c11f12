#include "localcluster/controllers/statefulset/stateful_set_controller.h"

#include <fmt/format.h>

#include "kube/resources.h"
#include "localcluster/controllers/common/ownership.h"
#include "localcluster/controllers/statefulset/stateful_set_plan.h"

namespace koord::localcluster {

StatefulSetController::StatefulSetController(ControllerContext& context)
    : ClusterController("statefulset-controller", context) {
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

kube::Plan StatefulSetController::Decide(const std::string& key) {
  kube::Plan plan;
  const auto set = informers().stateful_sets.Get(kube::ParseKey(key));
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

void StatefulSetController::OnRefused(const std::string& key, const kube::Write& write,
                                      const Status& status) {
  const auto object = informers().stateful_sets.Get(kube::ParseKey(key));
  if (object == nullptr || write.verb != kube::Write::Verb::kCreate) return;
  WarnNow(kube::kStatefulSets, object->metadata, "FailedCreate",
          fmt::format("create {} {} in StatefulSet {} failed error: {}", write.resource.kind,
                      write.key.name, object->metadata.name, Message(status)));
}

}  // namespace koord::localcluster
