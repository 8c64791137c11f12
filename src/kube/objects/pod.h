#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/boxed.h"
#include "kube/objects/container.h"
#include "kube/objects/meta.h"
#include "kube/objects/node_affinity.h"
#include "kube/objects/pod_affinity.h"
#include "kube/objects/resource_list.h"
#include "kube/objects/taints_tolerations.h"
#include "kube/objects/volume.h"

namespace koord::kube {

struct Affinity {
  Boxed<NodeAffinity> node_affinity;
  Boxed<PodAffinity> pod_affinity;
  Boxed<PodAffinity> pod_anti_affinity;

  static void Fields(auto& self, auto&& field) {
    field("nodeAffinity", self.node_affinity);
    field("podAffinity", self.pod_affinity);
    field("podAntiAffinity", self.pod_anti_affinity);
  }
  bool operator==(const Affinity&) const = default;
};

struct PodSchedulingGate {
  std::string name;

  static void Fields(auto& self, auto&& field) { field("name", Always(self.name)); }
  bool operator==(const PodSchedulingGate&) const = default;
};

struct PodResourceClaim {
  std::string name;
  std::string resource_claim_name;
  std::string resource_claim_template_name;

  static void Fields(auto& self, auto&& field) {
    field("name", Always(self.name));
    field("resourceClaimName", self.resource_claim_name);
    field("resourceClaimTemplateName", self.resource_claim_template_name);
  }
  bool operator==(const PodResourceClaim&) const = default;
};

struct PodReadinessGate {
  std::string condition_type;

  static void Fields(auto& self, auto&& field) {
    field("conditionType", Always(self.condition_type));
  }
  bool operator==(const PodReadinessGate&) const = default;
};

struct PodSpec {
  Shared<std::vector<Volume>> volumes;
  Shared<std::vector<Container>> init_containers;
  Shared<std::vector<Container>> containers;
  Text restart_policy;
  std::optional<int64_t> termination_grace_period_seconds;
  std::optional<int64_t> active_deadline_seconds;
  Shared<Labels> node_selector;
  Text service_account_name;
  std::string node_name;
  bool host_network = false;
  Boxed<Affinity> affinity;
  Text scheduler_name;
  Shared<std::vector<Toleration>> tolerations;
  Text priority_class_name;
  std::optional<int32_t> priority;
  Text preemption_policy;  // PreemptLowerPriority (also when empty), Never
  Text runtime_class_name;
  Shared<ResourceList> overhead;
  Shared<std::vector<TopologySpreadConstraint>> topology_spread_constraints;
  Shared<std::vector<PodReadinessGate>> readiness_gates;
  Shared<std::vector<PodSchedulingGate>> scheduling_gates;
  Shared<std::vector<PodResourceClaim>> resource_claims;
  Boxed<ResourceRequirements> resources;  // of the pod as a whole

  static void Fields(auto& self, auto&& field) {
    field("volumes", self.volumes);
    field("initContainers", self.init_containers);
    field("containers", self.containers);
    field("restartPolicy", self.restart_policy);
    field("terminationGracePeriodSeconds", self.termination_grace_period_seconds);
    field("activeDeadlineSeconds", self.active_deadline_seconds);
    field("nodeSelector", self.node_selector);
    field("serviceAccountName", self.service_account_name);
    field("nodeName", self.node_name);
    field("hostNetwork", self.host_network);
    field("affinity", self.affinity);
    field("schedulerName", self.scheduler_name);
    field("tolerations", self.tolerations);
    field("priorityClassName", self.priority_class_name);
    field("priority", self.priority);
    field("preemptionPolicy", self.preemption_policy);
    field("runtimeClassName", self.runtime_class_name);
    field("overhead", self.overhead);
    field("topologySpreadConstraints", self.topology_spread_constraints);
    field("readinessGates", self.readiness_gates);
    field("schedulingGates", self.scheduling_gates);
    field("resourceClaims", self.resource_claims);
    field("resources", self.resources);
  }
  bool operator==(const PodSpec&) const = default;
};

struct PodTemplateSpec {
  ObjectMeta metadata;
  PodSpec spec;

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("spec", self.spec);
  }
  bool operator==(const PodTemplateSpec&) const = default;
};

struct PodCondition : Condition {
  std::optional<WallTime> last_probe_time;

  static void Fields(auto& self, auto&& field) {
    Condition::Fields(self, field);
    field("lastProbeTime", self.last_probe_time);
  }
  bool operator==(const PodCondition&) const = default;
};

struct PodIp {
  std::string ip;

  static void Fields(auto& self, auto&& field) { field("ip", Always(self.ip)); }
  bool operator==(const PodIp&) const = default;
};

struct PodStatus {
  Text phase;  // Pending, Running, Succeeded, Failed, Unknown
  std::vector<PodCondition> conditions;
  Text reason;
  Text message;
  Text host_ip;
  std::string pod_ip;
  Shared<std::vector<PodIp>> pod_ips;
  std::optional<WallTime> start_time;
  Shared<std::vector<ContainerStatus>> init_container_statuses;
  Shared<std::vector<ContainerStatus>> container_statuses;
  Shared<std::vector<ContainerStatus>> ephemeral_container_statuses;
  Text qos_class;
  Text nominated_node_name;
  int64_t observed_generation = 0;

  static void Fields(auto& self, auto&& field) {
    field("observedGeneration", self.observed_generation);
    field("phase", self.phase);
    field("conditions", self.conditions);
    field("message", self.message);
    field("reason", self.reason);
    field("nominatedNodeName", self.nominated_node_name);
    field("hostIP", self.host_ip);
    field("podIP", self.pod_ip);
    field("podIPs", self.pod_ips);
    field("startTime", self.start_time);
    field("initContainerStatuses", self.init_container_statuses);
    field("containerStatuses", self.container_statuses);
    field("ephemeralContainerStatuses", self.ephemeral_container_statuses);
    field("qosClass", self.qos_class);
  }
  bool operator==(const PodStatus&) const = default;
};

struct Pod {
  ObjectMeta metadata;
  PodSpec spec;
  PodStatus status;

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("spec", self.spec);
    field("status", self.status);
  }
  bool operator==(const Pod&) const = default;
};

// Has run to its end and will never run again.
bool IsTerminal(const Pod& pod);
// Its condition Ready is true.
bool IsReady(const Pod& pod);
inline bool IsAssigned(const Pod& pod) { return !pod.spec.node_name.empty(); }
// The API server's image of a pod that the node itself brings along.
bool IsMirrorPod(const Pod& pod);

// Whether the node is one that the pod's nodeSelector and required node affinity ask for.
bool MatchesNode(const PodSpec& pod, std::string_view node_name, const Labels& node_labels);

}  // namespace koord::kube

KOORD_DECLARE_CODEC(koord::kube::PodSpec);
KOORD_DECLARE_CODEC(koord::kube::PodStatus);
KOORD_DECLARE_CODEC(koord::kube::PodTemplateSpec);
KOORD_DECLARE_CODEC(koord::kube::Pod);
