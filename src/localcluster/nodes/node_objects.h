#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "kube/json.h"
#include "kube/objects/meta.h"
#include "localcluster/nodes/node_shape.h"

// The objects with which a machine shows itself to the cluster: what the kubelet and koordlet of a
// real one would write.
namespace koord::localcluster {

// The text of the shape that a node was made with; marks nodes that a simulation has made.
inline constexpr const char* kShapeAnnotation = "local.koordinator.sh/shape";

// "false" on a Node: koordlet does not run there, and what it would report is left to others.
inline constexpr const char* kReportAnnotation = "local.koordinator.sh/report";

// Addresses by a node's number: its own, and the range its pods get theirs from (1022 of them).
std::string NodeAddress(uint32_t number);
std::string PodRange(uint32_t number);
// The n-th address of a range, counted from 1; none if the range has no such address.
std::optional<std::string> AddressIn(std::string_view range, uint32_t n);

kube::Json NodeObject(const PlannedNode& node, uint32_t number, WallTime now);
// What the machine has, as its kubelet reports it into the Node's status.
kube::Json ResourcesStatus(const NodeShape& shape);
// The conditions of a node that works, as a list for a status.
kube::Json WorkingConditions(WallTime now);

kube::Json LeaseObject(const std::string& node, const std::string& node_uid, WallTime now);
kube::Json LeaseRenewal(const std::string& node, WallTime now);

// The NUMA nodes, and in annotations the CPUs and what of them is shared: of an idle node whose
// kubelet pins nothing.
kube::Json TopologyObject(const PlannedNode& node, const std::string& node_uid);
kube::Json DeviceObject(const PlannedNode& node, const std::string& node_uid);
kube::Json NodeMetricObject(const std::string& node, const std::string& node_uid);

// A shape as ParseNodeShape reads it.
std::string ToString(const NodeShape& shape);

}  // namespace koord::localcluster
