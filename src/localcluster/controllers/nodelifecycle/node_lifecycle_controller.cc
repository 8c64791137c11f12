#include "localcluster/controllers/nodelifecycle/node_lifecycle_controller.h"

#include <fmt/format.h>

#include <utility>

#include "kube/resources.h"
#include "kube/time.h"

namespace koord::localcluster {
namespace {

constexpr Duration kGrace = 50s;
constexpr Duration kStartGrace = 60s;

kube::Json EncodeAll(const auto& items) {
  kube::json::array list;
  for (const auto& item : items) list.push_back(kube::Encode(item));
  return list;
}

// Times of heart-beats aside.
bool ReportsAnew(const kube::Node& before, const kube::Node& after) {
  const auto* was = kube::FindCondition(before.status.conditions, "Ready");
  const auto* is = kube::FindCondition(after.status.conditions, "Ready");
  if (is == nullptr || is->status == "Unknown") return false;
  return was == nullptr || was->last_heartbeat_time != is->last_heartbeat_time ||
         was->status != is->status;
}

}  // namespace

NodeLifecycleController::NodeLifecycleController(ControllerContext& context)
    : ClusterController("node-controller", context), attentive_(context.client) {
  Watch(informers().nodes, [this](const auto& before, const auto& after) {
    ReviewZones(before.get(), after.get());
    if (after == nullptr) {
      last_sign_.erase(before->metadata.name);
      return;
    }
    if (before == nullptr || ReportsAnew(*before, *after)) SawLife(after->metadata.name);
    Enqueue(after->metadata.name);
  });
  Watch(informers().leases, [this](const auto& before, const auto& after) {
    if (after == nullptr || after->metadata.ns != "kube-node-lease") return;
    if (before == nullptr || before->spec.renew_time != after->spec.renew_time) {
      SawLife(after->metadata.name);
    }
  });
}

void NodeLifecycleController::SawLife(const std::string& name) {
  attentive_.Start();
  last_sign_[name] = attentive_.Now();
}

void NodeLifecycleController::ReviewZones(const kube::Node* before, const kube::Node* after) {
  const bool was_all_down = pace_.all_down();
  for (const std::string& zone : pace_.Update(before, after)) {
    for (const std::string& name : held_back_[zone]) Enqueue(name);
    held_back_.erase(zone);
  }
  // What is known at first changes from node to node, and everything is decided later anyway.
  if (pace_.all_down() == was_all_down || !informers().synced()) return;
  for (const auto& node : informers().nodes.List()) Enqueue(node->metadata.name);
}

kube::Plan NodeLifecycleController::Decide(const std::string& name) {
  kube::Plan plan;
  const auto node = informers().nodes.Get({"", name});
  if (node == nullptr) return plan;
  CheckHeartbeat(*node, plan);
  // What follows rests on conditions; if they change now, it waits for that.
  if (plan.writes.empty()) UpdateTaints(*node, plan);
  return plan;
}

void NodeLifecycleController::CheckHeartbeat(const kube::Node& node, kube::Plan& plan) {
  const SteadyTime now = attentive_.Now();
  const SteadyTime last = last_sign_.emplace(node.metadata.name, now).first->second;
  const bool reported = kube::FindCondition(node.status.conditions, "Ready") != nullptr;
  const Duration left = last + (reported ? kGrace : kStartGrace) - now;
  if (left > Duration::zero()) return plan.AgainWithin(left);
  const auto conditions = ConditionsOfSilentNode(node, Now());
  if (conditions.empty()) return;
  plan.Add(StrategicPatch(kube::kNodes, node.metadata,
                          {{"metadata", {{"uid", node.metadata.uid}}},
                           {"status", {{"conditions", EncodeAll(conditions)}}}},
                          "status"));
  plan.Tell(kube::kNodes, node.metadata, "NodeNotReady",
            fmt::format("Node {} status is now: NodeNotReady", node.metadata.name));
  MarkPodsNotReady(node, plan);
}

void NodeLifecycleController::MarkPodsNotReady(const kube::Node& node, kube::Plan& plan) {
  for (const auto& pod : informers().pods.ByIndex(kube::kByNode, node.metadata.name)) {
    if (!kube::IsReady(*pod)) continue;
    const kube::Json condition{
        {"type", "Ready"}, {"status", "False"}, {"lastTransitionTime", kube::FormatTime(Now())}};
    plan.Add(StrategicPatch(kube::kPods, pod->metadata,
                            {{"metadata", {{"uid", pod->metadata.uid}}},
                             {"status", {{"conditions", kube::json::array{condition}}}}},
                            "status"));
    plan.Warn(kube::kPods, pod->metadata, "NodeNotReady", "Node is not ready");
  }
}

Evicting NodeLifecycleController::MayEvict(const kube::Node& node, kube::Plan& plan) {
  if (pace_.all_down()) return Evicting::kWithdrawn;
  if (!WantsEviction(node)) return Evicting::kNotYet;
  const auto wait = pace_.Wait(ZoneOf(node), context().clock().Steady());
  if (wait == Duration::zero()) return Evicting::kNow;
  if (wait) {
    plan.AgainWithin(*wait);
  } else {
    held_back_[ZoneOf(node)].insert(node.metadata.name);
  }
  return Evicting::kNotYet;
}

void NodeLifecycleController::UpdateTaints(const kube::Node& node, kube::Plan& plan) {
  const std::vector<kube::Taint> taints = TaintsFor(node, MayEvict(node, plan), Now());
  if (taints == node.spec.taints) return;
  // Written whole, so it must rest on the latest state.
  plan.Add(MergePatch(kube::kNodes, node.metadata,
                      {{"metadata", {{"resourceVersion", node.metadata.resource_version}}},
                       {"spec", {{"taints", EncodeAll(taints)}}}}));
}

}  // namespace koord::localcluster
