#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kube/int_or_string.h"
#include "kube/objects/meta.h"

namespace koord::kube {

struct PodDisruptionBudgetSpec {
  std::optional<IntOrString> min_available;
  std::optional<IntOrString> max_unavailable;
  std::optional<LabelSelector> selector;      // absent: no pod
  std::string unhealthy_pod_eviction_policy;  // IfHealthyBudget (also when empty), AlwaysAllow

  static void Fields(auto& self, auto&& field) {
    field("minAvailable", self.min_available);
    field("maxUnavailable", self.max_unavailable);
    field("selector", self.selector);
    field("unhealthyPodEvictionPolicy", self.unhealthy_pod_eviction_policy);
  }
  bool operator==(const PodDisruptionBudgetSpec&) const = default;
};

// Unlike most conditions, those of a budget always state reason and message, and clients insist on
// it.
struct DisruptionCondition : Condition {
  static void Fields(auto& self, auto&& field) {
    Condition::Fields(self, field);
    field("reason", Always(self.reason));
    field("message", Always(self.message));
  }
  bool operator==(const DisruptionCondition&) const = default;
};

struct PodDisruptionBudgetStatus {
  int64_t observed_generation = 0;
  std::map<std::string, WallTime, std::less<>> disrupted_pods;  // evicted, not yet seen to be gone
  int32_t disruptions_allowed = 0;
  int32_t current_healthy = 0;
  int32_t desired_healthy = 0;
  int32_t expected_pods = 0;
  std::vector<DisruptionCondition> conditions;

  static void Fields(auto& self, auto&& field) {
    field("observedGeneration", self.observed_generation);
    field("disruptedPods", self.disrupted_pods);
    field("disruptionsAllowed", Always(self.disruptions_allowed));
    field("currentHealthy", Always(self.current_healthy));
    field("desiredHealthy", Always(self.desired_healthy));
    field("expectedPods", Always(self.expected_pods));
    field("conditions", self.conditions);
  }
  bool operator==(const PodDisruptionBudgetStatus&) const = default;
};

struct PodDisruptionBudget {
  ObjectMeta metadata;
  PodDisruptionBudgetSpec spec;
  PodDisruptionBudgetStatus status;

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("spec", self.spec);
    field("status", self.status);
  }
  bool operator==(const PodDisruptionBudget&) const = default;
};

}  // namespace koord::kube

KOORD_DECLARE_CODEC(koord::kube::PodDisruptionBudget);
