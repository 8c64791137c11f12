#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/objects/meta.h"

// How nodes are nested in the network: blocks of nodes, spines of blocks, ... One object,
// `default`.
namespace koord::api {

inline constexpr std::string_view kClusterNetworkTopologyName = "default";
inline constexpr std::string_view kClusterTopologyLayer = "ClusterTopologyLayer";  // the root
inline constexpr std::string_view kNodeTopologyLayer = "NodeTopologyLayer";        // the leaves

struct NetworkTopologyLayer {
  std::string topology_layer;
  std::string parent_topology_layer;
  std::vector<std::string> label_key;  // any of these labels of a node gives its domain's name

  static void Fields(auto& self, auto&& field) {
    field("labelKey", self.label_key);
    field("parentTopologyLayer", self.parent_topology_layer);
    field("topologyLayer", kube::Always(self.topology_layer));
  }
  bool operator==(const NetworkTopologyLayer&) const = default;
};

struct ClusterNetworkTopologySpec {
  std::vector<NetworkTopologyLayer> network_topology_spec;

  static void Fields(auto& self, auto&& field) {
    field("networkTopologySpec", kube::Always(self.network_topology_spec));
  }
  bool operator==(const ClusterNetworkTopologySpec&) const = default;
};

struct TopologyInfo {
  std::string topology_layer;
  std::string topology_name;

  static void Fields(auto& self, auto&& field) {
    field("topologyLayer", kube::Always(self.topology_layer));
    field("topologyName", kube::Always(self.topology_name));
  }
  bool operator==(const TopologyInfo&) const = default;
};

struct TopologyDetail {
  TopologyInfo topology_info;
  std::optional<TopologyInfo> parent_topology_info;
  std::string child_topology_layer;
  std::vector<std::string> child_topology_names;
  int32_t node_num = 0;

  static void Fields(auto& self, auto&& field) {
    field("topologyInfo", kube::Always(self.topology_info));
    field("parentTopologyInfo", self.parent_topology_info);
    field("childTopologyLayer", self.child_topology_layer);
    field("childTopologyNames", self.child_topology_names);
    field("nodeNum", kube::Always(self.node_num));
  }
  bool operator==(const TopologyDetail&) const = default;
};

struct ClusterNetworkTopologyStatus {
  std::vector<TopologyDetail> detail_status;

  static void Fields(auto& self, auto&& field) { field("detailStatus", self.detail_status); }
  bool operator==(const ClusterNetworkTopologyStatus&) const = default;
};

struct ClusterNetworkTopology {
  kube::ObjectMeta metadata;
  ClusterNetworkTopologySpec spec;
  ClusterNetworkTopologyStatus status;

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("spec", self.spec);
    field("status", self.status);
  }
  bool operator==(const ClusterNetworkTopology&) const = default;
};

}  // namespace koord::api

KOORD_DECLARE_CODEC(koord::api::ClusterNetworkTopology);
