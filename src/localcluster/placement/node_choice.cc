#include "localcluster/placement/node_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/strings.h"
#include "kube/objects/pod_resources.h"

namespace koord::localcluster {
namespace {

using Reasons = std::vector<std::string>;

Reasons Shortages(const kube::ResourceList& requests, const kube::Node& node, const NodeUse& use) {
  Reasons reasons;
  const kube::ResourceList& there = node.status.allocatable;
  const auto most = there.find(kube::kPodCount);
  if (most != there.end() && use.pods + 1 > most->second.Value()) {
    reasons.emplace_back("Too many pods");
  }
  for (const auto& [resource, amount] : requests) {
    if (amount.Sign() <= 0) continue;
    if (kube::AmountOf(use.requested, resource) + amount > kube::AmountOf(there, resource)) {
      reasons.push_back(fmt::format("Insufficient {}", resource));
    }
  }
  return reasons;
}

Reasons WhyNot(const kube::Pod& pod, const kube::ResourceList& requests, const kube::Node& node,
               const NodeUse& use) {
  const kube::Taint cordon{.key = std::string(kube::kTaintNodeUnschedulable),
                           .effect = std::string(kube::kNoSchedule)};
  if (node.spec.unschedulable && !kube::Tolerates(pod.spec.tolerations, cordon)) {
    return {"node(s) were unschedulable"};
  }
  if (kube::FindUntolerated(node.spec.taints, pod.spec.tolerations) != nullptr) {
    return {"node(s) had untolerated taint(s)"};
  }
  if (!kube::MatchesNode(pod.spec, node.metadata.name, node.metadata.labels)) {
    return {"node(s) didn't match Pod's node affinity/selector"};
  }
  return Shortages(requests, node, use);
}

double FreeShare(std::string_view resource, const kube::ResourceList& requests,
                 const kube::Node& node, const NodeUse& use) {
  const double there = kube::AmountOf(node.status.allocatable, resource).ToDouble();
  if (there <= 0) return 0;
  const double taken =
      (kube::AmountOf(use.requested, resource) + kube::AmountOf(requests, resource)).ToDouble();
  return (there - taken) / there;
}

std::string Explain(size_t nodes, const std::map<std::string, int>& counts) {
  if (nodes == 0) return "no nodes available to schedule pods";
  std::vector<std::string> parts;
  for (const auto& [reason, count] : counts) parts.push_back(fmt::format("{} {}", count, reason));
  std::sort(parts.begin(), parts.end());
  return fmt::format("0/{} nodes are available: {}.", nodes, Join(parts, ", "));
}

}  // namespace

NodeChoice ChooseNode(const kube::Pod& pod,
                      const std::vector<std::shared_ptr<const kube::Node>>& nodes,
                      const NodeUses& uses) {
  static const NodeUse kEmpty;
  const kube::ResourceList requests = kube::PodRequests(pod);
  std::map<std::string, int> counts;
  const kube::Node* best = nullptr;
  std::pair<double, int64_t> best_score;
  for (const auto& node : nodes) {
    const auto found = uses.find(node->metadata.name);
    const NodeUse& use = found == uses.end() ? kEmpty : found->second;
    const Reasons reasons = WhyNot(pod, requests, *node, use);
    for (const std::string& reason : reasons) ++counts[reason];
    if (!reasons.empty()) continue;
    const double free = FreeShare(kube::kCpu, requests, *node, use) +
                        FreeShare(kube::kMemory, requests, *node, use);
    const std::pair<double, int64_t> score{free, -use.pods};
    if (best == nullptr || score > best_score)
      std::tie(best, best_score) = std::tuple(node.get(), score);
  }
  if (best != nullptr) return {.node = best->metadata.name};
  return {.message = Explain(nodes.size(), counts)};
}

}  // namespace koord::localcluster
