#include "localcluster/controllers/cronjob/cron_job_plan.h"

#include <absl/time/time.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "base/duration.h"
#include "kube/resources.h"
#include "kube/time.h"
#include "localcluster/controllers/common/ownership.h"
#include "localcluster/controllers/job/job_plan.h"
#include "localcluster/cron/cron_schedule.h"

namespace koord::localcluster {
namespace {

using kube::Json;

constexpr char kScheduledAt[] = "batch.kubernetes.io/cronjob-scheduled-timestamp";
constexpr int64_t kManyMissed = 100;

bool HasSucceeded(const kube::Job& job) {
  return kube::IsConditionTrue(job.status.conditions, "Complete");
}

// RFC 3339 in the zone's own time.
std::string LocalTime(WallTime time, const absl::TimeZone& zone) {
  constexpr std::string_view kZero = "+00:00";
  std::string text = absl::FormatTime("%Y-%m-%d%ET%H:%M:%E0S%Ez", absl::FromChrono(time), zone);
  if (text.ends_with(kZero)) text.replace(text.size() - kZero.size(), kZero.size(), "Z");
  return text;
}

// The time that a job was made for; none if it was made by hand.
std::optional<WallTime> ScheduledTime(const kube::CronJob& cron_job, const kube::Job& job) {
  const auto time = kube::ParseTime(kube::ValueOf(job.metadata.annotations, kScheduledAt));
  if (!time || job.metadata.name != CronJobJobName(cron_job, *time)) return {};
  return time;
}

struct Due {
  std::optional<WallTime> time;  // the last that has come and was not met
  std::optional<WallTime> next;  // the first to come
  bool too_many = false;         // were missed to be a matter of course
};

Due FindDue(const kube::CronJob& cron_job, const kube::CronJobStatus& status,
            const CronSchedule& schedule, const absl::TimeZone& zone, WallTime now) {
  WallTime from = status.last_schedule_time.value_or(cron_job.metadata.creation_timestamp);
  if (const auto& deadline = cron_job.spec.starting_deadline_seconds) {
    from = std::max(from, now - BoundedSeconds(*deadline));
  }
  Due due{.time = schedule.Last(from, now, zone)};
  due.next = schedule.Next(due.time.value_or(from), zone);
  const auto first = schedule.Next(from, zone);
  const auto second = first ? schedule.Next(*first, zone) : std::nullopt;
  due.too_many = second && (now - *first) / (*second - *first) >= kManyMissed;
  return due;
}

class CronJobPlanner {
 public:
  CronJobPlanner(const CronJobInput& input, kube::Plan& plan)
      : input_(input), cron_job_(input.cron_job), plan_(plan), status_(input.cron_job.status) {}

  void Decide() {
    LookAtJobs();
    ForgetMissingJobs();
    if (!kube::IsBeingDeleted(cron_job_.metadata)) {
      if (!cron_job_.spec.suspend) Schedule();
      RemoveOldJobs();
    }
    // Pinned: what is active has to follow from the latest list.
    plan_.Add(PinnedStatusPatch(kube::kCronJobs, cron_job_.metadata, kube::Encode(cron_job_.status),
                                kube::Encode(status_)));
  }

 private:
  void Tell(std::string_view reason, std::string message) {
    plan_.Tell(kube::kCronJobs, cron_job_.metadata, reason, std::move(message));
  }
  void Warn(std::string_view reason, std::string message) {
    plan_.Warn(kube::kCronJobs, cron_job_.metadata, reason, std::move(message));
  }

  bool IsListed(const kube::Job& job) const {
    return std::ranges::any_of(status_.active, [&](const kube::ObjectReference& reference) {
      return reference.uid == job.metadata.uid;
    });
  }
  void Unlist(const std::string& uid) {
    std::erase_if(status_.active,
                  [&](const kube::ObjectReference& reference) { return reference.uid == uid; });
  }

  void LookAtJobs() {
    for (const auto& job : input_.jobs) {
      const auto scheduled = ScheduledTime(cron_job_, *job);
      if (scheduled && *scheduled > status_.last_schedule_time.value_or(WallTime::min())) {
        status_.last_schedule_time = scheduled;
      }
      if (IsFinished(*job)) {
        LookAtFinished(*job);
      } else if (!IsListed(*job) && !kube::IsBeingDeleted(job->metadata)) {
        LookAtUnlisted(*job, scheduled.has_value());
      }
    }
  }

  void LookAtFinished(const kube::Job& job) {
    const bool succeeded = HasSucceeded(job);
    if (IsListed(job)) {
      Unlist(job.metadata.uid);
      Tell("SawCompletedJob", fmt::format("Saw completed job: {}, condition: {}", job.metadata.name,
                                          succeeded ? "Complete" : "Failed"));
    }
    const auto& completed = job.status.completion_time;
    if (succeeded && completed > status_.last_successful_time) {
      status_.last_successful_time = completed;
    }
  }

  void LookAtUnlisted(const kube::Job& job, bool is_ours) {
    if (!is_ours) {
      return Warn("UnexpectedJob",
                  "Saw a job that the controller did not create or forgot: " + job.metadata.name);
    }
    status_.active.push_back({.kind = kube::kJobs.kind,
                              .ns = job.metadata.ns,
                              .name = job.metadata.name,
                              .uid = job.metadata.uid,
                              .api_version = kube::kJobs.api_version(),
                              .resource_version = job.metadata.resource_version});
  }

