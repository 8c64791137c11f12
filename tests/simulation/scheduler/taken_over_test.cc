#include <gtest/gtest.h>

#include "kube/transport/fault_transport.h"
#include "localcluster/scheduler/local_scheduler.h"
#include "scheduler/config/scheduler_gates.h"
#include "simulation/scheduler/scheduler_bed_testing.h"
#include "simulation/scheduler/simulation_world_testing.h"

// A scheduler takes over from another one whose last bindings it has not heard of: its network was
// down until a moment ago, and its watches have not come back yet. What was bound is taken
// nevertheless.
namespace koord::localcluster::taken_over_test {
namespace {

class TakenOver : public ::testing::Test, protected SchedulerBed {
 protected:
  TakenOver() : SchedulerBed({.reservations = true}) {
    standby_ = *scheduler::SchedulerApp::Make(server.loop, standby_client_,
                                              {.configuration = LocalSchedulerConfiguration(),
                                               .gates = scheduler::SchedulerFeatureGates()});
    standby_->Watch();
    AddNode("n1");  // 4 CPUs
    server.loop.Advance(5s);
    EXPECT_TRUE(standby_->synced());
    standby_network_->SetFaults({.refused = 1});
    standby_network_->DropWatches();
  }

  void TakeOver() {
    app->Stop();
    server.loop.Advance(10s);
    standby_network_->SetFaults({});
    standby_->Lead();
  }

  std::shared_ptr<kube::FaultTransport> standby_network_ = std::make_shared<kube::FaultTransport>(
      server.loop, std::make_shared<kube::InProcessTransport>(server.loop, *server.server), 1);
  kube::Client standby_client_{server.loop, standby_network_, {.user_agent = "standby", .qps = 0}};
  std::unique_ptr<scheduler::SchedulerApp> standby_;
};

TEST_F(TakenOver, RoomOfAPodIsTaken) {
  Create(kPods, Pod("first", "3"));
  server.loop.Advance(1s);
  ASSERT_EQ(NodeOf("first"), "n1");
  Create(kPods, Pod("second", "3"));
  TakeOver();
  server.loop.Advance(60s);
  EXPECT_EQ(NodeOf("second"), "");
}

TEST_F(TakenOver, RoomOfAReservationIsTaken) {
  Create(simulation::kReservationsPath, Reservation("room", "3"));
  server.loop.Advance(1s);
  ASSERT_EQ(server.Get(std::string(simulation::kReservationsPath) + "/room")
                .String({"status", "nodeName"}),
            "n1");
  Create(kPods, Pod("stranger", "3"));
  TakeOver();
  server.loop.Advance(60s);
  EXPECT_EQ(NodeOf("stranger"), "");
}

}  // namespace
}  // namespace koord::localcluster::taken_over_test
