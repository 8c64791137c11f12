#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/cpu_annotations.h"
#include "api/device.h"
#include "api/node_annotations.h"
#include "api/node_slo.h"
#include "base/cpu_set.h"
#include "koordlet/informers/node_pod.h"
#include "kube/objects/node.h"

namespace koord::koordlet {

// The CPUs of the node as the NodeResourceTopology object has them.
struct TopologyView {
  std::vector<api::CpuSharedPool> ls_pools;  // by socket and NUMA node
  std::vector<api::CpuSharedPool> be_pools;
  std::string kubelet_policy;  // "none", "static"; empty: not known
  CpuSet reserved_cpus;
  CpuSet kubelet_cpus;  // that the kubelet has given to pods by itself
  CpuSet system_qos_cpus;
  bool system_qos_exclusive = true;
  bool binds_all_pods = false;  // each that requests CPU has CPUs of its own, whatever its class
  bool operator==(const TopologyView&) const = default;

  // CPUs that no pod has by the scheduler's leave.
  CpuSet KeptCpus() const;
};

// What is known of the node and wanted from it, one immutable value for each part. Read and written
// on the loop only.
class NodeState {
 public:
  enum class Part : uint8_t { kSlo, kPods, kTopology, kNode };
  using Listener = std::function<void()>;

  NodeState();

  // Null: not known yet; callers that need it do nothing then.
  const std::shared_ptr<const kube::Node>& node() const { return node_; }
  // Merged over the defaults, with the values of switched-off blocks replaced.
  const std::shared_ptr<const api::NodeSloSpec>& slo() const { return slo_; }
  const std::shared_ptr<const TopologyView>& topology() const { return topology_; }
  // Never null; empty before the first answer of the kubelet.
  const std::shared_ptr<const NodePods>& pods() const { return pods_; }
  bool has_pods() const { return has_pods_; }  // an answer has come
  // The node's devices; null: it has none, or they are not known.
  const std::shared_ptr<const api::Device>& device() const { return device_; }

  // Listeners of the part hear of it if it differs. kNode: labels, annotations or resources.
  void SetNode(std::shared_ptr<const kube::Node> node);
  void SetSlo(std::shared_ptr<const api::NodeSloSpec> slo);
  void SetTopology(std::shared_ptr<const TopologyView> topology);
  void SetPods(
      std::shared_ptr<const NodePods> pods);  // always told, it is each sync of the kubelet

  void SetDevice(std::shared_ptr<const api::Device> device) { device_ = std::move(device); }

  void Subscribe(Part part, Listener listener);

 private:
  void Tell(Part part);

  std::shared_ptr<const kube::Node> node_;
  std::shared_ptr<const api::NodeSloSpec> slo_;
  std::shared_ptr<const TopologyView> topology_;
  std::shared_ptr<const NodePods> pods_;
  bool has_pods_ = false;
  std::shared_ptr<const api::Device> device_;
  std::vector<std::pair<Part, Listener>> listeners_;
};

}  // namespace koord::koordlet
