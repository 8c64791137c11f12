#include "localcluster/controllers/cronjob/cron_job_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "kube/objects/objects_testing.h"
#include "kube/resources.h"
#include "kube/time.h"

namespace koord::localcluster::cron_job_plan_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Carries plans out, as an API server would.
class World {
 public:
  explicit World(std::string_view spec = "{}") {
    cron_job_ = kube::FromText<kube::CronJob>(R"({
      "metadata": {"name": "c", "namespace": "default", "uid": "u1", "resourceVersion": "5",
                   "creationTimestamp": "2024-05-01T12:00:30Z"},
      "spec": {"schedule": "*/10 * * * *", "jobTemplate": {"metadata": {"labels": {"l": "v"}},
               "spec": {"template": {"spec": {"restartPolicy": "Never"}}}}}})");
    kube::Json merged = kube::Encode(cron_job_.spec);
    const kube::Json given = kube::ParseTestJson(spec);
    for (const auto& [key, value] : given.as_object()) merged.as_object()[key] = value;
    cron_job_.spec = *kube::Decode<kube::CronJobSpec>(merged);
  }

  // What happens at a time of day: until there is nothing left to do then.
  void Run(std::string_view time) {
    now_ = *kube::ParseTime("2024-05-01T" + std::string(time) + "Z");
    for (int i = 0; i < 10; ++i) {
      const kube::Plan plan = Decide();
      again = plan.again;
      if (plan.writes.empty()) return;
      for (const auto& note : plan.notes) events.push_back(note.reason + " " + note.message);
      for (const kube::Write& write : plan.writes) Apply(write);
    }
    FAIL() << "it does not come to rest";
  }
  kube::Plan Decide() {
    JobList jobs;
    for (const auto& [name, job] : jobs_) jobs.push_back(std::make_shared<const kube::Job>(job));
    kube::Plan plan;
    PlanCronJob({.cron_job = cron_job_, .jobs = jobs, .now = now_}, plan);
    return plan;
  }
  void Finish(const std::string& name, std::string_view condition) {
    kube::Job& job = jobs_.at(name);
    kube::JobCondition done;
    done.type = std::string(condition);
    done.status = "True";
    job.status.conditions.push_back(done);
    job.status.start_time = now_;
    if (condition == "Complete") job.status.completion_time = now_;
  }
  std::vector<std::string> Jobs() const {
    std::vector<std::string> names;
    for (const auto& [name, job] : jobs_) names.push_back(name);
    return names;
  }
  std::vector<std::string> Active() const {
    std::vector<std::string> names;
    for (const auto& reference : cron_job_.status.active) names.push_back(reference.name);
    return names;
  }
  void Add(const std::string& name) {
    jobs_[name].metadata.name = name;
    jobs_[name].metadata.uid = "uid-" + name;
  }

  kube::CronJob cron_job_;
  std::map<std::string, kube::Job> jobs_;
  std::vector<std::string> events;
  std::optional<Duration> again;

 private:
  void Apply(const kube::Write& write) {
    if (write.verb == kube::Write::Verb::kCreate) {
      kube::Job job = *kube::Decode<kube::Job>(write.body);
      job.metadata.uid = "uid-" + job.metadata.name;
      jobs_[job.metadata.name] = job;
    } else if (write.verb == kube::Write::Verb::kDelete) {
      EXPECT_EQ(write.options.propagation_policy, "Background");
      jobs_.erase(write.key.name);
    } else {
      kube::Json status = kube::Encode(cron_job_.status);
      for (const auto& [key, value] : write.body.at("status").as_object()) {
        if (value.is_null()) {
          status.as_object().erase(key);
        } else {
          status.as_object()[key] = value;
        }
      }
      cron_job_.status = *kube::Decode<kube::CronJobStatus>(status);
    }
  }

  WallTime now_;
};

// Minutes since 1970 of 2024-05-01 at this hour and minute.
std::string Name(int hour, int minute) {
  return "c-" + std::to_string(28575360 + 60 * hour + minute);
}

TEST(CronJobPlan, StartsAJobAtItsTime) {
  World world;
  world.Run("12:05:00");
  EXPECT_THAT(world.Jobs(), IsEmpty());
  EXPECT_EQ(world.again, 5min);
  world.Run("12:10:00");
  EXPECT_THAT(world.Jobs(), ElementsAre(Name(12, 10)));
  EXPECT_THAT(world.Active(), ElementsAre(Name(12, 10)));
  EXPECT_THAT(world.events, ElementsAre("SuccessfulCreate Created job " + Name(12, 10)));
  EXPECT_EQ(kube::FormatTime(*world.cron_job_.status.last_schedule_time), "2024-05-01T12:10:00Z");
  EXPECT_EQ(world.again, 10min);
  const kube::Job& job = world.jobs_.begin()->second;
  EXPECT_EQ(kube::ValueOf(job.metadata.labels, "l"), "v");
  EXPECT_EQ(
      kube::ValueOf(job.metadata.annotations, "batch.kubernetes.io/cronjob-scheduled-timestamp"),
      "2024-05-01T12:10:00Z");
  EXPECT_EQ(job.metadata.owner_references.at(0).name, "c");
}

