#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/node_resource_topology.h"
#include "base/status.h"
#include "koordlet/host/cpu_topology.h"
#include "koordlet/informers/kubelet_client.h"
#include "koordlet/informers/node_state.h"
#include "kube/json.h"
#include "kube/objects/node.h"

// The NodeResourceTopology of a node: its NUMA nodes and CPUs, and which of them are shared.
namespace koord::koordlet {

struct TopologyInputs {
  const kube::Node& node;
  const CpuInfo& cpu;
  const std::vector<NumaNode>& numa;
  const NodePods& pods;
  const KubeletConfig* kubelet = nullptr;   // null: not to be asked
  std::string_view cpu_manager_state = {};  // of the kubelet; empty: it has none
  bool report_huge_pages = false;
};

struct TopologyReport {
  std::map<std::string, std::string, std::less<>> annotations;
  std::string numa_reservation;  // the Node's label; empty: it has none
  std::vector<std::string> policies;
  std::vector<api::TopologyZone> zones;
  TopologyView view;  // the same for koordlet itself
};

// Fails where nothing should be reported now.
StatusOr<TopologyReport> BuildTopologyReport(const TopologyInputs& inputs);

// The object to create where there is none yet.
kube::Json NewTopologyObject(const TopologyReport& report, const kube::Node& node);
// What to change of an existing one, and only if it is still that version; null: nothing. What
// others have put on its zones is kept.
kube::Json TopologyPatch(const TopologyReport& report, const api::NodeResourceTopology& existing);

// Of an object that lives as long as its Node.
kube::Json NodeOwnerReferences(const kube::Node& node);

}  // namespace koord::koordlet
