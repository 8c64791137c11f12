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

JobController::JobController(ControllerContext& context)
    : ClusterController("job-controller", context) {
  Watch(informers().jobs, [this](const auto& before, const auto& after) {
    Enqueue(KeyText((after ? after : before)->metadata));
    if (after != nullptr) return;
    for (const auto& pod : informers().pods.ByIndex(kube::kByOwner, before->metadata.uid)) {
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

kube::Plan JobController::Decide(const std::string& key) {
  if (!key.starts_with(kStray)) return DecideJob(key);
  return DecideStray(key.substr(kStray.size()));
}

kube::Plan JobController::DecideJob(const std::string& key) {
  kube::Plan plan;
  const auto job = informers().jobs.Get(kube::ParseKey(key));
  if (job == nullptr) return plan;
  const PodList pods = ClaimAll(informers().pods, kube::kPods, {kube::kJobs, job->metadata},
                                job->spec.selector, plan);
  PlanJob({.job = *job, .pods = pods, .now = Now()}, context().random, plan);
  return plan;
}

bool JobController::IsStray(const kube::Pod& pod) {
  const auto job_key = ControllerKey(pod.metadata, kube::kJobs);
  if (!job_key) return true;
  const auto job = informers().jobs.Get(kube::ParseKey(*job_key));
  return job == nullptr || job->metadata.uid != kube::ControllerOf(pod.metadata)->uid;
}

// Only pods on their way out are freed: a pod whose job is not in sight yet keeps its finalizer.
kube::Plan JobController::DecideStray(const std::string& pod_key) {
  kube::Plan plan;
  const auto pod = informers().pods.Get(kube::ParseKey(pod_key));
  if (pod == nullptr || !IsTracked(*pod) || !IsStray(*pod)) return plan;
  if (kube::IsBeingDeleted(pod->metadata) || kube::ControllerOf(pod->metadata) == nullptr) {
    plan.Add(Untrack(*pod));
  }
  return plan;
}

void JobController::OnRefused(const std::string& key, const kube::Write& write,
                              const Status& status) {
  const auto object = informers().jobs.Get(kube::ParseKey(key));
  if (object == nullptr || write.verb != kube::Write::Verb::kCreate) return;
  WarnNow(kube::kJobs, object->metadata, "FailedCreate",
          "Error creating: " + std::string(Message(status)));
}

}  // namespace koord::localcluster