TEST(CronJobPlan, NotesWhatHasBecomeOfIt) {
  World world;
  world.Run("12:10:00");
  world.Finish(Name(12, 10), "Complete");
  world.events.clear();
  world.Run("12:11:00");
  EXPECT_THAT(world.events, ElementsAre("SawCompletedJob Saw completed job: " + Name(12, 10) +
                                        ", condition: Complete"));
  EXPECT_THAT(world.Active(), IsEmpty());
  EXPECT_EQ(kube::FormatTime(*world.cron_job_.status.last_successful_time), "2024-05-01T12:10:00Z");
}

TEST(CronJobPlan, MakesUpForTheLastTimeOnly) {
  World world;
  world.Run("13:59:00");
  EXPECT_THAT(world.Jobs(), ElementsAre(Name(13, 50)));
}

TEST(CronJobPlan, WarnsOfManyMissedTimes) {
  World world(R"({"schedule": "* * * * *"})");
  world.Run("15:59:00");
  EXPECT_THAT(world.Jobs(), ElementsAre(Name(15, 59)));
  EXPECT_THAT(world.events.at(0), HasSubstr("TooManyMissedTimes"));
}

TEST(CronJobPlan, IsNotTooLate) {
  World world(R"({"startingDeadlineSeconds": 60})");
  world.Run("12:15:00");
  EXPECT_THAT(world.Jobs(), IsEmpty());
  world.Run("12:20:59");
  EXPECT_THAT(world.Jobs(), ElementsAre(Name(12, 20)));
}

TEST(CronJobPlan, AllowsForbidsOrReplacesWhatRuns) {
  World allow;
  allow.Run("12:10:00");
  allow.Run("12:20:00");
  EXPECT_THAT(allow.Active(), ElementsAre(Name(12, 10), Name(12, 20)));

  World forbid(R"({"concurrencyPolicy": "Forbid"})");
  forbid.Run("12:10:00");
  forbid.Run("12:20:00");
  EXPECT_THAT(forbid.Jobs(), ElementsAre(Name(12, 10)));
  const kube::Plan told = forbid.Decide();
  EXPECT_THAT(told.notes.at(0).reason, "JobAlreadyActive");
  forbid.Finish(Name(12, 10), "Complete");
  forbid.Run("12:25:00");
  EXPECT_THAT(forbid.Active(), ElementsAre(Name(12, 20)));

  World replace(R"({"concurrencyPolicy": "Replace"})");
  replace.Run("12:10:00");
  replace.Run("12:20:00");
  EXPECT_THAT(replace.Jobs(), ElementsAre(Name(12, 20)));
  EXPECT_THAT(replace.Active(), ElementsAre(Name(12, 20)));
}

TEST(CronJobPlan, SuspendedItStartsNothing) {
  World world(R"({"suspend": true})");
  world.Run("12:10:00");
  EXPECT_THAT(world.Jobs(), IsEmpty());
  EXPECT_EQ(world.again, std::nullopt);
}

TEST(CronJobPlan, KeepsAsManyFinishedJobsAsAskedFor) {
  World world(R"({"successfulJobsHistoryLimit": 1, "failedJobsHistoryLimit": 0})");
  world.Run("12:10:00");
  world.Finish(Name(12, 10), "Complete");
  world.Run("12:20:00");
  world.Finish(Name(12, 20), "Failed");
  world.Run("12:30:00");
  world.Finish(Name(12, 30), "Complete");
  world.Run("12:31:00");
  EXPECT_THAT(world.Jobs(), ElementsAre(Name(12, 30)));
}

TEST(CronJobPlan, LeavesJobsMadeByHandAlone) {
  World world;
  world.Add("by-hand");
  world.Run("12:05:00");
  EXPECT_THAT(world.Active(), IsEmpty());
  EXPECT_THAT(world.Decide().notes.at(0).message,
              "Saw a job that the controller did not create or forgot: by-hand");
}

TEST(CronJobPlan, NoticesThatAJobIsGone) {
  World world;
  world.Run("12:10:00");
  world.jobs_.clear();
  world.events.clear();
  world.Run("12:11:00");
  EXPECT_THAT(world.Active(), IsEmpty());
  EXPECT_THAT(world.events, ElementsAre("MissingJob Active job went missing: " + Name(12, 10)));
  EXPECT_THAT(world.Jobs(), IsEmpty()) << "its time has been met";
}

TEST(CronJobPlan, RunsInItsTimeZone) {
  World world(R"({"schedule": "0 18 * * *", "timeZone": "Asia/Kolkata"})");
  world.Run("12:30:00");
  EXPECT_THAT(world.Jobs(), ElementsAre(Name(12, 30)));
  EXPECT_EQ(kube::ValueOf(world.jobs_.begin()->second.metadata.annotations,
                          "batch.kubernetes.io/cronjob-scheduled-timestamp"),
            "2024-05-01T18:00:00+05:30");
}

}  // namespace
}  // namespace koord::localcluster::cron_job_plan_test
