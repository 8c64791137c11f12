#pragma once
#include <optional>
#include <string>
#include <vector>

#include "kube/objects/meta.h"

// Near which other pods a pod wants to be, and how it is spread.
namespace koord::kube {

struct PodAffinityTerm {
  std::optional<LabelSelector> label_selector;      // absent: no pod
  std::vector<std::string> namespaces;              // with no namespace_selector: the pod's own
  std::optional<LabelSelector> namespace_selector;  // empty: every namespace
  std::string topology_key;
  std::vector<std::string> match_label_keys;
  std::vector<std::string> mismatch_label_keys;

  static void Fields(auto& self, auto&& field) {
    field("labelSelector", self.label_selector);
    field("namespaces", self.namespaces);
    field("namespaceSelector", self.namespace_selector);
    field("topologyKey", Always(self.topology_key));
    field("matchLabelKeys", self.match_label_keys);
    field("mismatchLabelKeys", self.mismatch_label_keys);
  }
  bool operator==(const PodAffinityTerm&) const = default;
};

struct WeightedPodAffinityTerm {
  int32_t weight = 0;
  PodAffinityTerm pod_affinity_term;

  static void Fields(auto& self, auto&& field) {
    field("weight", Always(self.weight));
    field("podAffinityTerm", Always(self.pod_affinity_term));
  }
  bool operator==(const WeightedPodAffinityTerm&) const = default;
};

// Also the shape of anti-affinity.
struct PodAffinity {
  std::vector<PodAffinityTerm> required;
  std::vector<WeightedPodAffinityTerm> preferred;

  static void Fields(auto& self, auto&& field) {
    field("requiredDuringSchedulingIgnoredDuringExecution", self.required);
    field("preferredDuringSchedulingIgnoredDuringExecution", self.preferred);
  }
  bool operator==(const PodAffinity&) const = default;
};

struct TopologySpreadConstraint {
  int32_t max_skew = 0;
  std::string topology_key;
  std::string when_unsatisfiable;               // DoNotSchedule, ScheduleAnyway
  std::optional<LabelSelector> label_selector;  // absent: no pod
  std::optional<int32_t> min_domains;
  std::string node_affinity_policy;  // Honor (also when empty), Ignore
  std::string node_taints_policy;    // Ignore (also when empty), Honor
  std::vector<std::string> match_label_keys;

  static void Fields(auto& self, auto&& field) {
    field("maxSkew", Always(self.max_skew));
    field("topologyKey", Always(self.topology_key));
    field("whenUnsatisfiable", Always(self.when_unsatisfiable));
    field("labelSelector", self.label_selector);
    field("minDomains", self.min_domains);
    field("nodeAffinityPolicy", self.node_affinity_policy);
    field("nodeTaintsPolicy", self.node_taints_policy);
    field("matchLabelKeys", self.match_label_keys);
  }
  bool operator==(const TopologySpreadConstraint&) const = default;
};

}  // namespace koord::kube

KOORD_DECLARE_CODEC(koord::kube::PodAffinity);
KOORD_DECLARE_CODEC(koord::kube::TopologySpreadConstraint);
