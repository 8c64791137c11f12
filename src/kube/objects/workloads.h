#pragma once
#include <optional>
#include <string>
#include <vector>

#include "kube/int_or_string.h"
#include "kube/objects/meta.h"

// The objects that make pods. Pod templates stay documents: pods are made of all that they say,
// also of what no struct of ours knows.
namespace koord::kube {

struct ReplicaSetSpec {
  std::optional<int32_t> replicas;  // 1 when absent
  std::optional<LabelSelector> selector;
  Json pod_template;
  int32_t min_ready_seconds = 0;

  static void Fields(auto& self, auto&& field) {
    field("replicas", self.replicas);
    field("selector", self.selector);
    field("template", self.pod_template);
    field("minReadySeconds", self.min_ready_seconds);
  }
  bool operator==(const ReplicaSetSpec&) const = default;
};

struct ReplicaSetStatus {
  int32_t replicas = 0;
  int32_t fully_labeled_replicas = 0;
  int32_t ready_replicas = 0;
  int32_t available_replicas = 0;
  std::optional<int32_t> terminating_replicas;
  int64_t observed_generation = 0;
  std::vector<Condition> conditions;

  static void Fields(auto& self, auto&& field) {
    field("replicas", Always(self.replicas));
    field("fullyLabeledReplicas", self.fully_labeled_replicas);
    field("readyReplicas", self.ready_replicas);
    field("availableReplicas", self.available_replicas);
    field("terminatingReplicas", self.terminating_replicas);
    field("observedGeneration", self.observed_generation);
    field("conditions", self.conditions);
  }
  bool operator==(const ReplicaSetStatus&) const = default;
};

struct ReplicaSet {
  ObjectMeta metadata;
  ReplicaSetSpec spec;
  ReplicaSetStatus status;

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("spec", self.spec);
    field("status", self.status);
  }
  bool operator==(const ReplicaSet&) const = default;
};

struct ReplicationControllerSpec {
  std::optional<int32_t> replicas;  // 1 when absent
  Labels selector;

  static void Fields(auto& self, auto&& field) {
    field("replicas", self.replicas);
    field("selector", self.selector);
  }
  bool operator==(const ReplicationControllerSpec&) const = default;
};

struct ReplicationController {
  ObjectMeta metadata;
  ReplicationControllerSpec spec;

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("spec", self.spec);
  }
  bool operator==(const ReplicationController&) const = default;
};

struct RollingUpdate {
  std::optional<IntOrString> max_unavailable;
  std::optional<IntOrString> max_surge;

  static void Fields(auto& self, auto&& field) {
    field("maxUnavailable", self.max_unavailable);
    field("maxSurge", self.max_surge);
  }
  bool operator==(const RollingUpdate&) const = default;
};

struct UpdateStrategy {
  std::string type;  // RollingUpdate; Recreate for a Deployment, OnDelete for a DaemonSet
  std::optional<RollingUpdate> rolling_update;

  static void Fields(auto& self, auto&& field) {
    field("type", self.type);
    field("rollingUpdate", self.rolling_update);
  }
  bool operator==(const UpdateStrategy&) const = default;
};

struct DeploymentSpec {
  std::optional<int32_t> replicas;  // 1 when absent
  std::optional<LabelSelector> selector;
  Json pod_template;
  UpdateStrategy strategy;
  int32_t min_ready_seconds = 0;
  std::optional<int32_t> revision_history_limit;
  bool paused = false;
  std::optional<int32_t> progress_deadline_seconds;

  static void Fields(auto& self, auto&& field) {
    field("replicas", self.replicas);
    field("selector", self.selector);
    field("template", self.pod_template);
    field("strategy", self.strategy);
    field("minReadySeconds", self.min_ready_seconds);
    field("revisionHistoryLimit", self.revision_history_limit);
    field("paused", self.paused);
    field("progressDeadlineSeconds", self.progress_deadline_seconds);
  }
  bool operator==(const DeploymentSpec&) const = default;
};

