#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>

#include "api/node_metric.h"
#include "api/node_resource_topology.h"
#include "api/node_slo.h"
#include "base/random.h"
#include "base/scope.h"
#include "kube/client/client.h"
#include "kube/client/event_recorder.h"
#include "kube/client/informer.h"
#include "kube/client/work_queue.h"
#include "localcluster/nodes/load_model.h"
#include "localcluster/nodes/node_agents.h"
#include "localcluster/shared/shared_informers.h"

namespace koord::localcluster {

// koordlet on simulated machines: the same one as on real nodes, which measures, reports,
// suppresses and evicts as the node's NodeSLO asks.
//
// All of them look every 15 seconds instead of every second, at different moments, so that a
// thousand are a steady trickle. Nodes whose reports others write have none (kReportAnnotation).
class NodeKoordlets final : public NodeAgents {
 public:
  static constexpr Duration kInterval = std::chrono::seconds(15);

  // `client` is for what koordlets write; all of it outlives them.
  NodeKoordlets(kube::Client& client, SharedInformers& informers, LoadModels load, uint64_t seed);
  ~NodeKoordlets() override;

  void Start();

  void Begin(const std::string& node) override;
  void End(const std::string& node) override;

  Protection protection() const;

 private:
  class Running;
  // The part of a NodeMetric that says how to report.
  struct MetricSpec {
    kube::ObjectMeta metadata;
    api::NodeMetricSpec spec;

    static void Fields(auto& self, auto&& field) {
      field("metadata", self.metadata);
      field("spec", self.spec);
    }
  };

  void Follow(const std::string& node);
  void Remove(const std::string& node);
  Running* Find(const std::string& node) const;
  std::vector<std::shared_ptr<const kube::Pod>> PodsOf(const std::string& node) const;
  bool synced() const;
  std::shared_ptr<const api::NodeMetric> MetricOf(const std::string& node) const;

  kube::Client& client_;
  SharedInformers& informers_;
  const LoadModels load_;
  const uint64_t seed_;
  Random random_;
  kube::Informer<api::NodeSlo> slos_;
  kube::Informer<MetricSpec> metrics_;
  kube::Informer<api::NodeResourceTopology> topologies_;
  std::unique_ptr<kube::EventRecorder> events_;
  kube::WorkQueue changed_;        // nodes whose pods are to be looked at again
  std::set<std::string> working_;  // machines that are there
  std::map<std::string, std::unique_ptr<Running>> running_;
  Protection past_;  // of those that run no more
  Scope scope_;
};

}  // namespace koord::localcluster
