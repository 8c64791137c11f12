#include "scheduler/plugins/scheduling_gates/scheduling_gates.h"

#include <fmt/format.h>

#include <vector>

#include "base/strings.h"

namespace koord::scheduler {

Verdict SchedulingGates::PreEnqueue(const kube::Pod& pod) {
  if (pod.spec.scheduling_gates.empty()) return Verdict::Success();
  std::vector<std::string_view> names;
  for (const kube::PodSchedulingGate& gate : pod.spec.scheduling_gates) names.push_back(gate.name);
  return Verdict::Unresolvable(fmt::format("waiting for scheduling gates: [{}]", Join(names, " ")));
}

bool SchedulingGates::MightCure(const kube::Pod& rejected, const ClusterEvent& event) {
  if (event.kind == EventKind::kForced) return true;
  if (event.kind != EventKind::kPodUpdated) return false;
  const kube::Pod& pod = event.pod_after == nullptr ? rejected : *event.pod_after;
  return pod.spec.scheduling_gates.empty();
}

}  // namespace koord::scheduler