struct DeploymentCondition : Condition {
  std::optional<WallTime> last_update_time;

  static void Fields(auto& self, auto&& field) {
    Condition::Fields(self, field);
    field("lastUpdateTime", self.last_update_time);
  }
  bool operator==(const DeploymentCondition&) const = default;
};

struct DeploymentStatus {
  int64_t observed_generation = 0;
  int32_t replicas = 0;
  int32_t updated_replicas = 0;
  int32_t ready_replicas = 0;
  int32_t available_replicas = 0;
  int32_t unavailable_replicas = 0;
  std::optional<int32_t> terminating_replicas;
  std::vector<DeploymentCondition> conditions;
  std::optional<int32_t> collision_count;

  static void Fields(auto& self, auto&& field) {
    field("observedGeneration", self.observed_generation);
    field("replicas", self.replicas);
    field("updatedReplicas", self.updated_replicas);
    field("readyReplicas", self.ready_replicas);
    field("availableReplicas", self.available_replicas);
    field("unavailableReplicas", self.unavailable_replicas);
    field("terminatingReplicas", self.terminating_replicas);
    field("conditions", self.conditions);
    field("collisionCount", self.collision_count);
  }
  bool operator==(const DeploymentStatus&) const = default;
};

struct Deployment {
  ObjectMeta metadata;
  DeploymentSpec spec;
  DeploymentStatus status;

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("spec", self.spec);
    field("status", self.status);
  }
  bool operator==(const Deployment&) const = default;
};

struct StatefulSetRollingUpdate {
  std::optional<int32_t> partition;
  std::optional<IntOrString> max_unavailable;

  static void Fields(auto& self, auto&& field) {
    field("partition", self.partition);
    field("maxUnavailable", self.max_unavailable);
  }
  bool operator==(const StatefulSetRollingUpdate&) const = default;
};

struct StatefulSetUpdateStrategy {
  std::string type;  // RollingUpdate, OnDelete
  std::optional<StatefulSetRollingUpdate> rolling_update;

  static void Fields(auto& self, auto&& field) {
    field("type", self.type);
    field("rollingUpdate", self.rolling_update);
  }
  bool operator==(const StatefulSetUpdateStrategy&) const = default;
};

struct StatefulSetOrdinals {
  int32_t start = 0;

  static void Fields(auto& self, auto&& field) { field("start", Always(self.start)); }
  bool operator==(const StatefulSetOrdinals&) const = default;
};

struct PersistentVolumeClaimRetentionPolicy {
  std::string when_deleted;  // Retain, Delete
  std::string when_scaled;

  static void Fields(auto& self, auto&& field) {
    field("whenDeleted", self.when_deleted);
    field("whenScaled", self.when_scaled);
  }
  bool operator==(const PersistentVolumeClaimRetentionPolicy&) const = default;
};

struct StatefulSetSpec {
  std::optional<int32_t> replicas;  // 1 when absent
  std::optional<LabelSelector> selector;
  Json pod_template;
  std::vector<Json> volume_claim_templates;
  std::string service_name;
  std::string pod_management_policy;  // OrderedReady, Parallel
  StatefulSetUpdateStrategy update_strategy;
  std::optional<int32_t> revision_history_limit;
  int32_t min_ready_seconds = 0;
  std::optional<PersistentVolumeClaimRetentionPolicy> claim_retention_policy;
  std::optional<StatefulSetOrdinals> ordinals;

  static void Fields(auto& self, auto&& field) {
    field("replicas", self.replicas);
    field("selector", self.selector);
    field("template", self.pod_template);
    field("volumeClaimTemplates", self.volume_claim_templates);
    field("serviceName", self.service_name);
    field("podManagementPolicy", self.pod_management_policy);
    field("updateStrategy", self.update_strategy);
    field("revisionHistoryLimit", self.revision_history_limit);
    field("minReadySeconds", self.min_ready_seconds);
    field("persistentVolumeClaimRetentionPolicy", self.claim_retention_policy);
    field("ordinals", self.ordinals);
  }
  bool operator==(const StatefulSetSpec&) const = default;
};

