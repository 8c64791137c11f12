#pragma once
#include <string>

#include "api/node_metric.h"
#include "base/random.h"
#include "base/scope.h"
#include "kube/client/client.h"
#include "kube/client/informer.h"
#include "kube/client/work_queue.h"
#include "localcluster/nodes/load_model.h"
#include "localcluster/nodes/machines.h"
#include "localcluster/nodes/node_agents.h"
#include "localcluster/nodes/node_metrics.h"
#include "localcluster/shared/shared_informers.h"

namespace koord::localcluster {

// The signs of life of all simulated machines: Leases every 10 seconds and NodeMetrics as often as
// their spec asks. Spread over time, so that a thousand nodes make a steady trickle.
class NodeReporter {
 public:
  // NodeMetrics that `agents` report are left to them; null: there are none.
  // `client` is for these reports alone: whoever counts what a cluster does can leave them out.
  NodeReporter(kube::Client& client, SharedInformers& informers, Machines& machines,
               LoadModels load, uint64_t seed, const NodeAgents* agents = nullptr);

  void Start();
  // A machine that is there from now on, or works again.
  void Begin(const std::string& node);

 private:
  // The part of a NodeMetric that says how to report.
  struct MetricSpec {
    kube::ObjectMeta metadata;
    api::NodeMetricSpec spec;

    static void Fields(auto& self, auto&& field) {
      field("metadata", self.metadata);
      field("spec", self.spec);
    }
  };

  void Renew(const std::string& node, kube::WorkQueue::Finish done);
  void Report(const std::string& node, kube::WorkQueue::Finish done);
  kube::Json Measure(const kube::Node& node, Machine& machine, const ReportPolicy& policy);
  Duration Within(Duration span);

  kube::Client& client_;
  SharedInformers& informers_;
  Machines& machines_;
  LoadModels load_;
  const uint64_t seed_;
  const NodeAgents* const agents_;
  Random random_;
  kube::Informer<MetricSpec> metrics_;
  kube::WorkQueue renewals_;
  kube::WorkQueue reports_;
  Scope scope_;
};

}  // namespace koord::localcluster
