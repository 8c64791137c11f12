#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "kube/controller/plan.h"
#include "kube/objects/cron_job.h"
#include "kube/objects/job.h"

namespace koord::localcluster {

using JobList = std::vector<std::shared_ptr<const kube::Job>>;

struct CronJobInput {
  const kube::CronJob& cron_job;
  const JobList& jobs;  // that the CronJob controls
  WallTime now;
};

// Starts a Job whenever the schedule says so.
//
// Of the times that have been missed (the cluster was down, the CronJob suspended or an earlier Job
// still running under concurrencyPolicy Forbid) only the last is made up for, unless it is more
// than startingDeadlineSeconds ago. Under Replace, Jobs that run are deleted first. A Job is named
// after its time, so that no time gets two. Of finished Jobs as many stay as the history limits
// say.
void PlanCronJob(const CronJobInput& input, kube::Plan& plan);

// "backup-28571040": the CronJob and the minutes since 1970.
std::string CronJobJobName(const kube::CronJob& cron_job, WallTime scheduled);

}  // namespace koord::localcluster
