#pragma once
#include <string_view>

#include "kube/config_document.h"

// Arguments of the plugins that bound how many nodes they look at.
namespace koord::scheduler {

struct DefaultPreemptionArgs {
  static constexpr std::string_view kPlugin = "DefaultPreemption";

  // How many nodes are tried at least, as a share of all and as a number.
  int32_t min_candidate_nodes_percentage = 10;
  int32_t min_candidate_nodes_absolute = 100;

  static void Fields(auto& self, auto&& field) {
    field("minCandidateNodesPercentage", kube::Always(self.min_candidate_nodes_percentage));
    field("minCandidateNodesAbsolute", kube::Always(self.min_candidate_nodes_absolute));
  }
  bool operator==(const DefaultPreemptionArgs&) const = default;

  void Check(const kube::ConfigField& at) const;
};

struct SchedulingHintArgs {
  static constexpr std::string_view kPlugin = "SchedulingHint";

  int64_t max_hint_nodes = 100;  // of a pod's preferred ones

  static void Fields(auto& self, auto&& field) {
    field("maxHintNodes", kube::Always(self.max_hint_nodes));
  }
  bool operator==(const SchedulingHintArgs&) const = default;

  void Check(const kube::ConfigField& at) const;
};

}  // namespace koord::scheduler
