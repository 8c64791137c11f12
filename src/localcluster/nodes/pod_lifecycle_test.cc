#include "localcluster/nodes/pod_lifecycle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/objects/objects_testing.h"

namespace koord::localcluster::pod_lifecycle_test {
namespace {

// A pod as the API shows it, and a node that acts on it.
class PodLife {
 public:
  explicit PodLife(kube::Pod made) : pod(std::move(made)) {
    pod.status = {};
    pod.status.phase = "Pending";
  }

  void Start() { Apply(StartedStatus(pod, {.host_ip = "172.16.0.1", .pod_ip = "10.0.4.1"}, now)); }

  // Lets the node act until it has nothing to do before `until`.
  void RunUntil(WallTime until) {
    for (int i = 0; i < 100; ++i) {
      PodStep step = pod.metadata.deletion_timestamp ? StepTerminating(pod, 2s, now)
                     : kube::IsTerminal(pod)         ? PodStep{}
                                                     : StepRunning(pod, now);
      removed |= step.remove;
      if (!step.status.is_null()) {
        ++writes;
        Apply(step.status);
        continue;
      }
      if (removed || !step.next || *step.next > until) break;
      now = *step.next;
    }
    now = until;
  }

  // A strategic merge patch of the status: conditions merge by type, everything else is replaced.
  void Apply(const kube::Json& patch) {
    kube::Json status = kube::Encode(pod.status);
    for (const auto& [key, value] : patch.as_object()) {
      if (key != "conditions") {
        status.as_object()[key] = value;
        continue;
      }
      for (const kube::Json& condition : value.as_array()) MergeCondition(status, condition);
    }
    pod.status = *kube::Decode<kube::PodStatus>(status);
  }

  static void MergeCondition(kube::Json& status, const kube::Json& condition) {
    kube::Json& list = kube::At(status, {"conditions"});
    if (!list.is_array()) list = kube::json::array{};
    for (kube::Json& known : list.as_array()) {
      if (known.at("type") == condition.at("type")) {
        known = condition;
        return;
      }
    }
    list.as_array().push_back(condition);
  }

  const kube::ContainerStatus& Main() const { return pod.status.container_statuses.at(0); }

