#include "scheduler/plugins/node_numa_resource/node_rules.h"

#include <cmath>

#include "api/keys.h"

namespace koord::scheduler {
namespace {

double CpuRatioIn(const api::AmplificationRatios& ratios) {
  const auto found = ratios.find(kube::kCpu);
  return found == ratios.end() ? 1 : found->second;
}

}  // namespace

int64_t Amplified(int64_t amount, double ratio) {
  if (ratio <= 1) return amount;
  return static_cast<int64_t>(std::ceil(static_cast<double>(amount) * ratio));
}

NodeRules NodeRulesOf(const kube::Node& node, const NodeTopology* topology) {
  NodeRules rules;
  const kube::Labels& labels = node.metadata.labels;
  const std::string_view bind = api::NodeCpuBindPolicyOf(
      labels, topology == nullptr ? api::KubeletCpuManagerPolicy() : topology->kubelet);
  if (bind == api::kNodeCpuBindFullPcpusOnly) rules.bind = model::CpuBindPolicy::kFullPcpus;
  if (bind == api::kNodeCpuBindSpreadByPcpus) rules.bind = model::CpuBindPolicy::kSpreadByPcpus;
  rules.policy = model::ParseNumaPolicy(kube::ValueOf(labels, api::kLabelNodeNumaTopologyPolicy));
  if (rules.policy == model::NumaPolicy::kNone && topology != nullptr) {
    rules.policy = topology->policy;
  }
  const std::string_view strategy = kube::ValueOf(labels, api::kLabelNodeNumaAllocateStrategy);
  if (!strategy.empty()) {
    rules.strategy = strategy == "MostAllocated" ? model::NumaAllocateStrategy::kMostAllocated
                                                 : model::NumaAllocateStrategy::kLeastAllocated;
  }
  const auto ratios = api::AmplificationRatiosOf(node.metadata.annotations);
  rules.ratios_are_bad = !ratios.ok();
  if (ratios.ok() && *ratios) {
    rules.node_cpu_ratio = CpuRatioIn(**ratios);
    rules.zone_ratios = **ratios;
  }
  rules.cpu_ratio = rules.node_cpu_ratio;
  if (topology != nullptr && topology->ratios) {
    rules.cpu_ratio = CpuRatioIn(*topology->ratios);
    rules.zone_ratios.clear();
  }
  return rules;
}

}  // namespace koord::scheduler
