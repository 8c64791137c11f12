#include "localcluster/controllers/job/job_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "kube/controller/plan_testing.h"
#include "kube/objects/objects_testing.h"
#include "kube/resources.h"
#include "localcluster/controllers/job/index_set.h"
#include "localcluster/controllers/job/job_pod.h"

namespace koord::localcluster::job_plan_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

kube::Job Sum(std::string_view spec = "{}") {
  kube::Job job = kube::FromText<kube::Job>(R"({
    "metadata": {"name": "sum", "namespace": "default", "uid": "u1", "resourceVersion": "5"},
    "spec": {"template": {"metadata": {"labels": {"job": "sum"}},
             "spec": {"restartPolicy": "Never", "containers": [{"name": "c"}]}}}})");
  kube::Json merged = kube::Encode(job.spec);
  const kube::Json given = kube::ParseTestJson(spec);
  for (const auto& [key, value] : given.as_object()) merged.as_object()[key] = value;
  job.spec = *kube::Decode<kube::JobSpec>(merged);
  return job;
}

// Carries plans out on a job and its pods, as an API server and a node would.
class World {
 public:
  explicit World(kube::Job job) : job(std::move(job)) {}

  // Decides and applies until nothing is left to do; false if that takes suspiciously long.
  bool Settle() {
    for (int i = 0; i < 20; ++i) {
      kube::Plan plan = Decide();
      if (plan.writes.empty()) return true;
      for (const kube::Write& write : plan.writes) Apply(write);
    }
    return false;
  }
  kube::Plan Decide() {
    PodList list;
    for (const auto& [name, pod] : pods) list.push_back(SharedOf(pod));
    kube::Plan plan;
    PlanJob({.job = job, .pods = list, .now = now}, random_, plan);
    return plan;
  }
  void Apply(const kube::Write& write) {
    if (write.verb == kube::Write::Verb::kCreate) {
      kube::Pod pod = *kube::Decode<kube::Pod>(write.body);
      pod.metadata.uid = "uid-" + pod.metadata.name;
      pod.metadata.creation_timestamp = now;
      pod.status.phase = "Pending";
      pods[pod.metadata.name] = pod;
    } else if (write.verb == kube::Write::Verb::kDelete) {
      if (write.resource == kube::kJobs) return void(deleted = true);
      pods[write.key.name].metadata.deletion_timestamp = now;
      if (pods[write.key.name].metadata.finalizers.empty()) pods.erase(write.key.name);
    } else if (write.resource == kube::kPods) {
      kube::Pod& pod = pods[write.key.name];
      pod.metadata.finalizers.clear();
      if (pod.metadata.deletion_timestamp) pods.erase(write.key.name);
    } else {
      kube::Json status = kube::Encode(job.status);
      for (const auto& [key, value] : write.body.at("status").as_object()) {
        if (value.is_null()) {
          status.as_object().erase(key);
        } else if (value.is_object() && status.as_object().contains(key)) {
          for (const auto& [inner, item] : value.as_object()) {
            if (item.is_null()) {
              status.at(key).as_object().erase(inner);
            } else {
              status.at(key).as_object()[inner] = item;
            }
          }
        } else {
          status.as_object()[key] = value;
        }
      }
      job.status = *kube::Decode<kube::JobStatus>(status);
    }
  }
  // Ends one (or all) running pods.
  void End(const std::string& phase, size_t count = 1000) {
    for (auto& [name, pod] : pods) {
      if (kube::IsTerminal(pod) || count == 0) continue;
      --count;
      pod.status.phase = phase;
      pod.status.container_statuses.Mutable().resize(1);
      pod.status.container_statuses.Mutable()[0].state.terminated =
          kube::ContainerStateTerminated{.finished_at = now};
    }
  }
  int Active() const {
    int active = 0;
    for (const auto& [name, pod] : pods) active += !kube::IsTerminal(pod);
    return active;
  }
  std::string Verdict() const {
    for (const char* type : {"Complete", "Failed"}) {
      const auto* condition = kube::FindCondition(job.status.conditions, type);
      if (condition != nullptr) return condition->type + " " + condition->reason;
    }
    return "";
  }

  kube::Job job;
  std::map<std::string, kube::Pod> pods;
  WallTime now = kube::kTestNow;
  bool deleted = false;

 private:
  Random random_{1};
};