struct StatefulSetStatus {
  int64_t observed_generation = 0;
  int32_t replicas = 0;
  int32_t ready_replicas = 0;
  int32_t current_replicas = 0;
  int32_t updated_replicas = 0;
  int32_t available_replicas = 0;
  std::string current_revision;
  std::string update_revision;
  std::optional<int32_t> collision_count;
  std::vector<Condition> conditions;

  static void Fields(auto& self, auto&& field) {
    field("observedGeneration", self.observed_generation);
    field("replicas", Always(self.replicas));
    field("readyReplicas", self.ready_replicas);
    field("currentReplicas", self.current_replicas);
    field("updatedReplicas", self.updated_replicas);
    field("availableReplicas", Always(self.available_replicas));
    field("currentRevision", self.current_revision);
    field("updateRevision", self.update_revision);
    field("collisionCount", self.collision_count);
    field("conditions", self.conditions);
  }
  bool operator==(const StatefulSetStatus&) const = default;
};

struct StatefulSet {
  ObjectMeta metadata;
  StatefulSetSpec spec;
  StatefulSetStatus status;

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("spec", self.spec);
    field("status", self.status);
  }
  bool operator==(const StatefulSet&) const = default;
};

struct DaemonSetSpec {
  std::optional<LabelSelector> selector;
  Json pod_template;
  UpdateStrategy update_strategy;
  int32_t min_ready_seconds = 0;
  std::optional<int32_t> revision_history_limit;

  static void Fields(auto& self, auto&& field) {
    field("selector", self.selector);
    field("template", self.pod_template);
    field("updateStrategy", self.update_strategy);
    field("minReadySeconds", self.min_ready_seconds);
    field("revisionHistoryLimit", self.revision_history_limit);
  }
  bool operator==(const DaemonSetSpec&) const = default;
};

struct DaemonSetStatus {
  int32_t current_number_scheduled = 0;
  int32_t number_misscheduled = 0;
  int32_t desired_number_scheduled = 0;
  int32_t number_ready = 0;
  int64_t observed_generation = 0;
  int32_t updated_number_scheduled = 0;
  int32_t number_available = 0;
  int32_t number_unavailable = 0;
  std::optional<int32_t> collision_count;
  std::vector<Condition> conditions;

  static void Fields(auto& self, auto&& field) {
    field("currentNumberScheduled", Always(self.current_number_scheduled));
    field("numberMisscheduled", Always(self.number_misscheduled));
    field("desiredNumberScheduled", Always(self.desired_number_scheduled));
    field("numberReady", Always(self.number_ready));
    field("observedGeneration", self.observed_generation);
    field("updatedNumberScheduled", self.updated_number_scheduled);
    field("numberAvailable", self.number_available);
    field("numberUnavailable", self.number_unavailable);
    field("collisionCount", self.collision_count);
    field("conditions", self.conditions);
  }
  bool operator==(const DaemonSetStatus&) const = default;
};

struct DaemonSet {
  ObjectMeta metadata;
  DaemonSetSpec spec;
  DaemonSetStatus status;

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("spec", self.spec);
    field("status", self.status);
  }
  bool operator==(const DaemonSet&) const = default;
};

// What a StatefulSet or DaemonSet looked like at one of its revisions.
struct ControllerRevision {
  ObjectMeta metadata;
  Json data;
  int64_t revision = 0;

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("data", self.data);
    field("revision", Always(self.revision));
  }
  bool operator==(const ControllerRevision&) const = default;
};

}  // namespace koord::kube

KOORD_DECLARE_CODEC(koord::kube::ReplicaSet);
KOORD_DECLARE_CODEC(koord::kube::ReplicationController);
KOORD_DECLARE_CODEC(koord::kube::Deployment);
KOORD_DECLARE_CODEC(koord::kube::StatefulSet);
KOORD_DECLARE_CODEC(koord::kube::DaemonSet);
KOORD_DECLARE_CODEC(koord::kube::ControllerRevision);
