#include "scheduler/program/scheduler_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "base/log.h"
#include "base/temp_dir.h"
#include "scheduler/config/load_configuration.h"
#include "scheduler/config/scheduler_gates.h"

namespace koord::scheduler::scheduler_options_test {
namespace {

using program::Program;
using testing::HasSubstr;

constexpr char kHead[] =
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

class SchedulerOptionsTest : public testing::Test {
 protected:
  SchedulerOptionsTest() {
    log::SetSink([](std::string_view) {});
  }
  ~SchedulerOptionsTest() override { log::SetSink(nullptr); }

  std::string File(const std::string& text) {
    const std::string path = directory_.path() + "/config.yaml";
    std::ofstream(path) << kHead << text;
    return path;
  }

  // What the program prints if it cannot run; it never gets as far as making the component.
  std::string ErrorOf(std::vector<std::string> arguments) {
    testing::internal::CaptureStderr();
    code_ = Run(std::move(arguments));
    return testing::internal::GetCapturedStderr();
  }
  int Run(std::vector<std::string> arguments) {
    std::vector<const char*> argv{"koord-scheduler"};
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    return program_.Run(static_cast<int>(argv.size()), argv.data(), [&](program::Environment&) {
      made_ = true;
      return nullptr;
    });
  }

  TempDir directory_;
  Program program_{"koord-scheduler", "Places pods.", SchedulerFeatureGates()};
  SchedulerOptions options_{program_};
  bool made_ = false;
  int code_ = 0;
};

TEST_F(SchedulerOptionsTest, Defaults) {
  EXPECT_EQ(Run({"--master=http://127.0.0.1:1", "--port=0", "--secure-port=0"}), 0);
  EXPECT_TRUE(made_);
  const auto& leader = program_.options().leader_election;
  EXPECT_TRUE(leader.enabled);
  EXPECT_EQ(leader.election.lease.ToString(), "koordinator-system/koord-scheduler");
  EXPECT_EQ(leader.election.lease_duration, 15s);
  EXPECT_EQ(options_.flush_after(), 5min);
  EXPECT_EQ(options_.monitor().period, 10s);
  EXPECT_EQ(options_.monitor().timeout, 30s);
  EXPECT_EQ(options_.monitor().drop_unhandled, 5s);
  EXPECT_EQ(options_.debug().top_scores, 0);
  EXPECT_EQ(options_.configuration().profiles.front().scheduler_name, "default-scheduler");
  EXPECT_EQ(options_.configuration().leader_election.resource_name, "koord-scheduler");
}

TEST_F(SchedulerOptionsTest, PortsAreThoseThatUsersKnow) {
  EXPECT_EQ(program_.options().plain.port, 10251);
  EXPECT_EQ(program_.options().plain.address, "0.0.0.0");
  EXPECT_EQ(program_.options().secure.port, 10259);
}

TEST_F(SchedulerOptionsTest, EveryFlagOfTheScheduler) {
  const std::string help = program_.flags().Help();
  for (const char* flag : {"--config",
                           "--write-config-to",
                           "--port",
                           "--address",
                           "--secure-port",
                           "-s, --debug-scores",
                           "-f, --debug-filters",
                           "-d, --debug-diagnosis",
                           "--debug-diagnosis-blocking",
                           "--debug-diagnosis-queue-size",
                           "--debug-diagnosis-worker-count",
                           "--controller-plugins",
                           "--enable-network-topology-manager",
                           "--scheduler-monitor-period",
                           "--scheduling-timeout",
                           "--scheduling-drop-unhandled-timeout",
                           "--enable-workload-auditor",
                           "--workload-auditor-metric-labels",
                           "--workload-auditor-victim-reschedule-duration",
                           "--workload-auditor-victim-deletion-duration",
                           "--workload-auditor-victim-deleting-retries",
                           "--workload-auditor-scheduling-event-interval",
                           "--sync-barrier-pod-namespace",
                           "--sync-barrier-pod-name",
                           "--sync-hard-timeout",
                           "--pod-max-in-unschedulable-pods-duration",
                           "--feature-gates",
                           "--leader-elect"}) {
    EXPECT_THAT(help, HasSubstr(flag));
  }
}

TEST_F(SchedulerOptionsTest, TheFileCountsAndFlagsCountMore) {
  const std::string file = File(
      "leaderElection: {resourceName: koord-scheduler, resourceNamespace: ns, leaseDuration: 30s, "
      "renewDeadline: 20s}\n"
      "clientConnection: {qps: 7, burst: 9}\n"
      "enableProfiling: false\n"
      "delayCacheUntilActive: true\n");
  EXPECT_EQ(Run({"--master=http://127.0.0.1:1", "--port=0", "--secure-port=0", "--config=" + file,
                 "--leader-elect-lease-duration=40s", "--kube-api-burst=11", "-s", "3"}),
            0);
  const Program::Options& options = program_.options();
  EXPECT_EQ(options.leader_election.election.lease.ns, "ns");
  EXPECT_EQ(options.leader_election.election.renew_deadline, 20s);
  EXPECT_EQ(options.leader_election.election.lease_duration, 40s) << "the flag";
  EXPECT_EQ(options.client.qps, 7);
  EXPECT_EQ(options.client.burst, 11) << "the flag";
  EXPECT_FALSE(options.profiling);
  EXPECT_EQ(options_.debug().top_scores, 3);
  EXPECT_TRUE(options_.configuration().delay_cache_until_active);
  EXPECT_EQ(options_.configuration().leader_election.lease_duration, 40s);
}

TEST_F(SchedulerOptionsTest, WritesTheConfigurationAndExits) {
  const std::string out = directory_.path() + "/out.yaml";
  EXPECT_EQ(Run({"--write-config-to=" + out, "--config=" + File("podMaxBackoffSeconds: 20\n")}), 0);
  EXPECT_FALSE(made_);
  const auto written = LoadConfiguration(*ReadFile(out), out);
  ASSERT_TRUE(written.ok()) << Message(written.status());
  EXPECT_EQ(written->configuration.pod_max_backoff_seconds, 20);
  EXPECT_THAT(ErrorOf({"--write-config-to=/none/out.yaml"}), HasSubstr("/none/out.yaml"));
  EXPECT_EQ(code_, 1);
}

TEST_F(SchedulerOptionsTest, MistakesNameFileFieldValueAndWhatIsAllowed) {
  const std::string file = File(
      "parallelism: 0\nprofiles: [{schedulerName: a, plugins: {score: "
      "{enabled: [{name: NodeResourceFit}]}}}]\n");
  const std::string error = ErrorOf({"--config=" + file});
  EXPECT_EQ(code_, 1);
  EXPECT_FALSE(made_);
  EXPECT_THAT(error, HasSubstr("koord-scheduler: "));
  EXPECT_THAT(error, HasSubstr(file + ":3"));
  EXPECT_THAT(error, HasSubstr("parallelism"));
  EXPECT_THAT(error, HasSubstr("0"));
}

TEST_F(SchedulerOptionsTest, WrongFlags) {
  EXPECT_THAT(ErrorOf({"serve"}),
              HasSubstr("\"koord-scheduler\" does not take any arguments, got [\"serve\"]"));
  EXPECT_THAT(ErrorOf({"--address=x"}), HasSubstr("--address x is an invalid IP address"));
  EXPECT_THAT(ErrorOf({"--port=70000"}), HasSubstr("--port 70000 must be between 0 and 65535"));
  EXPECT_THAT(ErrorOf({"--feature-gates=Nonsense=true"}),
              HasSubstr("unrecognized feature gate: Nonsense"));
  EXPECT_THAT(ErrorOf({"--debug-scores=-1"}), HasSubstr("--debug-scores -1 must not be negative"));
  EXPECT_THAT(ErrorOf({"--debug-skores=1"}), HasSubstr("--debug-scores"));
  EXPECT_THAT(ErrorOf({"--port=0", "--address=0.0.0.0", "--debug-scores=0", "--config=/none.yaml"}),
              HasSubstr("/none.yaml"));
  EXPECT_EQ(code_, 1);
}

}  // namespace
}  // namespace koord::scheduler::scheduler_options_test
