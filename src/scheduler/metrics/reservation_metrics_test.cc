#include "scheduler/metrics/reservation_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::reservation_metrics_test {
namespace {

using testing::HasSubstr;
using testing::Not;

class ReservationMetricsTest : public testing::Test {
 protected:
  std::string Text() {
    shown_.LookUp(reservations_);
    return registry_.Text();
  }

  metrics::Registry registry_;
  ReservationMetrics shown_{registry_};
  ObjectCache<api::Reservation> reservations_;
};

// TV11.
TEST_F(ReservationMetricsTest, ShowWhatIsHeldAndUsed) {
  reservations_.Set(FromYaml<api::Reservation>(
      "{metadata: {name: r}, status: {phase: Available, allocatable: {cpu: 8, memory: 16Gi, "
      "example.com/gpu: 2}, allocated: {cpu: 3, memory: 1Gi}}}"));
  const std::string text = Text();
  for (
      const char* line :
      {R"(scheduler_reservation_status_phase{name="r",phase="Available"} 1)",
       R"(scheduler_reservation_status_phase{name="r",phase="Pending"} 0)",
       R"(scheduler_reservation_resource{name="r",resource="cpu",type="allocatable",unit="core"} 8)",
       R"(scheduler_reservation_resource{name="r",resource="cpu",type="allocated",unit="core"} 3)",
       R"(scheduler_reservation_resource{name="r",resource="cpu",type="utilization",unit="ratio"} 0.375)",
       R"(scheduler_reservation_resource{name="r",resource="memory",type="allocatable",unit="Gi"} 16)",
       R"(scheduler_reservation_resource{name="r",resource="memory",type="utilization",unit="ratio"} 0.0625)",
       R"(scheduler_reservation_resource{name="r",resource="example.com/gpu",type="allocatable",unit="raw"} 2)"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST_F(ReservationMetricsTest, ForgetThoseThatAreGone) {
  reservations_.Set(FromYaml<api::Reservation>("{metadata: {name: r}}"));
  EXPECT_THAT(Text(), HasSubstr(R"({name="r",phase="Pending"} 1)"));
  reservations_.Remove({"", "r"});
  EXPECT_THAT(Text(), Not(HasSubstr("\"r\"")));
}

}  // namespace
}  // namespace koord::scheduler::reservation_metrics_test
