#include "scheduler/service/node_info.h"

#include <algorithm>
#include <map>
#include <string>

namespace koord::scheduler {
namespace {

namespace json = kube::json;
using kube::Json;

// An amount of each resource, under the names that the scheduler's users know from Go.
Json Amounts(const ResourceNames& names, int64_t pods, const ResourceAmounts& amounts) {
  json::object scalars;
  for (const auto& [id, amount] : amounts) {
    if (id >= kFirstScalarId && amount != 0) scalars[names.NameOf(id)] = amount;
  }
  return json::object{{"MilliCPU", AmountOf(amounts, kCpuId)},
                      {"Memory", AmountOf(amounts, kMemoryId)},
                      {"EphemeralStorage", AmountOf(amounts, kEphemeralStorageId)},
                      {"AllowedPodNumber", pods},
                      {"ScalarResources", std::move(scalars)}};
}

Json TermsAt(const Json& pod, std::string_view kind, std::string_view how) {
  const auto* terms = kube::FindArray(pod, {"spec", "affinity", kind, how});
  return terms == nullptr ? Json(nullptr) : Json(*terms);
}

Json DescribePod(const PodInfo& info) {
  constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
  Json pod = kube::Encode(*info.pod);
  json::object described{
      {"RequiredAffinityTerms", TermsAt(pod, "podAffinity", kRequired)},
      {"RequiredAntiAffinityTerms", TermsAt(pod, "podAntiAffinity", kRequired)},
      {"PreferredAffinityTerms", TermsAt(pod, "podAffinity", kPreferred)},
      {"PreferredAntiAffinityTerms", TermsAt(pod, "podAntiAffinity", kPreferred)}};
  described["Pod"] = std::move(pod);
  return described;
}

struct PodLists {
  json::array all, with_affinity, with_required_anti_affinity;
  json::object used_ports, claims;
};

PodLists CollectPods(const NodeTable& nodes, NodeRow row) {
  PodLists lists;
  std::map<std::string, json::array> ports;
  std::map<std::string, int64_t> claims;
  for (const PodInfo* info : nodes.pods(row)) {
    Json pod = DescribePod(*info);
    if (info->shape->has_pod_affinity) lists.with_affinity.push_back(pod);
    if (info->shape->has_required_anti_affinity) lists.with_required_anti_affinity.push_back(pod);
    lists.all.push_back(std::move(pod));
    for (const HostPort& port : info->shape->host_ports) {
      ports[port.ip].push_back(json::object{{"Protocol", port.protocol}, {"Port", port.port}});
    }
    for (const kube::Volume& volume : info->pod->spec.volumes) {
      if (!volume.persistent_volume_claim) continue;
      ++claims[info->pod->metadata.ns + "/" + volume.persistent_volume_claim->claim_name];
    }
  }
  for (auto& [ip, list] : ports) lists.used_ports[ip] = std::move(list);
  for (const auto& [claim, count] : claims) lists.claims[claim] = count;
  return lists;
}

Json ImageStates(const NodeTable& nodes, NodeRow row) {
  struct State {
    int64_t size;
    std::vector<std::string> on;
  };
  std::map<std::string, State> images;
  for (const kube::ContainerImage& image : nodes.node(row).status.images) {
    for (const std::string& name : image.names) images.emplace(name, State{image.size_bytes, {}});
  }
  for (NodeRow other{0}; !images.empty() && other < nodes.rows(); ++other) {
    if (!nodes.IsLive(other)) continue;
    for (const kube::ContainerImage& image : nodes.node(other).status.images) {
      for (const std::string& name : image.names) {
        if (const auto at = images.find(name); at != images.end()) {
          at->second.on.push_back(nodes.name(other));
        }
      }
    }
  }
  json::object states;
  for (const auto& [name, state] : images) {
    states[name] = json::object{{"Size", state.size},
                                {"NumNodes", state.on.size()},
                                {"Nodes", json::array(state.on.begin(), state.on.end())}};
  }
  return states;
}

}  // namespace

Json DescribeNode(const Ledger& ledger, NodeRow row) {
  const NodeTable& nodes = ledger.nodes();
  const ResourceNames& names = ledger.resources();
  ResourceAmounts requested;  // also of what the node does not have
  for (const PodInfo* pod : nodes.pods(row)) AddTo(requested, pod->requests());
  const ResourceAmounts non_zero{{kCpuId, nodes.non_zero_cpu()[row]},
                                 {kMemoryId, nodes.non_zero_memory()[row]}};
  ResourceAmounts remaining = nodes.offers(row);
  AddTo(remaining, requested, -1);
  const int64_t pods = nodes.allocatable_pods()[row];
  PodLists lists = CollectPods(nodes, row);
  return json::object{
      {"node", kube::Encode(nodes.node(row))},
      {"pods", std::move(lists.all)},
      {"podsWithAffinity", std::move(lists.with_affinity)},
      {"podsWithRequiredAntiAffinity", std::move(lists.with_required_anti_affinity)},
      {"usedPorts", std::move(lists.used_ports)},
      {"requested", Amounts(names, 0, requested)},
      {"nonZeroRequested", Amounts(names, 0, non_zero)},
      {"remaining", Amounts(names, pods - nodes.pod_counts()[row], remaining)},
      {"allocatable", Amounts(names, pods, nodes.offers(row))},
      {"imageStates", ImageStates(nodes, row)},
      {"pvcRefCounts", std::move(lists.claims)},
      {"generation", nodes.log_end()}};
}

}  // namespace koord::scheduler
