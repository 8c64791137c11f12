#pragma once
#include <optional>
#include <string>
#include <vector>

#include "kube/boxed.h"
#include "kube/objects/meta.h"
#include "kube/objects/resource_list.h"
#include "kube/objects/taints_tolerations.h"

namespace koord::kube {

struct NodeSpec {
  std::string pod_cidr;
  Shared<std::vector<std::string>> pod_cidrs;
  std::string provider_id;
  bool unschedulable = false;
  Shared<std::vector<Taint>> taints;

  static void Fields(auto& self, auto&& field) {
    field("podCIDR", self.pod_cidr);
    field("podCIDRs", self.pod_cidrs);
    field("providerID", self.provider_id);
    field("unschedulable", self.unschedulable);
    field("taints", self.taints);
  }
  bool operator==(const NodeSpec&) const = default;
};

struct NodeCondition : Condition {
  std::optional<WallTime> last_heartbeat_time;

  static void Fields(auto& self, auto&& field) {
    Condition::Fields(self, field);
    field("lastHeartbeatTime", self.last_heartbeat_time);
  }
  bool operator==(const NodeCondition&) const = default;
};

struct NodeAddress {
  std::string type;  // InternalIP, Hostname, ExternalIP, ...
  std::string address;

  static void Fields(auto& self, auto&& field) {
    field("type", Always(self.type));
    field("address", Always(self.address));
  }
  bool operator==(const NodeAddress&) const = default;
};

struct DaemonEndpoint {
  int32_t port = 0;

  static void Fields(auto& self, auto&& field) { field("Port", Always(self.port)); }
  bool operator==(const DaemonEndpoint&) const = default;
};

struct NodeDaemonEndpoints {
  DaemonEndpoint kubelet_endpoint;

  static void Fields(auto& self, auto&& field) {
    field("kubeletEndpoint", Always(self.kubelet_endpoint));
  }
  bool operator==(const NodeDaemonEndpoints&) const = default;
};

struct NodeSystemInfo {
  std::string machine_id;
  std::string system_uuid;
  std::string boot_id;
  Text kernel_version;
  Text os_image;
  Text container_runtime_version;
  Text kubelet_version;
  Text kube_proxy_version;
  Text operating_system;
  Text architecture;

  static void Fields(auto& self, auto&& field) {
    field("machineID", Always(self.machine_id));
    field("systemUUID", Always(self.system_uuid));
    field("bootID", Always(self.boot_id));
    field("kernelVersion", Always(self.kernel_version));
    field("osImage", Always(self.os_image));
    field("containerRuntimeVersion", Always(self.container_runtime_version));
    field("kubeletVersion", Always(self.kubelet_version));
    field("kubeProxyVersion", Always(self.kube_proxy_version));
    field("operatingSystem", Always(self.operating_system));
    field("architecture", Always(self.architecture));
  }
  bool operator==(const NodeSystemInfo&) const = default;
};

struct ContainerImage {
  std::vector<std::string> names;
  int64_t size_bytes = 0;

  static void Fields(auto& self, auto&& field) {
    field("names", self.names);
    field("sizeBytes", self.size_bytes);
  }
  bool operator==(const ContainerImage&) const = default;
};

struct NodeStatus {
  Shared<ResourceList> capacity;
  Shared<ResourceList> allocatable;
  std::vector<NodeCondition> conditions;
  std::vector<NodeAddress> addresses;
  std::optional<NodeDaemonEndpoints> daemon_endpoints;
  Boxed<NodeSystemInfo> node_info;
  std::vector<ContainerImage> images;

  static void Fields(auto& self, auto&& field) {
    field("capacity", self.capacity);
    field("allocatable", self.allocatable);
    field("conditions", self.conditions);
    field("addresses", self.addresses);
    field("daemonEndpoints", self.daemon_endpoints);
    field("nodeInfo", self.node_info);
    field("images", self.images);
  }
  bool operator==(const NodeStatus&) const = default;
};

struct Node {
  ObjectMeta metadata;
  NodeSpec spec;
  NodeStatus status;

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("spec", self.spec);
    field("status", self.status);
  }
  bool operator==(const Node&) const = default;
};

// Its condition Ready is true.
bool IsReady(const Node& node);
// The first address of a type, or "".
std::string_view AddressOf(const Node& node, std::string_view type);

}  // namespace koord::kube

KOORD_DECLARE_CODEC(koord::kube::Node);
