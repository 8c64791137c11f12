#include "localcluster/nodes/simulated_nodes.h"

#include <utility>

#include "kube/resources.h"
#include "localcluster/nodes/node_objects.h"

namespace koord::localcluster {

SimulatedNodes::SimulatedNodes(ControllerContext& context, kube::Client& reports,
                               SimulatedNodesOptions options)
    : context_(context),
      adopt_(options.adopt),
      agents_(options.agents),
      machines_(options.nodes),
      registrar_(context, machines_, options.make_node_metrics),
      runner_(context, machines_, options.times),
      heartbeats_(reports, context.informers, machines_, options.seed) {}

void SimulatedNodes::Start() {
  context_.informers.nodes.AddHandler(scope_.Wrap([this](const auto& before, const auto& after) {
    if (after == nullptr) {
      machines_.Reset(before->metadata.name);
      if (agents_ != nullptr) agents_->End(before->metadata.name);
    } else if (before == nullptr) {
      OnNode(*after);
    }
  }));
  context_.informers.WhenSynced(scope_.Wrap([this] {
    RemoveUnplanned();
    for (const auto& [name, machine] : machines_.all()) {
      if (machine.plan()) registrar_.Register(name);
    }
  }));
}

void SimulatedNodes::OnNode(const kube::Node& node) {
  const std::string& name = node.metadata.name;
  if (machines_.Find(name) == nullptr) {
    if (!adopt_) return;
    machines_.Adopt(name);
    registrar_.Register(name);
  }
  Begin(name);
}

void SimulatedNodes::Begin(const std::string& node) {
  heartbeats_.Begin(node);
  runner_.Revisit(node);
  if (agents_ != nullptr) agents_->Begin(node);
}

void SimulatedNodes::RemoveUnplanned() {
  for (const auto& node : context_.informers.nodes.List()) {
    const bool ours = node->metadata.annotations.contains(kShapeAnnotation);
    const Machine* machine = machines_.Find(node->metadata.name);
    if (!ours || (machine != nullptr && machine->plan())) continue;
    Send(context_.client, Delete(kube::kNodes, node->metadata), [](StatusOr<kube::Json>) {});
  }
}

void SimulatedNodes::Fail(const std::string& node) {
  if (Machine* machine = machines_.Find(node)) machine->failed = true;
  if (agents_ != nullptr) agents_->End(node);
}

void SimulatedNodes::Recover(const std::string& node) {
  Machine* machine = machines_.Find(node);
  if (machine == nullptr) return;
  machine->failed = false;
  registrar_.Register(node);
  Begin(node);
}

}  // namespace koord::localcluster
