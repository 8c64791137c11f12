#include "localcluster/controllers/daemonset/daemon_set_controller.h"

#include "kube/resources.h"
#include "localcluster/controllers/common/ownership.h"
#include "localcluster/controllers/daemonset/daemon_set_plan.h"

namespace koord::localcluster {

DaemonSetController::DaemonSetController(ControllerContext& context)
    : ClusterController("daemonset-controller", context) {
  Watch(informers().daemon_sets, [this](const auto& before, const auto& after) {
    Enqueue(KeyText((after ? after : before)->metadata));
  });
  const auto enqueue = [this](const std::string& key) { Enqueue(key); };
  Watch(informers().pods, [this, enqueue](const auto& before, const auto& after) {
    ForOwners(before, after, kube::kDaemonSets, informers().daemon_sets, enqueue);
  });
  Watch(informers().controller_revisions, [this, enqueue](const auto& before, const auto& after) {
    ForOwners(before, after, kube::kDaemonSets, informers().daemon_sets, enqueue);
  });
  Watch(informers().nodes, [this](const auto& before, const auto& after) {
    // Heart-beats and usage change nodes all the time; daemons care for these only.
    const bool same = before != nullptr && after != nullptr &&
                      before->metadata.labels == after->metadata.labels &&
                      before->spec.taints == after->spec.taints;
    if (same) return;
    for (const auto& set : informers().daemon_sets.List()) Enqueue(KeyText(set->metadata));
  });
}

kube::Plan DaemonSetController::Decide(const std::string& key) {
  kube::Plan plan;
  const auto set = informers().daemon_sets.Get(kube::ParseKey(key));
  if (set == nullptr) return plan;
  const Owner owner{kube::kDaemonSets, set->metadata};
  const PodList pods = ClaimAll(informers().pods, kube::kPods, owner, set->spec.selector, plan);
  const RevisionList revisions =
      ClaimAll(informers().controller_revisions, kube::kControllerRevisions, owner,
               set->spec.selector, plan);
  const NodeList nodes = informers().nodes.List();
  PlanDaemonSet(
      {.set = *set,
       .pods = pods,
       .revisions = revisions,
       .nodes = nodes,
       .revision_is_taken =
           [&](const std::string& name) {
             return informers().controller_revisions.Get({set->metadata.ns, name}) != nullptr;
           },
       .now = Now()},
      context().random, plan);
  return plan;
}

void DaemonSetController::OnRefused(const std::string& key, const kube::Write& write,
                                    const Status& status) {
  const auto object = informers().daemon_sets.Get(kube::ParseKey(key));
  if (object == nullptr || write.verb != kube::Write::Verb::kCreate) return;
  WarnNow(kube::kDaemonSets, object->metadata, "FailedCreate",
          "Error creating: " + std::string(Message(status)));
}

}  // namespace koord::localcluster
