#pragma once
#include <optional>
#include <string>

#include "base/clock.h"
#include "kube/json.h"
#include "kube/objects/pod.h"

// What a node makes of its pods. Everything follows from the pod as the API shows it and the time,
// so a restarted simulation carries on where it was.
namespace koord::localcluster {

// For how long a pod's containers run before they end by themselves ("30s"; for ever if absent),
// and with which exit code (0 if absent).
inline constexpr const char* kRunDurationAnnotation = "local.koordinator.sh/run-duration";
inline constexpr const char* kExitCodeAnnotation = "local.koordinator.sh/exit-code";
// How long the containers take to end when they are told to.
inline constexpr const char* kStopDurationAnnotation = "local.koordinator.sh/stop-duration";

struct PodAddresses {
  std::string host_ip;
  std::string pod_ip;
};

// The status (as a strategic merge patch) of a pod whose containers have all just started.
kube::Json StartedStatus(const kube::Pod& pod, const PodAddresses& addresses, WallTime now);

struct PodStep {
  kube::Json status;             // a strategic merge patch; null: nothing to report
  bool remove = false;           // the pod has stopped: take it out of the API
  std::optional<WallTime> next;  // when there is something to do even if nothing changes
};

// What happens next to a pod that runs: its containers end when their time is over, are started
// again where the restart policy says so (at once, then 10, 20, 40, ... seconds later, at most 5
// minutes), and the pod fails at its active deadline. Ready follows its readiness gates.
PodStep StepRunning(const kube::Pod& pod, WallTime now);

// A pod that was told to go stops within its own stop duration or else `stop_time`, or its grace
// period if that is shorter. One that others hold on to by finalizers is first reported as ended.
PodStep StepTerminating(const kube::Pod& pod, Duration stop_time, WallTime now);

}  // namespace koord::localcluster
