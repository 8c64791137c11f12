#pragma once
#include <optional>
#include <string>
#include <vector>

#include "kube/objects/meta.h"
#include "kube/time.h"

namespace koord::kube {

struct CronJobSpec {
  std::string schedule;
  std::string time_zone;
  std::optional<int64_t> starting_deadline_seconds;
  std::string concurrency_policy;  // Allow (also when empty), Forbid, Replace
  bool suspend = false;
  Json job_template;
  std::optional<int32_t> successful_jobs_history_limit;
  std::optional<int32_t> failed_jobs_history_limit;

  static void Fields(auto& self, auto&& field) {
    field("schedule", Always(self.schedule));
    field("timeZone", self.time_zone);
    field("startingDeadlineSeconds", self.starting_deadline_seconds);
    field("concurrencyPolicy", self.concurrency_policy);
    field("suspend", self.suspend);
    field("jobTemplate", self.job_template);
    field("successfulJobsHistoryLimit", self.successful_jobs_history_limit);
    field("failedJobsHistoryLimit", self.failed_jobs_history_limit);
  }
  bool operator==(const CronJobSpec&) const = default;
};

struct CronJobStatus {
  std::vector<ObjectReference> active;
  std::optional<WallTime> last_schedule_time;
  std::optional<WallTime> last_successful_time;

  static void Fields(auto& self, auto&& field) {
    field("active", self.active);
    field("lastScheduleTime", self.last_schedule_time);
    field("lastSuccessfulTime", self.last_successful_time);
  }
  bool operator==(const CronJobStatus&) const = default;
};

struct CronJob {
  ObjectMeta metadata;
  CronJobSpec spec;
  CronJobStatus status;

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("spec", self.spec);
    field("status", self.status);
  }
  bool operator==(const CronJob&) const = default;
};

}  // namespace koord::kube

KOORD_DECLARE_CODEC(koord::kube::CronJob);
