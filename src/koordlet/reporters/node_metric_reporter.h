#pragma once
#include <functional>
#include <memory>
#include <string>

#include "api/node_metric.h"
#include "base/event_loop.h"
#include "base/random.h"
#include "koordlet/reporters/node_metric_report.h"
#include "koordlet/reporters/object_writer.h"
#include "kube/client/token_bucket.h"

namespace koord::koordlet {

// Tells the cluster what the node uses, as often as the NodeMetric object asks for. The object
// itself is koord-manager's: as long as there is none, nothing is reported.
class NodeMetricReporter {
 public:
  using Build = std::function<api::NodeMetricStatus(const NodeMetricPolicy&)>;

  NodeMetricReporter(EventLoop& loop, kube::Client& client, const std::string& node, Build build,
                     uint64_t seed);

  // As it is in the cluster; null: there is none.
  void SetObject(const std::shared_ptr<const api::NodeMetric>& object);
  void Start();
  void Stop();

  const NodeMetricPolicy& policy() const { return policy_; }

 private:
  void Wait();
  void Report();

  const Build build_;
  ObjectWriter writer_;
  kube::TokenBucket limit_;
  Timer timer_;
  Random random_;
  bool running_ = false;
  bool exists_ = false;
  NodeMetricPolicy policy_;
};

}  // namespace koord::koordlet
