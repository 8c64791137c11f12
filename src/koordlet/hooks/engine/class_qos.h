#pragma once
#include <cstdint>
#include <string_view>

#include "api/node_slo.h"
#include "api/qos.h"
#include "kube/objects/pod_resources.h"

// What NodeSLO asks for the classes of pods.
namespace koord::koordlet::hooks {

// "groupIdentity" where nothing is said.
std::string_view CpuPolicyOf(const api::NodeSloSpec& slo);
// "tc" where nothing is said.
std::string_view NetworkPolicyOf(const api::NodeSloSpec& slo);

// A percentage of the node's bandwidth, which is not more than all of it (see api/setting_rules.h).
inline int64_t ShareOfBandwidth(int64_t total, int64_t percent) {
  return total / 100 * percent + total % 100 * percent / 100;
}

// Null where NodeSLO says nothing about the class. LSE pods use LSR's.
const api::ResourceQos* ClassQosOf(const api::NodeSloSpec& slo, api::QosClass qos);
const api::CpuQos* CpuQosOfClass(const api::NodeSloSpec& slo, api::QosClass qos);
bool IsCpuQosEnabled(const api::NodeSloSpec& slo, api::QosClass qos);

// The class whose CPU settings apply: what the label says, else by Kubernetes' class. A guaranteed
// pod counts as LSR, or as LS where nothing is asked for LSR.
api::QosClass CpuClassOf(const api::NodeSloSpec& slo, api::QosClass label, kube::PodQos kube_qos);

}  // namespace koord::koordlet::hooks
