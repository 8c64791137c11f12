#pragma once
#include "base/clock.h"
#include "base/random.h"
#include "kube/controller/plan.h"
#include "kube/objects/job.h"
#include "localcluster/controllers/common/pod_state.h"

namespace koord::localcluster {

struct JobInput {
  const kube::Job& job;
  const PodList& pods;  // that the job controls
  WallTime now;
};

// Runs pods until enough of them have succeeded.
//
// `parallelism` pods run at a time until `completions` have succeeded (until one has, where no
// number is given); Indexed jobs run each index once. Failed pods are replaced after a pause that
// doubles from 10 seconds, until more than backoffLimit have failed or activeDeadlineSeconds have
// passed. A suspended job has no pods. A finished job is deleted ttlSecondsAfterFinished later.
//
// Every pod is counted exactly once, whatever is restarted or deleted when: a finalizer keeps it
// there until the status has it in its list of uncounted pods, and the status moves it from there
// to the sums only when the finalizer is gone.
void PlanJob(const JobInput& input, Random& random, kube::Plan& plan);

bool IsFinished(const kube::Job& job);

}  // namespace koord::localcluster