  void ForgetMissingJobs() {
    std::vector<kube::ObjectReference> missing;
    for (const kube::ObjectReference& reference : status_.active) {
      const bool there = std::ranges::any_of(
          input_.jobs, [&](const auto& job) { return job->metadata.uid == reference.uid; });
      if (!there) missing.push_back(reference);
    }
    for (const kube::ObjectReference& reference : missing) {
      Unlist(reference.uid);
      Tell("MissingJob", "Active job went missing: " + reference.name);
    }
  }

  void Schedule() {
    const auto schedule = CronSchedule::Parse(cron_job_.spec.schedule);
    if (!schedule.ok()) {
      return Warn("UnparseableSchedule",
                  fmt::format("unparseable schedule: \"{}\" : {}", cron_job_.spec.schedule,
                              Message(schedule.status())));
    }
    const auto zone = FindTimeZone(cron_job_.spec.time_zone);
    if (!zone.ok()) {
      return Warn("UnknownTimeZone", fmt::format("invalid timeZone: \"{}\": {}",
                                                 cron_job_.spec.time_zone, Message(zone.status())));
    }
    const Due due = FindDue(cron_job_, status_, *schedule, *zone, input_.now);
    if (due.next) plan_.AgainWithin(*due.next - input_.now);
    if (!due.time) return;
    if (due.too_many) {
      Warn("TooManyMissedTimes",
           "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check "
           "clock skew");
    }
    Start(*due.time, *zone);
  }

  void Start(WallTime time, const absl::TimeZone& zone) {
    const std::string& policy = cron_job_.spec.concurrency_policy;
    if (policy == "Forbid" && !status_.active.empty()) {
      return Tell("JobAlreadyActive",
                  "Not starting job because prior execution is running and concurrency policy is "
                  "Forbid");
    }
    // What replaces them comes once they are seen to go.
    if (policy == "Replace" && !status_.active.empty()) return DeleteActive();
    kube::Write creation = Create(kube::kJobs, JobFor(time, zone));
    Tell("SuccessfulCreate", "Created job " + creation.key.name);
    // First, and so in a batch of its own: the time counts as met only when the job is there.
    plan_.writes.insert(plan_.writes.begin(), std::move(creation));
    status_.last_schedule_time = time;
  }

  void DeleteActive() {
    for (const auto& job : input_.jobs) {
      if (!IsListed(*job)) continue;
      Unlist(job->metadata.uid);
      if (!kube::IsBeingDeleted(job->metadata)) Remove(*job);
    }
    plan_.AgainWithin(Duration::zero());
  }

  Json JobFor(WallTime time, const absl::TimeZone& zone) const {
    Json job{{"metadata", kube::json::object()}};
    for (const char* part : {"labels", "annotations"}) {
      const Json* given = kube::Find(cron_job_.spec.job_template, {"metadata", part});
      if (given != nullptr) kube::At(job, {"metadata", part}) = *given;
    }
    kube::At(job, {"metadata", "annotations", kScheduledAt}) = LocalTime(time, zone);
    kube::At(job, {"metadata", "name"}) = CronJobJobName(cron_job_, time);
    kube::At(job, {"metadata", "namespace"}) = cron_job_.metadata.ns;
    kube::At(job, {"metadata", "ownerReferences"}) =
        kube::json::array{ControllerReference({kube::kCronJobs, cron_job_.metadata})};
    const Json* spec = kube::Find(cron_job_.spec.job_template, {"spec"});
    job.as_object()["spec"] = spec == nullptr ? Json(kube::json::object()) : *spec;
    return job;
  }

  void Remove(const kube::Job& job) {
    kube::Write removal = Delete(kube::kJobs, job.metadata);
    removal.options.propagation_policy = "Background";
    plan_.Add(std::move(removal));
    Tell("SuccessfulDelete", "Deleted job " + job.metadata.name);
  }

  void RemoveOldJobs() {
    JobList succeeded, failed;
    for (const auto& job : input_.jobs) {
      if (!IsFinished(*job) || kube::IsBeingDeleted(job->metadata)) continue;
      (HasSucceeded(*job) ? succeeded : failed).push_back(job);
    }
    RemoveOldest(std::move(succeeded), cron_job_.spec.successful_jobs_history_limit);
    RemoveOldest(std::move(failed), cron_job_.spec.failed_jobs_history_limit);
  }

  void RemoveOldest(JobList jobs, std::optional<int32_t> keep) {
    if (!keep || jobs.size() <= static_cast<size_t>(std::max(*keep, 0))) return;
    std::ranges::sort(jobs, {}, [](const auto& job) {
      return std::tuple(job->status.start_time.value_or(WallTime::max()), job->metadata.name);
    });
    jobs.resize(jobs.size() - static_cast<size_t>(std::max(*keep, 0)));
    for (const auto& job : jobs) Remove(*job);
  }

  const CronJobInput& input_;
  const kube::CronJob& cron_job_;
  kube::Plan& plan_;
  kube::CronJobStatus status_;
};

}  // namespace

std::string CronJobJobName(const kube::CronJob& cron_job, WallTime scheduled) {
  const auto minutes = std::chrono::floor<std::chrono::minutes>(scheduled.time_since_epoch());
  return fmt::format("{}-{}", cron_job.metadata.name, minutes.count());
}

void PlanCronJob(const CronJobInput& input, kube::Plan& plan) {
  CronJobPlanner(input, plan).Decide();
}

}  // namespace koord::localcluster
