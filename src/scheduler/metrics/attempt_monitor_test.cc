#include "scheduler/metrics/attempt_monitor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/log.h"
#include "base/virtual_loop.h"

namespace koord::scheduler::attempt_monitor_test {
namespace {

using testing::HasSubstr;

class AttemptMonitorTest : public testing::Test {
 protected:
  AttemptMonitorTest() {
    log::SetSink([this](std::string_view line) { log_.emplace_back(line); });
    kube::Pod pod;
    pod.metadata.ns = "ns";
    pod.metadata.name = "p";
    pod.metadata.uid = "u-1";
    queued_.pod = std::make_shared<const kube::Pod>(pod);
  }
  ~AttemptMonitorTest() override { log::SetSink(nullptr); }

  Attempt Start() {
    monitor_.OnPopped(queued_);
    Attempt attempt{.pod = queued_.pod, .shape = {}, .profile = "koord-scheduler"};
    attempt.started = loop_.clock().Steady();
    monitor_.OnStarted(attempt);
    return attempt;
  }

  VirtualLoop loop_;
  metrics::Registry registry_;
  std::vector<std::string> log_;
  QueuedPod queued_;
  AttemptMonitor monitor_{loop_, {}, registry_};
};

TEST_F(AttemptMonitorTest, SaysNothingOfAttemptsInTime) {
  const Attempt attempt = Start();
  loop_.Advance(29s);
  monitor_.OnFinished(attempt, AttemptResult::kScheduled);
  loop_.Advance(5min);
  EXPECT_TRUE(log_.empty());
  EXPECT_EQ(monitor_.watched(), 0u);
}

TEST_F(AttemptMonitorTest, CriesOutEachPeriodAndAtTheEnd) {
  const Attempt attempt = Start();
  loop_.Advance(55s);  // looks at 10, 20, 30, 40, 50
  ASSERT_EQ(log_.size(), 2u);
  EXPECT_THAT(log_[0], HasSubstr("] !!!CRITICAL TIMEOUT!!! scheduling pod ns/p(u-1) took longer "
                                 "(40s) than the timeout 30s"));
  EXPECT_THAT(log_[1], HasSubstr("(50s)"));
  monitor_.OnFinished(attempt, AttemptResult::kError);
  ASSERT_EQ(log_.size(), 3u);
  EXPECT_THAT(log_[2], HasSubstr("(55s) than the timeout 30s"));
  EXPECT_THAT(registry_.Text(),
              HasSubstr(R"(scheduler_scheduling_timeout{profile="koord-scheduler"} 3)"));
  loop_.Advance(5min);
  EXPECT_EQ(log_.size(), 3u);
}

TEST_F(AttemptMonitorTest, AWaitForAPermitIsNobodysFault) {
  const Attempt attempt = Start();
  monitor_.OnWaiting(attempt);
  loop_.Advance(5min);
  monitor_.OnFinished(attempt, AttemptResult::kScheduled);
  EXPECT_TRUE(log_.empty());
}

TEST_F(AttemptMonitorTest, ForgetsPodsThatAreNeverTried) {
  monitor_.OnPopped(queued_);
  EXPECT_EQ(monitor_.watched(), 1u);
  loop_.Advance(10s);
  EXPECT_EQ(monitor_.watched(), 0u);
  EXPECT_TRUE(log_.empty());
  monitor_.OnPopped(queued_);
  monitor_.OnSkipped(*queued_.pod);
  EXPECT_EQ(monitor_.watched(), 0u);
}

TEST_F(AttemptMonitorTest, DoesNotTrackPodsThatAreBeingDeleted) {
  kube::Pod pod = *queued_.pod;
  pod.metadata.deletion_timestamp = loop_.clock().Now();
  queued_.pod = std::make_shared<const kube::Pod>(pod);
  monitor_.OnPopped(queued_);
  EXPECT_EQ(monitor_.watched(), 0u);
}

}  // namespace
}  // namespace koord::scheduler::attempt_monitor_test
