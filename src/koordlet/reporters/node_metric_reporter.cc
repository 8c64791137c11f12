#include "koordlet/reporters/node_metric_reporter.h"

#include "api/resources.h"
#include "base/log.h"

namespace koord::koordlet {
namespace {

// However the interval is set, the API server hears of a node at most this often.
constexpr double kReportsPerSecond = 0.1;
constexpr double kBurst = 2;

}  // namespace

NodeMetricReporter::NodeMetricReporter(EventLoop& loop, kube::Client& client,
                                       const std::string& node, Build build, uint64_t seed)
    : build_(std::move(build)),
      writer_(client, api::kNodeMetrics, node),
      limit_(loop.clock(), kReportsPerSecond, kBurst),
      timer_(loop),
      random_(seed) {}

void NodeMetricReporter::SetObject(const std::shared_ptr<const api::NodeMetric>& object) {
  exists_ = object != nullptr;
  if (!exists_) return;
  const NodeMetricPolicy policy = NodeMetricPolicyOf(object->spec);
  const bool same = policy == policy_;
  policy_ = policy;
  if (running_ && !same) Wait();
}

void NodeMetricReporter::Start() {
  running_ = true;
  Wait();
}

void NodeMetricReporter::Stop() {
  running_ = false;
  timer_.Cancel();
}

// Nodes that started together should not report together.
void NodeMetricReporter::Wait() {
  const auto jitter = Duration(random_.Below(static_cast<uint64_t>(policy_.interval.count()) / 20));
  timer_.Set(policy_.interval - jitter, [this] {
    Wait();
    Report();
  });
}

void NodeMetricReporter::Report() {
  if (!exists_ || writer_.busy()) return;
  if (!limit_.TryTake()) {
    LOG_V(4, "Too many reports, this one is left out");
    return;
  }
  writer_.Patch(NodeMetricPatch(build_(policy_)), "status");
}

}  // namespace koord::koordlet
