#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/device.h"
#include "manager/config/colocation.h"
#include "manager/noderesource/batch/batch.h"
#include "manager/noderesource/mid/mid.h"

namespace koord::manager {

// Which parts of node resources this program looks after, and how.
struct NodeResourceOptions {
  bool mid = true;
  bool batch = true;
  bool cpu_normalization = true;
  bool amplification = true;
  bool gpu = true;
  bool rdma = true;
  bool share_gpus = false;  // EnableSyncGPUSharedResource
};

inline constexpr std::string_view kMidResource = "MidResource";
inline constexpr std::string_view kBatchResource = "BatchResource";
inline constexpr std::string_view kCpuNormalization = "CPUNormalization";
inline constexpr std::string_view kResourceAmplification = "ResourceAmplification";
inline constexpr std::string_view kGpuDeviceResource = "GPUDeviceResource";
inline constexpr std::string_view kRdmaDeviceResource = "RDMADeviceResource";

// All that is known about a node.
struct NodeFacts {
  const kube::Node& node;
  std::vector<std::shared_ptr<const kube::Pod>> pods;  // all that are assigned to it
  const api::NodeMetric* metric = nullptr;
  const api::NodeResourceTopology* topology = nullptr;
  const api::Device* device = nullptr;
  WallTime now;
};

struct NodeDecision {
  struct Failure {
    std::string_view plugin;
    Status why;
  };

  NodeColocation colocation;
  std::optional<BatchResult> batch;  // none: co-location is off
  std::optional<MidResult> mid;      // likewise
  NodePlan plan;
  std::optional<std::vector<api::TopologyZone>> zones;  // none: the topology stays as it is
  std::vector<Failure> failures;                        // of plugins; the others go on
};

// What is to become of a node. `config` must know of a colocation strategy.
//
// Batch and mid resources depend on co-location; where that is off they go. Devices are published
// in any case. CPU normalization and amplification also work without co-location where they are
// switched on for the node.
NodeDecision DecideNode(const NodeFacts& facts, const SloConfig& config,
                        const NodeResourceOptions& options);

}  // namespace koord::manager
