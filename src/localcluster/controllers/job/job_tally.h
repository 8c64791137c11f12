#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "base/clock.h"
#include "kube/objects/job.h"
#include "localcluster/controllers/common/pod_state.h"

namespace koord::localcluster {

// Where a job's pods stand, and what the status is to say about those that have ended.
struct JobTally {
  PodList active;       // will run or run
  PodList terminating;  // told to go, not yet at their end
  PodList to_untrack;   // safely counted: their finalizers may go
  int32_t ready = 0;
  int32_t succeeded = 0, failed = 0;  // all there ever were
  std::set<int32_t> completed;        // indexes, of Indexed jobs
  // For the status: the sums without what is still uncounted, and that.
  int32_t counted_succeeded = 0, counted_failed = 0;
  kube::UncountedTerminatedPods uncounted;
  // Since the last success.
  int32_t recent_failures = 0;
  std::optional<WallTime> last_failure;
  int32_t restarts = 0;  // of the containers of active pods
};

JobTally TallyOf(const kube::Job& job, const PodList& pods);

inline bool IsIndexed(const kube::Job& job) { return job.spec.completion_mode == "Indexed"; }

}  // namespace koord::localcluster
