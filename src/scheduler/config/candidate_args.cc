#include "scheduler/config/candidate_args.h"

namespace koord::scheduler {

using kube::ConfigField;

void DefaultPreemptionArgs::Check(const ConfigField& at) const {
  at.Member("minCandidateNodesPercentage").CheckRange(min_candidate_nodes_percentage, 0, 100);
  at.Member("minCandidateNodesAbsolute").CheckAtLeast(min_candidate_nodes_absolute, 0);
  if (min_candidate_nodes_percentage == 0 && min_candidate_nodes_absolute == 0) {
    at.Error("minCandidateNodesPercentage and minCandidateNodesAbsolute cannot both be 0");
  }
}

void SchedulingHintArgs::Check(const ConfigField& at) const {
  at.Member("maxHintNodes").CheckAtLeast(max_hint_nodes, 1);
}

}  // namespace koord::scheduler
