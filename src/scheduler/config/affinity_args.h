#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/config_document.h"
#include "kube/objects/node_affinity.h"
#include "kube/objects/pod_affinity.h"

// Arguments of the plugins that look at where pods want to be.
namespace koord::scheduler {

struct NodeAffinityArgs {
  static constexpr std::string_view kPlugin = "NodeAffinity";

  // Holds for every pod of the profile, beside the pod's own.
  std::optional<kube::NodeAffinity> added_affinity;

  static void Fields(auto& self, auto&& field) { field("addedAffinity", self.added_affinity); }
  bool operator==(const NodeAffinityArgs&) const = default;

  void Check(const kube::ConfigField& at) const;
};

struct InterPodAffinityArgs {
  static constexpr std::string_view kPlugin = "InterPodAffinity";

  // What a required affinity of an existing pod is worth to a pod that it asks for.
  int32_t hard_pod_affinity_weight = 1;
  bool ignore_preferred_terms_of_existing_pods = false;

  static void Fields(auto& self, auto&& field) {
    field("hardPodAffinityWeight", kube::Always(self.hard_pod_affinity_weight));
    field("ignorePreferredTermsOfExistingPods",
          kube::Always(self.ignore_preferred_terms_of_existing_pods));
  }
  bool operator==(const InterPodAffinityArgs&) const = default;

  void Check(const kube::ConfigField& at) const;
};

struct PodTopologySpreadArgs {
  static constexpr std::string_view kPlugin = "PodTopologySpread";
  static constexpr std::string_view kSystem = "System";
  static constexpr std::string_view kList = "List";

  // For pods without constraints of their own, with defaultingType List.
  std::vector<kube::TopologySpreadConstraint> default_constraints;
  std::string defaulting_type;

  static void Fields(auto& self, auto&& field) {
    field("defaultConstraints", self.default_constraints);
    field("defaultingType", self.defaulting_type);
  }
  bool operator==(const PodTopologySpreadArgs&) const = default;

  void SetDefaults();
  void Check(const kube::ConfigField& at) const;
};

}  // namespace koord::scheduler
