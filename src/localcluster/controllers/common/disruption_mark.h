#pragma once
#include <string_view>

#include "base/clock.h"
#include "kube/objects/pod.h"
#include "kube/resources.h"
#include "kube/time.h"
#include "localcluster/shared/write.h"

namespace koord::localcluster {

enum class DisruptedPhase { kUnchanged, kFailed };

// Writes onto a pod why the control plane is about to remove it, for whoever counts failures.
inline Write MarkDisrupted(const kube::Pod& pod, std::string_view reason, std::string_view message,
                           WallTime now, DisruptedPhase phase = DisruptedPhase::kUnchanged) {
  const kube::Json condition{{"type", "DisruptionTarget"},
                             {"status", "True"},
                             {"reason", reason},
                             {"message", message},
                             {"lastTransitionTime", kube::FormatTime(now)}};
  kube::Json patch{{"metadata", {{"uid", pod.metadata.uid}}},
                   {"status", {{"conditions", kube::json::array{condition}}}}};
  if (phase == DisruptedPhase::kFailed) kube::At(patch, {"status", "phase"}) = "Failed";
  return StrategicPatch(kube::kPods, pod.metadata, std::move(patch), "status");
}

}  // namespace koord::localcluster
