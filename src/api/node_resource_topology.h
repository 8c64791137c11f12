#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "kube/objects/meta.h"
#include "kube/quantity.h"

// The NUMA nodes of a node, under the node's name. CPUs stand in annotations.
namespace koord::api {

inline constexpr std::string_view kZoneTypeNode = "Node";

struct TopologyCost {
  std::string name;
  int64_t value = 0;

  static void Fields(auto& self, auto&& field) {
    field("name", kube::Always(self.name));
    field("value", kube::Always(self.value));
  }
  bool operator==(const TopologyCost&) const = default;
};

struct TopologyAttribute {
  std::string name;
  std::string value;

  static void Fields(auto& self, auto&& field) {
    field("name", kube::Always(self.name));
    field("value", kube::Always(self.value));
  }
  bool operator==(const TopologyAttribute&) const = default;
};

struct ZoneResource {
  std::string name;
  kube::Quantity capacity;
  kube::Quantity allocatable;
  kube::Quantity available;

  static void Fields(auto& self, auto&& field) {
    field("name", kube::Always(self.name));
    field("capacity", self.capacity);
    field("allocatable", self.allocatable);
    field("available", self.available);
  }
  bool operator==(const ZoneResource&) const = default;
};

struct TopologyZone {
  std::string name;  // "node-0"
  std::string type;
  std::string parent;
  std::vector<TopologyCost> costs;
  std::vector<TopologyAttribute> attributes;
  std::vector<ZoneResource> resources;

  static void Fields(auto& self, auto&& field) {
    field("name", kube::Always(self.name));
    field("type", kube::Always(self.type));
    field("parent", self.parent);
    field("costs", self.costs);
    field("attributes", self.attributes);
    field("resources", self.resources);
  }
  bool operator==(const TopologyZone&) const = default;
};

struct NodeResourceTopology {
  kube::ObjectMeta metadata;
  std::vector<std::string> topology_policies;
  std::vector<TopologyZone> zones;

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("topologyPolicies", kube::Always(self.topology_policies));
    field("zones", kube::Always(self.zones));
  }
  bool operator==(const NodeResourceTopology&) const = default;
};

}  // namespace koord::api

KOORD_DECLARE_CODEC(koord::api::NodeResourceTopology);
