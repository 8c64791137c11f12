#pragma once
#include <optional>
#include <string>
#include <vector>

#include "kube/objects/meta.h"

namespace koord::kube {

struct JobSpec {
  std::optional<int32_t> parallelism;
  std::optional<int32_t> completions;
  std::optional<int64_t> active_deadline_seconds;
  std::optional<LabelSelector> selector;
  std::optional<bool> manual_selector;
  Json pod_template;
  std::optional<int32_t> backoff_limit;
  std::optional<int32_t> ttl_seconds_after_finished;
  std::string completion_mode;  // NonIndexed (also when empty), Indexed
  std::optional<bool> suspend;
  std::string pod_replacement_policy;

  static void Fields(auto& self, auto&& field) {
    field("parallelism", self.parallelism);
    field("completions", self.completions);
    field("activeDeadlineSeconds", self.active_deadline_seconds);
    field("selector", self.selector);
    field("manualSelector", self.manual_selector);
    field("template", self.pod_template);
    field("backoffLimit", self.backoff_limit);
    field("ttlSecondsAfterFinished", self.ttl_seconds_after_finished);
    field("completionMode", self.completion_mode);
    field("suspend", self.suspend);
    field("podReplacementPolicy", self.pod_replacement_policy);
  }
  bool operator==(const JobSpec&) const = default;
};

struct JobCondition : Condition {
  std::optional<WallTime> last_probe_time;

  static void Fields(auto& self, auto&& field) {
    Condition::Fields(self, field);
    field("lastProbeTime", self.last_probe_time);
  }
  bool operator==(const JobCondition&) const = default;
};

struct UncountedTerminatedPods {
  std::vector<std::string> succeeded;
  std::vector<std::string> failed;

  static void Fields(auto& self, auto&& field) {
    field("succeeded", self.succeeded);
    field("failed", self.failed);
  }
  bool operator==(const UncountedTerminatedPods&) const = default;
};

struct JobStatus {
  std::vector<JobCondition> conditions;
  std::optional<WallTime> start_time;
  std::optional<WallTime> completion_time;
  int32_t active = 0;
  int32_t succeeded = 0;
  int32_t failed = 0;
  std::optional<int32_t> terminating;
  std::optional<int32_t> ready;
  std::string completed_indexes;
  std::optional<UncountedTerminatedPods> uncounted_terminated_pods;

  static void Fields(auto& self, auto&& field) {
    field("conditions", self.conditions);
    field("startTime", self.start_time);
    field("completionTime", self.completion_time);
    field("active", self.active);
    field("succeeded", self.succeeded);
    field("failed", self.failed);
    field("terminating", self.terminating);
    field("ready", self.ready);
    field("completedIndexes", self.completed_indexes);
    field("uncountedTerminatedPods", self.uncounted_terminated_pods);
  }
  bool operator==(const JobStatus&) const = default;
};

struct Job {
  ObjectMeta metadata;
  JobSpec spec;
  JobStatus status;

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("spec", self.spec);
    field("status", self.status);
  }
  bool operator==(const Job&) const = default;
};

}  // namespace koord::kube

KOORD_DECLARE_CODEC(koord::kube::Job);
