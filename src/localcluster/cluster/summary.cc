#include "localcluster/cluster/summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "kube/objects/pod_resources.h"

namespace koord::localcluster {
namespace {

Amounts FromList(const kube::ResourceList& list) {
  return {kube::AmountOf(list, kube::kCpu).MilliValue(),
          kube::AmountOf(list, kube::kMemory).Value()};
}

void Add(Amounts& sum, const Amounts& more) {
  sum.cpu += more.cpu;
  sum.memory += more.memory;
}

int Percent(int64_t part, int64_t whole) {
  return whole <= 0 ? 0 : static_cast<int>(static_cast<double>(part) * 100.0 / whole + 0.5);
}

std::string Bar(int percent) {
  constexpr int kWidth = 20;
  const int filled = std::clamp(percent * kWidth / 100, 0, kWidth);
  return std::string(filled, '#') + std::string(kWidth - filled, '.');
}

std::string Cores(int64_t milli) {
  return milli % 1000 == 0 || milli >= 100'000 ? fmt::format("{}", milli / 1000)
                                               : fmt::format("{:.1f}", milli / 1000.0);
}

std::string Gibibytes(int64_t bytes) { return fmt::format("{:.1f}Gi", bytes / 1073741824.0); }

template <class Format>
std::string UsageLine(std::string_view name, int64_t used, int64_t requested, int64_t allocatable,
                      Format format) {
  return fmt::format("{:7}[{}] used {} ({}%), requested {} ({}%) of {}", name,
                     Bar(Percent(used, allocatable)), format(used), Percent(used, allocatable),
                     format(requested), Percent(requested, allocatable), format(allocatable));
}

std::string StatusOf(const NodeSummary& node) {
  return std::string(node.ready ? "Ready" : "NotReady") + (node.cordoned ? ",Cordoned" : "");
}

kube::Json ToJson(const Amounts& amounts) {
  return {{"cpuMilli", amounts.cpu}, {"memoryBytes", amounts.memory}};
}

}  // namespace

int Summary::ready_nodes() const {
  return static_cast<int>(std::count_if(nodes.begin(), nodes.end(),
                                        [](const NodeSummary& node) { return node.ready; }));
}

void SummaryBuilder::AddNode(const kube::Node& node) {
  NodeSummary row;
  row.name = node.metadata.name;
  row.ready = kube::IsReady(node);
  row.cordoned = node.spec.unschedulable;
  row.allocatable = FromList(node.status.allocatable);
  summary_.nodes.push_back(std::move(row));
}

void SummaryBuilder::AddPod(const kube::Pod& pod) {
  PodCounts& counts = summary_.pods;
  if (pod.status.phase == "Succeeded") {
    ++counts.succeeded;
  } else if (pod.status.phase == "Failed") {
    ++counts.failed;
  } else if (pod.metadata.deletion_timestamp) {
    ++counts.terminating;
  } else if (pod.status.phase == "Running") {
    ++counts.running;
  } else {
    ++counts.pending;
  }
  if (kube::IsAssigned(pod) && !kube::IsTerminal(pod)) {
    requested_.emplace_back(pod.spec.node_name, FromList(kube::PodRequests(pod)));
  }
}

void SummaryBuilder::AddNodeMetric(const kube::Json& node_metric) {
  const kube::Json* usage =
      kube::Find(node_metric, {"status", "nodeMetric", "nodeUsage", "resources"});
  if (usage == nullptr) return;
  const auto list = kube::Decode<kube::ResourceList>(*usage);
  if (!list.ok()) return;
  used_.emplace_back(kube::FindString(node_metric, {"metadata", "name"}), FromList(*list));
}

Summary SummaryBuilder::Build() && {
  auto& nodes = summary_.nodes;
  std::sort(nodes.begin(), nodes.end(),
            [](const NodeSummary& a, const NodeSummary& b) { return a.name < b.name; });
  const auto find = [&](const std::string& name) -> NodeSummary* {
    const auto it = std::lower_bound(
        nodes.begin(), nodes.end(), name,
        [](const NodeSummary& node, const std::string& key) { return node.name < key; });
    return it != nodes.end() && it->name == name ? &*it : nullptr;
  };
  for (const auto& [name, amounts] : requested_) {
    if (NodeSummary* node = find(name)) {
      Add(node->requested, amounts);
      ++node->pods;
    }
  }
  for (const auto& [name, amounts] : used_) {
    if (NodeSummary* node = find(name)) node->used = amounts;
  }
  for (const NodeSummary& node : nodes) {
    Add(summary_.allocatable, node.allocatable);
    Add(summary_.requested, node.requested);
    Add(summary_.used, node.used);
  }
  return std::move(summary_);
}

std::vector<std::string> FormatSummary(const Summary& summary) {
  const PodCounts& pods = summary.pods;
  std::string pod_line = fmt::format("pods   {} running, {} pending", pods.running, pods.pending);
  if (pods.succeeded > 0) pod_line += fmt::format(", {} succeeded", pods.succeeded);
  if (pods.failed > 0) pod_line += fmt::format(", {} failed", pods.failed);
  if (pods.terminating > 0) pod_line += fmt::format(", {} terminating", pods.terminating);
  return {fmt::format("nodes  {}/{} ready", summary.ready_nodes(), summary.nodes.size()), pod_line,
          UsageLine("cpu", summary.used.cpu, summary.requested.cpu, summary.allocatable.cpu, Cores),
          UsageLine("memory", summary.used.memory, summary.requested.memory,
                    summary.allocatable.memory, Gibibytes)};
}

std::vector<std::string> FormatNodes(const Summary& summary) {
  size_t width = 4;
  for (const NodeSummary& node : summary.nodes) width = std::max(width, node.name.size());
  std::vector<std::string> lines{fmt::format("{:{}}  {:17}  {:>4}  {:>14}  {:>14}", "NODE", width,
                                             "STATUS", "PODS", "CPU USED/REQ%", "MEM USED/REQ%")};
  for (const NodeSummary& node : summary.nodes) {
    const auto ratio = [](int64_t used, int64_t requested, int64_t allocatable) {
      return fmt::format("{}/{}", Percent(used, allocatable), Percent(requested, allocatable));
    };
    lines.push_back(
        fmt::format("{:{}}  {:17}  {:>4}  {:>14}  {:>14}", node.name, width, StatusOf(node),
                    node.pods, ratio(node.used.cpu, node.requested.cpu, node.allocatable.cpu),
                    ratio(node.used.memory, node.requested.memory, node.allocatable.memory)));
  }
  return lines;
}

kube::Json ToJson(const Summary& summary) {
  kube::json::array nodes;
  for (const NodeSummary& node : summary.nodes) {
    nodes.push_back({{"name", node.name},
                     {"ready", node.ready},
                     {"unschedulable", node.cordoned},
                     {"pods", node.pods},
                     {"allocatable", ToJson(node.allocatable)},
                     {"requested", ToJson(node.requested)},
                     {"used", ToJson(node.used)}});
  }
  const PodCounts& pods = summary.pods;
  return {{"nodes", std::move(nodes)},
          {"pods",
           {{"pending", pods.pending},
            {"running", pods.running},
            {"succeeded", pods.succeeded},
            {"failed", pods.failed},
            {"terminating", pods.terminating}}},
          {"allocatable", ToJson(summary.allocatable)},
          {"requested", ToJson(summary.requested)},
          {"used", ToJson(summary.used)}};
}

}  // namespace koord::localcluster
