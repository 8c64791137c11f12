#include "localcluster/controllers/cronjob/cron_job_controller.h"

#include "kube/resources.h"
#include "localcluster/controllers/common/ownership.h"
#include "localcluster/controllers/cronjob/cron_job_plan.h"

namespace koord::localcluster {

CronJobController::CronJobController(ControllerContext& context)
    : ClusterController("cronjob-controller", context) {
  Watch(informers().cron_jobs, [this](const auto&, const auto& after) {
    if (after != nullptr) Enqueue(KeyText(after->metadata));
  });
  Watch(informers().jobs, [this](const auto& before, const auto& after) {
    const auto key = ControllerKey((after ? after : before)->metadata, kube::kCronJobs);
    if (key) Enqueue(*key);
  });
}

kube::Plan CronJobController::Decide(const std::string& key) {
  kube::Plan plan;
  const auto cron_job = informers().cron_jobs.Get(kube::ParseKey(key));
  if (cron_job == nullptr) return plan;
  const JobList jobs = informers().jobs.ByIndex(kube::kByOwner, cron_job->metadata.uid);
  PlanCronJob({.cron_job = *cron_job, .jobs = jobs, .now = Now()}, plan);
  return plan;
}

void CronJobController::OnRefused(const std::string& key, const kube::Write& write,
                                  const Status& status) {
  const auto cron_job = informers().cron_jobs.Get(kube::ParseKey(key));
  if (cron_job == nullptr || write.verb != kube::Write::Verb::kCreate) return;
  WarnNow(kube::kCronJobs, cron_job->metadata, "FailedCreate",
          "Error creating job: " + std::string(Message(status)));
}

}  // namespace koord::localcluster
