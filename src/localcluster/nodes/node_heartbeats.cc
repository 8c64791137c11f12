#include "localcluster/nodes/node_reporter.h"

#include <utility>

#include "api/resources.h"
#include "kube/api_error.h"
#include "kube/resources.h"
#include "localcluster/nodes/node_objects.h"
#include "localcluster/shared/write.h"

namespace koord::localcluster {
namespace {

constexpr Duration kRenewEvery = 10s;
constexpr double kRenewJitter = 0.04;
// The first report comes when the first measurements are there.
constexpr Duration kFirstReport = 15s;
constexpr int kAtOnce = 16;

MachineSize SizeOf(const kube::Node& node) {
  const kube::ResourceList& list =
      node.status.capacity.empty() ? node.status.allocatable : node.status.capacity;
  return {kube::AmountOf(list, kube::kCpu).ToDouble(),
          kube::AmountOf(list, kube::kMemory).ToDouble()};
}

Usage AllocatableOf(const kube::Node& node) {
  return {kube::AmountOf(node.status.allocatable, kube::kCpu).ToDouble(),
          kube::AmountOf(node.status.allocatable, kube::kMemory).ToDouble()};
}

}  // namespace

NodeReporter::NodeReporter(kube::Client& client, SharedInformers& informers, Machines& machines,
                           LoadModels load, uint64_t seed, const NodeAgents* agents)
    : client_(client),
      informers_(informers),
      machines_(machines),
      load_(std::move(load)),
      seed_(seed),
      agents_(agents),
      random_(seed),
      metrics_(client, api::kNodeMetrics, {.seed = seed}),
      renewals_(
          client.loop(),
          [this](const std::string& node, auto done) { Renew(node, std::move(done)); }, kAtOnce),
      reports_(
          client.loop(),
          [this](const std::string& node, auto done) { Report(node, std::move(done)); }, kAtOnce) {}

void NodeReporter::Start() { metrics_.Start(); }

void NodeReporter::Begin(const std::string& node) {
  renewals_.AddAfter(node, Within(kRenewEvery));
  reports_.AddAfter(node, kFirstReport + Within(kFirstReport));
}

Duration NodeReporter::Within(Duration span) {
  return Duration(static_cast<int64_t>(static_cast<double>(span.count()) * random_.Fraction()));
}

void NodeReporter::Renew(const std::string& name, kube::WorkQueue::Finish done) {
  const Machine* machine = machines_.Find(name);
  const auto node = informers_.nodes.Get({"", name});
  if (machine == nullptr || machine->failed || node == nullptr) return done(true);
  const Duration jitter{static_cast<int64_t>(kRenewJitter * kRenewEvery.count())};
  renewals_.AddAfter(name, kRenewEvery - jitter / 2 + Within(jitter));
  const WallTime now = client_.loop().clock().Now();
  client_.Patch(
      kube::kLeases, {"kube-node-lease", name}, kube::PatchType::kMerge, LeaseRenewal(name, now),
      {},
      scope_.Wrap([this, name, uid = node->metadata.uid, now, done](StatusOr<kube::Json> answer) {
        if (!kube::IsNotFound(answer.status())) return done(true);
        client_.Create(kube::kLeases, "kube-node-lease",
                       Create(kube::kLeases, LeaseObject(name, uid, now)).body, {},
                       [done](StatusOr<kube::Json>) { done(true); });
      }));
}

void NodeReporter::Report(const std::string& name, kube::WorkQueue::Finish done) {
  Machine* machine = machines_.Find(name);
  const auto node = informers_.nodes.Get({"", name});
  if (machine == nullptr || machine->failed || node == nullptr) return done(true);
  const auto metric = metrics_.Get({"", name});
  const ReportPolicy policy = metric != nullptr ? PolicyOf(metric->spec) : ReportPolicy{};
  reports_.AddAfter(name, policy.interval);
  if (agents_ != nullptr && agents_->Reports(name)) return done(true);
  const kube::Json patch = Measure(*node, *machine, policy);
  const bool silent = kube::ValueOf(node->metadata.annotations, kReportAnnotation) == "false";
  if (metric == nullptr || silent) return done(true);
  client_.Patch(api::kNodeMetrics, {"", name}, kube::PatchType::kMerge, patch,
                {.subresource = "status"}, [done](StatusOr<kube::Json>) { done(true); });
}

kube::Json NodeReporter::Measure(const kube::Node& node, Machine& machine,
                                 const ReportPolicy& policy) {
  std::vector<MeasuredPod> pods;
  std::vector<PodLoad> loads;
  for (const auto& pod : informers_.pods.ByIndex(SharedInformers::kByNode, node.metadata.name)) {
    if (kube::IsTerminal(*pod) || !pod->status.start_time) continue;
    pods.push_back({pod, PodLoad(*pod, load_, seed_)});
    loads.push_back(pods.back().load);
  }
  const WallTime now = client_.loop().clock().Now();
  machine.history().MeasureUntil(now, policy.Longest(), node.metadata.creation_timestamp,
                                 SizeOf(node), SeedOf(node.metadata.name, seed_), loads);
  return StatusReplacement(NodeMetricStatusOf({.policy = policy,
                                               .history = machine.history(),
                                               .pods = pods,
                                               .allocatable = AllocatableOf(node),
                                               .now = now}));
}

}  // namespace koord::localcluster
