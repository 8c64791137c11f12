#pragma once
#include <memory>
#include <string>

#include "base/metrics/metrics.h"
#include "base/string_map.h"
#include "manager/cluster/node_controller.h"
#include "manager/cluster/own_writes.h"
#include "manager/noderesource/explain.h"
#include "manager/noderesource/node_decision.h"
#include "manager/noderesource/node_patch.h"

namespace koord::manager {

// Publishes on every node what it can lend to batch and mid pods, which devices it has, and what
// its CPUs are worth.
//
// A node is looked at when it, its usage, its devices, its topology or the configuration changes,
// and when its usage becomes too old to be relied on. A change is one patch of the node, and one of
// its topology where that lists NUMA zones.
class NodeResourceController final : public NodeController {
 public:
  NodeResourceController(ManagerContext& context, NodeResourceOptions options,
                         metrics::Registry& registry);

  // What would be decided about a node now; nothing if there is no such node or no configuration.
  std::optional<NodeDecision> Decide(const std::string& node);
  // Why it offers as much of a resource as it does.
  StatusOr<ResourceExplanation> Explain(const std::string& node, std::string_view resource);

 private:
  // The writes of one look at a node.
  struct Round {
    std::string name;
    std::shared_ptr<const kube::Node> node;
    std::shared_ptr<const api::NodeResourceTopology> topology;
    NodeDecision decision;
    kube::WorkQueue::Finish done;
    bool failed = false;
  };
  using RoundPtr = std::shared_ptr<Round>;

  void Reconcile(const std::string& name, kube::WorkQueue::Finish done) override;
  std::optional<Duration> AwaitOwnWrites(const Round& round);
  void WriteZones(const RoundPtr& round);
  void WriteNode(const RoundPtr& round);
  void Finish(const RoundPtr& round, bool synced);
  void ComeBackWhenStale(const Round& round);
  NodeFacts FactsOf(const kube::Node& node) const;
  void Measure(const Round& round);
  void Count(bool ok, std::string_view reason);
  void Forget(const std::string& name);

  const NodeResourceOptions options_;
  OwnWrites node_writes_;
  OwnWrites topology_writes_;
  StringMap<SteadyTime> synced_;  // when a node's resources were last as they should be
  metrics::Counters& counts_;
  metrics::Counters& plugins_;
  metrics::Gauges& amounts_;
};

}  // namespace koord::manager
