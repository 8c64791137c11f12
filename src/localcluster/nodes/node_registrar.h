#pragma once
#include <set>
#include <string>

#include "localcluster/informers/cluster_controller.h"
#include "localcluster/nodes/machines.h"

namespace koord::localcluster {

// Makes the objects of the simulated machines, and keeps their Nodes ready while they work.
//
// A planned Node that is there already is taken over as it is; if its shape has changed, so does
// what it offers. One that a user deletes stays deleted until the next start, as a machine that was
// taken out of service.
class NodeRegistrar final : public ClusterController {
 public:
  // NodeMetrics are made here only where no koord-manager makes them.
  NodeRegistrar(ControllerContext& context, Machines& machines, bool make_node_metrics);

  void Register(const std::string& node) { Enqueue(node); }
  // All planned nodes are there with everything that belongs to them, and Ready; those that a user
  // has taken out of service do not count.
  bool complete();

 private:
  bool IsInService(const std::string& name);
  kube::Plan Decide(const std::string& name) override;
  void OnDone(const std::string& name) override;
  void MakeCompanions(const kube::Node& node, const Machine& machine, kube::Plan& plan);
  void KeepReady(const kube::Node& node, const Machine& machine, kube::Plan& plan);
  void KeepShape(const kube::Node& node, const Machine& machine, kube::Plan& plan);

  Machines& machines_;
  const bool make_node_metrics_;
  std::set<std::string> created_;    // planned Nodes that are there or have been
  std::set<std::string> furnished_;  // nodes that have all their other objects
};

}  // namespace koord::localcluster
