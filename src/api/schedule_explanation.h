#pragma once
#include <optional>
#include <string>
#include <vector>

#include "kube/objects/meta.h"
#include "kube/time.h"

// Asks why a pod, a job or a gang group is not scheduled, and has the answer.
namespace koord::api {

struct ScheduleExplanationSpec {
  std::string question_object_key;  // "namespace/name" or the id of a gang group
  kube::Json question_object_template;
  std::optional<Duration> ttl;  // 0: kept

  static void Fields(auto& self, auto&& field) {
    field("questionObjectKey", self.question_object_key);
    field("questionObjectTemplate", self.question_object_template);
    field("ttl", self.ttl);
  }
  bool operator==(const ScheduleExplanationSpec&) const = default;
};

struct FeasiblePlacement {
  std::string ns;
  std::string name;
  std::string uid;
  std::string node_name;

  static void Fields(auto& self, auto&& field) {
    field("namespace", self.ns);
    field("name", self.name);
    field("uid", self.uid);
    field("nodeName", self.node_name);
  }
  bool operator==(const FeasiblePlacement&) const = default;
};

struct NodeFailure {
  std::string failed_plugin;
  std::string reason;
  bool preempt_might_help = false;
  std::vector<std::string> failed_nodes;

  static void Fields(auto& self, auto&& field) {
    field("failedPlugin", self.failed_plugin);
    field("reason", self.reason);
    field("preemptMightHelp", self.preempt_might_help);
    field("failedNodes", self.failed_nodes);
  }
  bool operator==(const NodeFailure&) const = default;
};

struct AttemptExplanation {
  bool schedulable = false;
  std::string failed_message;
  std::vector<FeasiblePlacement> feasible_scheduling_result;
  std::vector<NodeFailure> node_failed_details;

  static void Fields(auto& self, auto&& field) {
    field("schedulable", self.schedulable);
    field("failedMessage", self.failed_message);
    field("feasibleSchedulingResult", self.feasible_scheduling_result);
    field("nodeFailedDetails", self.node_failed_details);
  }
  bool operator==(const AttemptExplanation&) const = default;
};

struct PossibleVictim {
  std::string ns;
  std::string name;
  std::string uid;
  bool is_nominated_pod = false;

  static void Fields(auto& self, auto&& field) {
    field("namespace", self.ns);
    field("name", self.name);
    field("uid", self.uid);
    field("isNominatedPod", self.is_nominated_pod);
  }
  bool operator==(const PossibleVictim&) const = default;
};

struct NodePossibleVictims {
  std::string node_name;
  std::vector<PossibleVictim> possible_victims;

  static void Fields(auto& self, auto&& field) {
    field("nodeName", self.node_name);
    field("possibleVictims", self.possible_victims);
  }
  bool operator==(const NodePossibleVictims&) const = default;
};

struct DetailedExplanation {
  std::string topology_domain;
  bool schedulable = false;
  bool schedulable_after_preemption = false;
  std::string failed_message;
  std::optional<AttemptExplanation> schedule_explanation;
  std::vector<NodePossibleVictims> node_possible_victims;
  std::optional<AttemptExplanation> preempt_explanation;

  static void Fields(auto& self, auto&& field) {
    field("topologyDomain", self.topology_domain);
    field("schedulable", self.schedulable);
    field("schedulableAfterPreemption", self.schedulable_after_preemption);
    field("failedMessage", self.failed_message);
    field("scheduleExplanation", self.schedule_explanation);
    field("nodePossibleVictims", self.node_possible_victims);
    field("preemptExplanation", self.preempt_explanation);
  }
  bool operator==(const DetailedExplanation&) const = default;
};

struct ScheduleExplanationStatus {
  bool schedulable = false;
  bool schedulable_after_preemption = false;
  std::string failed_message;
  std::optional<WallTime> last_update_time;
  std::vector<DetailedExplanation> detailed_explanation;

  static void Fields(auto& self, auto&& field) {
    field("schedulable", self.schedulable);
    field("schedulableAfterPreemption", self.schedulable_after_preemption);
    field("failedMessage", self.failed_message);
    field("lastUpdateTime", self.last_update_time);
    field("detailedExplanation", self.detailed_explanation);
  }
  bool operator==(const ScheduleExplanationStatus&) const = default;
};

struct ScheduleExplanation {
  kube::ObjectMeta metadata;
  ScheduleExplanationSpec spec;
  ScheduleExplanationStatus status;

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("spec", self.spec);
    field("status", self.status);
  }
  bool operator==(const ScheduleExplanation&) const = default;
};

}  // namespace koord::api

KOORD_DECLARE_CODEC(koord::api::ScheduleExplanation);
