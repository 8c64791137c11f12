#include "localcluster/nodes/node_registrar.h"

#include <algorithm>

#include "api/resources.h"
#include "kube/resources.h"
#include "localcluster/nodes/node_objects.h"

namespace koord::localcluster {

NodeRegistrar::NodeRegistrar(ControllerContext& context, Machines& machines, bool make_node_metrics)
    : ClusterController("kubelet", context, 32),
      machines_(machines),
      make_node_metrics_(make_node_metrics) {
  Watch(informers().nodes, [this](const auto& before, const auto& after) {
    if (after != nullptr) Enqueue(after->metadata.name);
    if (after == nullptr) furnished_.erase(before->metadata.name);
  });
}

bool NodeRegistrar::complete() {
  return std::ranges::all_of(machines_.all(), [this](const auto& machine) {
    return !machine.second.plan() || IsInService(machine.first);
  });
}

bool NodeRegistrar::IsInService(const std::string& name) {
  if (!created_.contains(name)) return false;
  const auto node = informers().nodes.Get({"", name});
  if (node == nullptr) return true;
  const kube::NodeCondition* ready = kube::FindCondition(node->status.conditions, "Ready");
  return furnished_.contains(name) && ready != nullptr && ready->status == "True";
}

kube::Plan NodeRegistrar::Decide(const std::string& name) {
  kube::Plan plan;
  const Machine* machine = machines_.Find(name);
  if (machine == nullptr || machine->failed) return plan;
  const auto node = informers().nodes.Get({"", name});
  if (node == nullptr) {
    if (machine->plan() && !created_.contains(name)) {
      plan.Add(
          CreateUnlessThere(kube::kNodes, NodeObject(*machine->plan(), machine->number(), Now())));
    }
    return plan;
  }
  created_.insert(name);
  if (kube::IsBeingDeleted(node->metadata)) return plan;
  if (!furnished_.contains(name)) MakeCompanions(*node, *machine, plan);
  KeepShape(*node, *machine, plan);
  KeepReady(*node, *machine, plan);
  return plan;
}

void NodeRegistrar::OnDone(const std::string& name) {
  if (informers().nodes.Get({"", name}) != nullptr) furnished_.insert(name);
}

void NodeRegistrar::MakeCompanions(const kube::Node& node, const Machine& machine,
                                   kube::Plan& plan) {
  const std::string& name = node.metadata.name;
  const std::string& uid = node.metadata.uid;
  plan.Add(CreateUnlessThere(kube::kLeases, LeaseObject(name, uid, Now())));
  if (make_node_metrics_) {
    plan.Add(CreateUnlessThere(api::kNodeMetrics, NodeMetricObject(name, uid)));
  }
  if (!machine.plan()) return;
  plan.Add(CreateUnlessThere(api::kNodeResourceTopologies, TopologyObject(*machine.plan(), uid)));
  if (machine.plan()->shape.gpus > 0) {
    plan.Add(CreateUnlessThere(api::kDevices, DeviceObject(*machine.plan(), uid)));
  }
}

// Whoever wrote a Node by hand may say that it is not ready; what the cluster itself has concluded
// from our silence is corrected.
void NodeRegistrar::KeepReady(const kube::Node& node, const Machine& machine, kube::Plan& plan) {
  const kube::NodeCondition* ready = kube::FindCondition(node.status.conditions, "Ready");
  const bool wrong =
      ready == nullptr || ready->status == "Unknown" || (machine.plan() && ready->status != "True");
  if (!wrong) return;
  plan.Add(StrategicPatch(kube::kNodes, node.metadata,
                          {{"metadata", {{"uid", node.metadata.uid}}},
                           {"status", {{"conditions", WorkingConditions(Now())}}}},
                          "status"));
}

void NodeRegistrar::KeepShape(const kube::Node& node, const Machine& machine, kube::Plan& plan) {
  if (!machine.plan()) return;
  const std::string shape = ToString(machine.plan()->shape);
  if (kube::ValueOf(node.metadata.annotations, kShapeAnnotation) == shape) return;
  kube::Write status =
      MergePatch(kube::kNodes, node.metadata, ResourcesStatus(machine.plan()->shape));
  status.subresource = "status";
  plan.Add(std::move(status));
  plan.Add(MergePatch(kube::kNodes, node.metadata,
                      {{"metadata", {{"annotations", {{kShapeAnnotation, shape}}}}}}));
}

}  // namespace koord::localcluster