TEST(JobPlan, OnePodThatSucceedsCompletesIt) {
  World w(Sum(R"({"completions":1,"parallelism":1})"));
  ASSERT_TRUE(w.Settle());
  ASSERT_THAT(w.pods, SizeIs(1));
  EXPECT_EQ(w.job.status.active, 1);
  EXPECT_EQ(w.job.status.start_time, kube::kTestNow);
  w.now += 30s;
  w.End("Succeeded");
  ASSERT_TRUE(w.Settle());
  EXPECT_EQ(w.Verdict(), "Complete CompletionsReached");
  EXPECT_EQ(w.job.status.succeeded, 1);
  EXPECT_EQ(w.job.status.active, 0);
  EXPECT_EQ(w.job.status.completion_time, kube::kTestNow + 30s);
  EXPECT_FALSE(IsTracked(w.pods.begin()->second)) << "the pod may be deleted now";
}

TEST(JobPlan, ParallelismBoundsWhatRunsAndNotMoreThanIsMissing) {
  World w(Sum(R"({"completions":5,"parallelism":2})"));
  for (int done : {0, 2, 4}) {
    ASSERT_TRUE(w.Settle());
    EXPECT_EQ(w.Active(), done == 4 ? 1 : 2);
    w.End("Succeeded");
  }
  ASSERT_TRUE(w.Settle());
  EXPECT_EQ(w.Verdict(), "Complete CompletionsReached");
  EXPECT_EQ(w.job.status.succeeded, 5);
  EXPECT_THAT(w.pods, SizeIs(5));
}

TEST(JobPlan, WithoutCompletionsOneSuccessEndsTheWork) {
  World w(Sum(R"({"parallelism":3})"));
  ASSERT_TRUE(w.Settle());
  EXPECT_EQ(w.Active(), 3);
  w.End("Succeeded", 1);
  ASSERT_TRUE(w.Settle());
  EXPECT_EQ(w.Active(), 2) << "the others finish, nobody is replaced";
  EXPECT_EQ(w.Verdict(), "");
  w.End("Succeeded");
  ASSERT_TRUE(w.Settle());
  EXPECT_EQ(w.Verdict(), "Complete CompletionsReached");
}

TEST(JobPlan, FailuresAreRetriedAfterGrowingPausesUpToTheLimit) {
  World w(Sum(R"({"completions":1,"parallelism":1,"backoffLimit":2})"));
  ASSERT_TRUE(w.Settle());
  for (Duration pause : {Duration(10s), Duration(20s)}) {
    w.End("Failed");
    ASSERT_TRUE(w.Settle());
    EXPECT_EQ(w.Active(), 0);
    EXPECT_EQ(w.Decide().again, pause);
    w.now += pause;
    ASSERT_TRUE(w.Settle());
    EXPECT_EQ(w.Active(), 1);
  }
  w.End("Failed");
  ASSERT_TRUE(w.Settle());
  EXPECT_EQ(w.Verdict(), "Failed BackoffLimitExceeded");
  EXPECT_EQ(w.job.status.failed, 3);
}

TEST(JobPlan, RestartsInPlaceCountAgainstTheLimit) {
  World w(Sum(R"({"completions":1,"parallelism":1,"backoffLimit":1,
                  "template":{"spec":{"restartPolicy":"OnFailure","containers":[{"name":"c"}]}}})"));
  ASSERT_TRUE(w.Settle());
  kube::Pod& pod = w.pods.begin()->second;
  pod.status.container_statuses.Mutable().resize(1);
  pod.status.container_statuses.Mutable()[0].restart_count = 1;
  ASSERT_TRUE(w.Settle());
  EXPECT_EQ(w.Verdict(), "");
  pod.status.container_statuses.Mutable()[0].restart_count = 2;
  ASSERT_TRUE(w.Settle());
  EXPECT_EQ(w.Verdict(), "Failed BackoffLimitExceeded");
  EXPECT_THAT(w.pods, IsEmpty());
}

TEST(JobPlan, TheDeadlineEndsWhatRuns) {
  World w(Sum(R"({"completions":1,"parallelism":1,"activeDeadlineSeconds":60})"));
  ASSERT_TRUE(w.Settle());
  EXPECT_EQ(w.Decide().again, Duration(60s));
  w.now += 60s;
  ASSERT_TRUE(w.Settle());
  EXPECT_EQ(w.Verdict(), "Failed DeadlineExceeded");
  EXPECT_EQ(w.Active(), 0);
}

