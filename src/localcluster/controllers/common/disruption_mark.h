#pragma once
#include "base/clock.h"
#include "kube/controller/write.h"
#include "kube/eviction/pod_eviction.h"
#include "kube/objects/pod.h"
#include "kube/resources.h"

namespace koord::localcluster {

enum class DisruptedPhase { kUnchanged, kFailed };

// Writes onto a pod why the control plane is about to remove it, for whoever counts failures.
inline kube::Write MarkDisrupted(const kube::Pod& pod, const kube::Disruption& disruption,
                                 WallTime now, DisruptedPhase phase = DisruptedPhase::kUnchanged) {
  kube::Json patch = kube::DisruptionPatch(pod.metadata, disruption, now);
  if (phase == DisruptedPhase::kFailed) kube::At(patch, {"status", "phase"}) = "Failed";
  return StrategicPatch(kube::kPods, pod.metadata, std::move(patch), "status");
}

}  // namespace koord::localcluster
