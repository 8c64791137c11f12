#include "localcluster/controllers/podgc/pod_gc_plan.h"

#include <algorithm>
#include <tuple>

#include "kube/resources.h"
#include "localcluster/controllers/common/disruption_mark.h"

namespace koord::localcluster {

void PlanOrphans(const PodList& pods, WallTime now, kube::Plan& plan) {
  for (const PodPtr& pod : pods) {
    if (!kube::IsTerminal(*pod)) {
      plan.Add(MarkDisrupted(*pod, {"DeletionByPodGC", "PodGC: node no longer exists"}, now,
                             DisruptedPhase::kFailed));
    }
    plan.Add(DeleteNow(kube::kPods, pod->metadata));
  }
}

void PlanSurplusOfEnded(PodList ended, size_t limit, kube::Plan& plan) {
  if (ended.size() <= limit) return;
  std::sort(ended.begin(), ended.end(), [](const PodPtr& a, const PodPtr& b) {
    return std::tie(a->metadata.creation_timestamp, a->metadata.ns, a->metadata.name) <
           std::tie(b->metadata.creation_timestamp, b->metadata.ns, b->metadata.name);
  });
  for (size_t i = 0; i < ended.size() - limit; ++i) {
    plan.Add(DeleteNow(kube::kPods, ended[i]->metadata));
  }
}

}  // namespace koord::localcluster