TEST(JobPlan, EachIndexSucceedsOnce) {
  World w(Sum(R"({"completions":4,"parallelism":2,"completionMode":"Indexed"})"));
  ASSERT_TRUE(w.Settle());
  std::vector<std::string> hosts;
  for (const auto& [name, pod] : w.pods) {
    hosts.push_back(pod.metadata.annotations.at(kCompletionIndex));
    EXPECT_THAT(name, ::testing::StartsWith("sum-" + hosts.back() + "-"));
  }
  EXPECT_THAT(hosts, ::testing::UnorderedElementsAre("0", "1"));
  w.End("Succeeded", 1);
  ASSERT_TRUE(w.Settle());
  EXPECT_EQ(w.job.status.completed_indexes, "0");
  w.End("Failed", 1);  // index 1
  w.now += 1min;
  ASSERT_TRUE(w.Settle());
  w.End("Succeeded");
  ASSERT_TRUE(w.Settle());
  w.End("Succeeded");
  ASSERT_TRUE(w.Settle());
  EXPECT_EQ(w.job.status.completed_indexes, "0-3");
  EXPECT_EQ(w.job.status.succeeded, 4);
  EXPECT_EQ(w.job.status.failed, 1);
  EXPECT_EQ(w.Verdict(), "Complete CompletionsReached");
}

TEST(JobPlan, ASuspendedJobHasNoPodsAndStartsAnew) {
  World w(Sum(R"({"completions":1,"parallelism":1})"));
  ASSERT_TRUE(w.Settle());
  w.job.spec.suspend = true;
  ASSERT_TRUE(w.Settle());
  EXPECT_THAT(w.pods, IsEmpty());
  EXPECT_EQ(w.job.status.failed, 0) << "they have not failed";
  EXPECT_TRUE(kube::IsConditionTrue(w.job.status.conditions, "Suspended"));
  w.job.spec.suspend = false;
  w.now += 1h;
  ASSERT_TRUE(w.Settle());
  EXPECT_EQ(w.Active(), 1);
  EXPECT_EQ(w.job.status.start_time, kube::kTestNow + 1h);
}

TEST(JobPlan, LessParallelismRemovesTheLeastAdvanced) {
  World w(Sum(R"({"completions":4,"parallelism":3})"));
  ASSERT_TRUE(w.Settle());
  w.pods.begin()->second.spec.node_name = "n1";
  const std::string running = w.pods.begin()->first;
  w.job.spec.parallelism = 1;
  ASSERT_TRUE(w.Settle());
  ASSERT_THAT(w.pods, SizeIs(1));
  EXPECT_EQ(w.pods.begin()->first, running);
}

TEST(JobPlan, FinishedJobsGoWhenTheirTimeIsOver) {
  World w(Sum(R"({"completions":1,"parallelism":1,"ttlSecondsAfterFinished":100})"));
  ASSERT_TRUE(w.Settle());
  w.End("Succeeded");
  ASSERT_TRUE(w.Settle());
  EXPECT_EQ(w.Decide().again, Duration(100s));
  EXPECT_FALSE(w.deleted);
  w.now += 100s;
  kube::Plan plan = w.Decide();
  ASSERT_THAT(StepsOf(plan), ElementsAre("delete jobs default/sum"));
}

TEST(JobPlan, APodIsCountedOnceHoweverOftenStepsAreRepeated) {
  World w(Sum(R"({"completions":3,"parallelism":1})"));
  ASSERT_TRUE(w.Settle());
  w.End("Succeeded");
  // The status is written, but the program dies before the finalizer is gone; then it runs again.
  kube::Plan first = w.Decide();
  for (const kube::Write& write : first.writes) {
    if (write.resource == kube::kJobs) w.Apply(write);
  }
  EXPECT_EQ(w.job.status.succeeded, 0);
  EXPECT_THAT(w.job.status.uncounted_terminated_pods->succeeded, SizeIs(1));
  ASSERT_TRUE(w.Settle());
  EXPECT_EQ(w.job.status.succeeded, 1);
  // Finished pods may vanish as soon as they are counted.
  std::erase_if(w.pods, [](const auto& pod) { return kube::IsTerminal(pod.second); });
  ASSERT_TRUE(w.Settle());
  EXPECT_EQ(w.job.status.succeeded, 1);
}

TEST(JobPlan, StatusRestsOnTheLatestVersion) {
  World w(Sum(R"({"completions":1,"parallelism":1})"));
  EXPECT_EQ(kube::FindString(BodyOf(w.Decide(), "patch jobs/status default/sum"),
                             {"metadata", "resourceVersion"}),
            "5");
}

TEST(IndexSet, ReadsAndWritesRanges) {
  EXPECT_EQ(FormatIndexes({}), "");
  EXPECT_EQ(FormatIndexes({0, 2, 3, 5, 6, 7}), "0,2,3,5-7");
  EXPECT_THAT(ParseIndexes("0,2-4,x,9", 5), ElementsAre(0, 2, 3, 4));
  EXPECT_THAT(ParseIndexes("0-99999999999", 3), ElementsAre(0, 1, 2));
  EXPECT_THAT(ParseIndexes("", 5), IsEmpty());
}

}  // namespace
}  // namespace koord::localcluster::job_plan_test
