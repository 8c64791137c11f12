#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/log.h"
#include "kube/time.h"
#include "program/ask_testing.h"
#include "simulation/scheduler/scheduler_bed_testing.h"
#include "simulation/scheduler/simulation_world_testing.h"

// Kubernetes without Koordinator's definitions: a scheduler that waited for them would keep all
// pods waiting.
namespace koord::localcluster::absent_kinds_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class NoNodeMetrics : public ::testing::Test {
 protected:
  NoNodeMetrics() {
    log::SetSink([this](std::string_view line) {
      if (line.find("nodemetrics.slo.koordinator.sh") != std::string_view::npos) {
        named_.emplace_back(line);
      }
    });
    bed_ = std::make_unique<SchedulerBed>(SchedulerBed::Options{.node_metrics = false});
    bed_->AddNode("n1");
  }
  ~NoNodeMetrics() override { log::SetSink(nullptr); }

  std::string Place(std::string_view pod) {
    bed_->Create(SchedulerBed::kPods, SchedulerBed::Pod(pod, "100m"));
    bed_->server.loop.Advance(2s);
    return bed_->NodeOf(std::string(pod));
  }
  // As `koord status` asks.
  std::string Problems() {
    return program::Ask(bed_->api, "GET", "/apis/v1/explain/settings").body;
  }
  void ReportCpu(std::string_view node, std::string_view cpu) {
    const std::string metrics = "/apis/slo.koordinator.sh/v1alpha1/nodemetrics";
    bed_->Create(metrics, {{"apiVersion", "slo.koordinator.sh/v1alpha1"},
                           {"kind", "NodeMetric"},
                           {"metadata", {{"name", node}}}});
    const auto answer = bed_->server.MergePatch(
        fmt::format("{}/{}/status", metrics, node),
        {{"status",
          {{"updateTime", kube::FormatTime(bed_->server.loop.clock().Now())},
           {"nodeMetric", {{"nodeUsage", {{"resources", {{"cpu", cpu}, {"memory", "1Gi"}}}}}}}}}});
    EXPECT_EQ(answer.code, 200) << answer.body;
    bed_->server.loop.Advance(2s);
  }

  std::vector<std::string> named_;
  std::unique_ptr<SchedulerBed> bed_;
};

TEST_F(NoNodeMetrics, PodsArePlacedAndTheUserIsToldOnce) {
  EXPECT_EQ(Place("p"), "n1");
  bed_->server.loop.Advance(1h);
  EXPECT_THAT(named_, ElementsAre(HasSubstr("nodemetrics.slo.koordinator.sh are not installed")));
  EXPECT_THAT(Problems(), HasSubstr("nodemetrics.slo.koordinator.sh are not installed"));
}

TEST_F(NoNodeMetrics, CountFromWhenTheyAreInstalled) {
  simulation::InstallNodeMetrics(bed_->server);
  bed_->server.loop.Advance(scheduler::OptionalKinds::kLookAgain);
  EXPECT_THAT(Problems(), Not(HasSubstr("nodemetrics")));
  ReportCpu("n1", "3900m");
  EXPECT_EQ(Place("p"), "") << "the only node is over its usage threshold";
}

}  // namespace
}  // namespace koord::localcluster::absent_kinds_test
