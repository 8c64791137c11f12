#include "localcluster/placement/placement.h"

#include <fmt/format.h>

#include <utility>

#include "kube/objects/pod_resources.h"
#include "kube/resources.h"
#include "kube/time.h"

namespace koord::localcluster {
namespace {

bool IsOurs(const kube::Pod& pod) {
  const std::string& scheduler = pod.spec.scheduler_name;
  return (scheduler == "default-scheduler" || scheduler == "koord-scheduler") &&
         !kube::IsAssigned(pod) && !kube::IsBeingDeleted(pod.metadata) && !kube::IsTerminal(pod) &&
         pod.spec.scheduling_gates.empty();
}

// What placing depends on; conditions and heart-beats do not.
bool OffersTheSame(const kube::Node& a, const kube::Node& b) {
  return a.spec == b.spec && a.metadata.labels == b.metadata.labels &&
         a.status.allocatable == b.status.allocatable;
}

}  // namespace

Placement::Placement(ControllerContext& context) : Controller("default-scheduler", context, 1) {
  Watch(informers().pods, [this](const auto& before, const auto& after) {
    if (after != nullptr) return OnPod(*after);
    waiting_.erase(KeyText(before->metadata));
    Uncount(before->metadata.uid);
  });
  Watch(informers().nodes, [this](const auto& before, const auto& after) {
    if (after == nullptr) return;
    if (before == nullptr || !OffersTheSame(*before, *after)) RetryWaiting();
  });
}

void Placement::OnPod(const kube::Pod& pod) {
  if (kube::IsTerminal(pod)) return Uncount(pod.metadata.uid);
  if (kube::IsAssigned(pod)) return Count(pod, pod.spec.node_name);
  const std::string key = KeyText(pod.metadata);
  if (IsOurs(pod) && !waiting_.contains(key)) Enqueue(key);
}

void Placement::Count(const kube::Pod& pod, const std::string& node) {
  waiting_.erase(KeyText(pod.metadata));
  const auto [placed, is_new] = placed_.try_emplace(pod.metadata.uid);
  if (!is_new && placed->second.node == node) return;
  if (!is_new) {
    Uncount(pod.metadata.uid);
    return Count(pod, node);
  }
  placed->second = {.node = node, .requests = kube::PodRequests(pod)};
  NodeUse& use = uses_[node];
  kube::AddTo(use.requested, placed->second.requests);
  ++use.pods;
}

void Placement::Uncount(const std::string& uid) {
  const auto placed = placed_.find(uid);
  if (placed == placed_.end()) return;
  NodeUse& use = uses_[placed->second.node];
  kube::SubtractFrom(use.requested, placed->second.requests);
  if (--use.pods == 0) uses_.erase(placed->second.node);
  placed_.erase(placed);
  RetryWaiting();
}

void Placement::RetryWaiting() {
  for (const std::string& key : std::exchange(waiting_, {})) Enqueue(key);
}

Plan Placement::Decide(const std::string& key) {
  Plan plan;
  const auto pod = informers().pods.Get(ParseKey(key));
  // One that is placed already waits for its binding to show.
  if (pod == nullptr || !IsOurs(*pod) || placed_.contains(pod->metadata.uid)) return plan;
  const NodeChoice choice = ChooseNode(*pod, informers().nodes.List(), uses_);
  if (choice.node.empty()) {
    waiting_.insert(key);
    return Explain(*pod, choice.message);
  }
  Count(*pod, choice.node);
  plan.Add(Bind(pod->metadata, choice.node));
  plan.Tell(kube::kPods, pod->metadata, "Scheduled",
            fmt::format("Successfully assigned {} to {}", key, choice.node));
  return plan;
}

Plan Placement::Explain(const kube::Pod& pod, const std::string& message) {
  Plan plan;
  const auto* known = kube::FindCondition(pod.status.conditions, "PodScheduled");
  if (known != nullptr && known->status == "False" && known->message == message) return plan;
  const bool still = known != nullptr && known->status == "False" && known->last_transition_time;
  const WallTime since = still ? *known->last_transition_time : Now();
  const kube::Json condition{
      {"type", "PodScheduled"},    {"status", "False"},
      {"reason", "Unschedulable"}, {"message", message},
      {"lastProbeTime", nullptr},  {"lastTransitionTime", kube::FormatTime(since)}};
  plan.Add(StrategicPatch(kube::kPods, pod.metadata,
                          {{"metadata", {{"uid", pod.metadata.uid}}},
                           {"status", {{"conditions", kube::json::array{condition}}}}},
                          "status"));
  plan.Warn(kube::kPods, pod.metadata, "FailedScheduling", message);
  return plan;
}

void Placement::OnRefused(const std::string& key, const Write& write, const Status&) {
  if (write.subresource != "binding") return;
  const auto pod = informers().pods.Get(ParseKey(key));
  if (pod != nullptr && !kube::IsAssigned(*pod)) Uncount(pod->metadata.uid);
}

}  // namespace koord::localcluster