  kube::Pod pod;
  WallTime now = kube::kTestNow;
  int writes = 0;
  bool removed = false;
};

kube::Pod Runs(std::string duration, std::string restart_policy, std::string exit_code = "0") {
  kube::Pod pod = kube::ReadyPod("p");
  pod.spec.restart_policy = std::move(restart_policy);
  pod.spec.containers.Mutable()[0].image = "app:1";
  if (!duration.empty()) pod.metadata.annotations[kRunDurationAnnotation] = std::move(duration);
  pod.metadata.annotations[kExitCodeAnnotation] = std::move(exit_code);
  return pod;
}

TEST(PodLifecycle, AStartedPodIsRunningAndReady) {
  PodLife life(Runs("", "Always"));
  life.Start();
  EXPECT_EQ(life.pod.status.phase, "Running");
  EXPECT_TRUE(kube::IsReady(life.pod));
  for (const char* type : {"Initialized", "ContainersReady", "PodScheduled"}) {
    EXPECT_TRUE(kube::IsConditionTrue(life.pod.status.conditions, type)) << type;
  }
  EXPECT_EQ(life.pod.status.pod_ip, "10.0.4.1");
  EXPECT_EQ(life.pod.status.host_ip, "172.16.0.1");
  EXPECT_EQ(life.pod.status.start_time, kube::kTestNow);
  EXPECT_EQ(life.Main().image, "app:1");
  EXPECT_TRUE(life.Main().ready);
  EXPECT_EQ(life.Main().state.running->started_at, kube::kTestNow);
  life.RunUntil(kube::kTestNow + 100h);
  EXPECT_EQ(life.writes, 0) << "without an end it runs for ever, silently";
}

TEST(PodLifecycle, InitContainersAreDoneAndSidecarsRun) {
  kube::Pod pod = Runs("", "Always");
  pod.spec.init_containers = {{.name = "setup"}, {.name = "proxy", .restart_policy = "Always"}};
  PodLife life(pod);
  life.Start();
  ASSERT_EQ(life.pod.status.init_container_statuses.size(), 2u);
  EXPECT_EQ(life.pod.status.init_container_statuses[0].state.terminated->reason, "Completed");
  EXPECT_TRUE(life.pod.status.init_container_statuses[1].state.running);
}

TEST(PodLifecycle, ContainersEndWithTheirCode) {
  struct Case {
    std::string_view name;
    std::string policy, code, phase;
  };
  const Case cases[] = {
      {"good end", "Never", "0", "Succeeded"},
      {"bad end", "Never", "3", "Failed"},
      {"good end where only failures are repeated", "OnFailure", "0", "Succeeded"},
      {"a senseless code is 0", "Never", "many", "Succeeded"},
  };
  for (const Case& c : cases) {
    PodLife life(Runs("30s", c.policy, c.code));
    life.Start();
    life.RunUntil(kube::kTestNow + 29s);
    EXPECT_EQ(life.pod.status.phase, "Running") << c.name;
    life.RunUntil(kube::kTestNow + 30s);
    EXPECT_EQ(life.pod.status.phase, c.phase) << c.name;
    EXPECT_FALSE(kube::IsReady(life.pod)) << c.name;
    EXPECT_EQ(life.Main().state.terminated->finished_at, kube::kTestNow + 30s) << c.name;
    EXPECT_EQ(life.Main().state.terminated->exit_code, c.code == "3" ? 3 : 0) << c.name;
    EXPECT_EQ(life.Main().restart_count, 0) << c.name;
  }
}

TEST(PodLifecycle, RestartsPauseLongerEachTime) {
  PodLife life(Runs("10s", "OnFailure", "1"));
  life.Start();
  life.RunUntil(kube::kTestNow + 10s);
  EXPECT_EQ(life.Main().restart_count, 1) << "the first restart is immediate";
  EXPECT_TRUE(life.Main().state.running);
  EXPECT_EQ(life.Main().last_state.terminated->exit_code, 1);
  life.RunUntil(kube::kTestNow + 20s);
  EXPECT_EQ(life.Main().state.waiting->reason, "CrashLoopBackOff");
  EXPECT_EQ(life.Main().state.waiting->message,
            "back-off 10s restarting failed container=main pod=p_default(uid-p)");
  EXPECT_FALSE(kube::IsReady(life.pod));
  EXPECT_EQ(life.pod.status.phase, "Running");
  life.RunUntil(kube::kTestNow + 30s);
  EXPECT_EQ(life.Main().restart_count, 2);
  EXPECT_TRUE(kube::IsReady(life.pod));
  life.RunUntil(kube::kTestNow + 40s);  // ends again, pauses for 20 s
  life.RunUntil(kube::kTestNow + 59s);
  EXPECT_EQ(life.Main().restart_count, 2);
  life.RunUntil(kube::kTestNow + 60s);
  EXPECT_EQ(life.Main().restart_count, 3);
}

TEST(PodLifecycle, ServicesThatEndWellAreRestartedToo) {
  PodLife life(Runs("10s", "Always", "0"));
  life.Start();
  life.RunUntil(kube::kTestNow + 10s);
  EXPECT_EQ(life.Main().restart_count, 1);
}

TEST(PodLifecycle, TheActiveDeadlineFailsThePod) {
  kube::Pod pod = Runs("", "Always");
  pod.spec.active_deadline_seconds = 45;
  PodLife life(pod);
  life.Start();
  life.RunUntil(kube::kTestNow + 45s);
  EXPECT_EQ(life.pod.status.phase, "Failed");
  EXPECT_EQ(life.pod.status.reason, "DeadlineExceeded");
}

TEST(PodLifecycle, ReadinessGatesHoldReadyBack) {
  kube::Pod pod = Runs("", "Always");
  pod.spec.readiness_gates = {{.condition_type = "lb"}};
  PodLife life(pod);
  life.Start();
  EXPECT_FALSE(kube::IsReady(life.pod));
  EXPECT_TRUE(kube::IsConditionTrue(life.pod.status.conditions, "ContainersReady"));
  kube::PodCondition open;
  open.type = "lb";
  open.status = "True";
  life.pod.status.conditions.push_back(open);
  life.RunUntil(kube::kTestNow + 1s);
  EXPECT_TRUE(kube::IsReady(life.pod));
  EXPECT_TRUE(kube::IsConditionTrue(life.pod.status.conditions, "lb")) << "not ours to touch";
}

TEST(PodLifecycle, ANodeThatIsBackCorrectsWhatWasSaidMeanwhile) {
  PodLife life(Runs("", "Always"));
  life.Start();
  for (kube::PodCondition& condition : life.pod.status.conditions) {
    if (condition.type == "Ready") condition.status = "False";
  }
  life.RunUntil(kube::kTestNow + 1s);
  EXPECT_TRUE(kube::IsReady(life.pod));
}

kube::Pod GoingSince(kube::Pod pod, WallTime since, int64_t grace) {
  pod.metadata.deletion_grace_period_seconds = grace;
  pod.metadata.deletion_timestamp = since + std::chrono::seconds(grace);
  return pod;
}

TEST(PodLifecycle, PodsStopWithinTheirGrace) {
  struct Case {
    std::string_view name;
    int64_t grace;
    Duration stops_after;
  };
  const Case cases[] = {{"the usual grace", 30, 2s}, {"less than stopping takes", 1, 1s}};
  for (const Case& c : cases) {
    PodLife life(Runs("", "Always"));
    life.Start();
    life.pod = GoingSince(life.pod, kube::kTestNow, c.grace);
    life.RunUntil(kube::kTestNow + c.stops_after - 1ms);
    EXPECT_FALSE(life.removed) << c.name;
    life.RunUntil(kube::kTestNow + c.stops_after);
    EXPECT_TRUE(life.removed) << c.name;
    EXPECT_EQ(life.writes, 0) << c.name;
  }
}

TEST(PodLifecycle, PodsThatOthersHoldOnToAreReportedAsEndedFirst) {
  PodLife life(Runs("", "Never"));
  life.Start();
  life.pod.metadata.finalizers = {"somebody/counts"};
  life.pod = GoingSince(life.pod, kube::kTestNow, 30);
  const PodStep step = StepTerminating(life.pod, 2s, kube::kTestNow + 2s);
  EXPECT_TRUE(step.remove);
  EXPECT_EQ(kube::FindString(step.status, {"phase"}), "Failed");
  life.Apply(step.status);
  life.pod = GoingSince(life.pod, kube::kTestNow, 0);
  const PodStep after = StepTerminating(life.pod, 2s, kube::kTestNow + 3s);
  EXPECT_FALSE(after.remove) << "once is enough";
  EXPECT_TRUE(after.status.is_null());
}

TEST(PodLifecycle, APodMayTakeItsTimeWithinItsGracePeriod) {
  kube::Pod pod = GoingSince(PodLife(Runs("", "Always")).pod, kube::kTestNow, 30);
  pod.metadata.annotations[kStopDurationAnnotation] = "20s";
  EXPECT_EQ(StepTerminating(pod, 2s, kube::kTestNow + 19s).next, kube::kTestNow + 20s);
  EXPECT_TRUE(StepTerminating(pod, 2s, kube::kTestNow + 20s).remove);
  pod.metadata.annotations[kStopDurationAnnotation] = "40s";
  EXPECT_TRUE(StepTerminating(pod, 2s, kube::kTestNow + 30s).remove);
}

}  // namespace
}  // namespace koord::localcluster::pod_lifecycle_test
