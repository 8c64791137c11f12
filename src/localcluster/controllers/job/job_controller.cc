#include "localcluster/controllers/job/job_controller.h"

#include "kube/resources.h"
#include "localcluster/controllers/common/ownership.h"
#include "localcluster/controllers/job/job_plan.h"
#include "localcluster/controllers/job/job_pod.h"

namespace koord::localcluster {
namespace {

// Keys of pods that carry the finalizer but belong to no job; those of jobs stand for themselves.
constexpr std::string_view kStray = "stray:";

}  // namespace

JobController::JobController(ControllerContext& context) : Controller("job-controller", context) {
  Watch(informers().jobs, [this](const auto& before, const auto& after) {
    Enqueue(KeyText((after ? after : before)->metadata));
    if (after != nullptr) return;
    for (const auto& pod :
         informers().pods.ByIndex(SharedInformers::kByOwner, before->metadata.uid)) {
      Enqueue(std::string(kStray) + KeyText(pod->metadata));
    }
  });
  Watch(informers().pods, [this](const auto& before, const auto& after) {
    ForOwners(before, after, kube::kJobs, informers().jobs,
              [this](const std::string& key) { Enqueue(key); });
    if (after != nullptr && IsTracked(*after)) {
      const bool may_be_stray = !informers().synced() || IsStray(*after);
      if (may_be_stray) Enqueue(std::string(kStray) + KeyText(after->metadata));
    }
  });
}

Plan JobController::Decide(const std::string& key) {
  if (!key.starts_with(kStray)) return DecideJob(key);
  return DecideStray(key.substr(kStray.size()));
}

Plan JobController::DecideJob(const std::string& key) {
  Plan plan;
  const auto job = informers().jobs.Get(ParseKey(key));
  if (job == nullptr) return plan;
  const PodList pods = ClaimAll(informers().pods, kube::kPods, {kube::kJobs, job->metadata},
                                job->spec.selector, plan);
  PlanJob({.job = *job, .pods = pods, .now = Now()}, context().random, plan);
  return plan;
}

bool JobController::IsStray(const kube::Pod& pod) {
  const auto job_key = ControllerKey(pod.metadata, kube::kJobs);
  if (!job_key) return true;
  const auto job = informers().jobs.Get(ParseKey(*job_key));
  return job == nullptr || job->metadata.uid != kube::ControllerOf(pod.metadata)->uid;
}

// Only pods on their way out are freed: a pod whose job is not in sight yet keeps its finalizer.
Plan JobController::DecideStray(const std::string& pod_key) {
  Plan plan;
  const auto pod = informers().pods.Get(ParseKey(pod_key));
  if (pod == nullptr || !IsTracked(*pod) || !IsStray(*pod)) return plan;
  if (kube::IsBeingDeleted(pod->metadata) || kube::ControllerOf(pod->metadata) == nullptr) {
    plan.Add(Untrack(*pod));
  }
  return plan;
}

}  // namespace koord::localcluster
