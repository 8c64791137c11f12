#pragma once
#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "api/node_metric.h"
#include "api/node_resource_topology.h"
#include "api/node_slo.h"
#include "base/known_problems.h"
#include "base/random.h"
#include "base/scope.h"
#include "kube/client/client.h"
#include "kube/controller/informer_set.h"
#include "kube/controller/work_queue.h"
#include "kube/events/event_recorder.h"
#include "kube/informer/informer.h"
#include "localcluster/informers/cluster_informers.h"
#include "localcluster/nodes/load_model.h"
#include "localcluster/nodes/node_agents.h"

namespace koord::koordlet {
class MemoryMachine;
}

namespace koord::localcluster {

struct NodeShape;

// koordlet on simulated machines: the same one as on real nodes, which measures, reports,
// suppresses and evicts as the node's NodeSLO asks.
//
// All of them look every 15 seconds instead of every second, at different moments, so that a
// thousand are a steady trickle. Nodes whose reports others write have none (kReportAnnotation).
class NodeKoordlets final : public NodeAgents {
 public:
  static constexpr Duration kInterval = std::chrono::seconds(15);

  // `client` is for what koordlets write. What `lender` has of their objects is not asked for
  // again; null: all of it is. All outlive them.
  NodeKoordlets(kube::Client& client, ClusterInformers& informers, kube::InformerSet* lender,
                LoadModels load, uint64_t seed);
  ~NodeKoordlets() override;

  void Start();

  void Begin(const std::string& node) override;
  void End(const std::string& node) override;

  Protection protection() const;
  // What is reported of all nodes.
  std::vector<std::shared_ptr<const api::NodeMetric>> reports() const { return metrics_.List(); }

 private:
  class Running;

  // The machine that all of a shape are made like: they share what it has.
  const koordlet::MemoryMachine& ModelOf(const NodeShape& shape);
  void Follow(const std::string& node);
  void Remove(const std::string& node);
  Running* Find(const std::string& node) const;
  std::vector<std::shared_ptr<const kube::Pod>> PodsOf(const std::string& node);
  bool synced() const;

  kube::Client& client_;
  ClusterInformers& informers_;
  const LoadModels load_;
  const uint64_t seed_;
  Random random_;
  kube::InformerSet of_koordlets_;  // the objects that only koordlets look at, and some lender
  kube::Informer<api::NodeSlo>& slos_;
  kube::Informer<api::NodeMetric>& metrics_;
  kube::Informer<api::NodeResourceTopology>& topologies_;
  std::unique_ptr<kube::EventRecorder> events_;
  kube::WorkQueue changed_;        // nodes whose pods are to be looked at again
  std::set<std::string> working_;  // machines that are there
  std::map<std::array<int64_t, 5>, std::unique_ptr<koordlet::MemoryMachine>> models_;
  std::map<std::string, std::unique_ptr<Running>> running_;
  Protection past_;  // of those that run no more
  KnownProblems known_problems_;
  Scope scope_;
};

}  // namespace koord::localcluster
