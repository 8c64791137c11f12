#pragma once
#include <memory>
#include <string>

#include "base/metrics/metrics.h"
#include "base/string_map.h"
#include "manager/controller/node_controller.h"
#include "manager/noderesource/explain.h"
#include "manager/noderesource/node_decision.h"
#include "manager/noderesource/node_patch.h"
#include "manager/noderesource/node_problems.h"

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

  // Why it offers as much of a resource as it does.
  StatusOr<ResourceExplanation> Explain(const std::string& node, std::string_view resource);

 private:
  kube::Plan Decide(const std::string& name) override;
  void OnWritten(const std::string& name, const kube::Write& write,
                 const kube::Json& answer) override;
  void OnRefused(const std::string& name, const kube::Write& write, const Status& status) override;

  kube::Plan PlanFor(const kube::Node& node, const NodeDecision& decision);
  static std::optional<kube::Write> WriteZones(const api::NodeResourceTopology* topology,
                                               const NodeDecision& decision);
  std::optional<kube::Write> WriteNode(const kube::Node& node, const NodeDecision& decision);
  void CountWrite(const kube::Write& write, bool ok);
  // When what is known of a node becomes too old to be relied on.
  std::optional<Duration> UntilStale(const std::string& name, const NodeDecision& decision) const;
  NodeFacts FactsOf(const kube::Node& node) const;
  void Measure(const std::string& name, const NodeDecision& decision);
  void Count(bool ok, std::string_view reason);
  void Forget(const std::string& name);

  const NodeResourceOptions options_;
  StringMap<SteadyTime> synced_;  // when a node's resources were last as they should be
  StringSet syncing_;             // nodes whose resources are being written
  NodeProblems problems_;
  metrics::Counters& counts_;
  metrics::Counters& plugins_;
  metrics::Gauges& amounts_;
};

}  // namespace koord::manager
