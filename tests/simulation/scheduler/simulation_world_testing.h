#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/event_loop.h"
#include "base/random.h"
#include "kube/client/client.h"
#include "kube/election/leader_election.h"
#include "kube/transport/fault_transport.h"
#include "localcluster/apiserver/server_testing.h"
#include "localcluster/scheduler/local_scheduler.h"
#include "simulation/scheduler/simulation_checker_testing.h"
#include "simulation/scheduler/simulation_plan_testing.h"

namespace koord::localcluster::simulation {

// A scheduler that finds NodeMetrics or Reservations watches them, and does nothing before it has
// seen all of them.
void InstallNodeMetrics(apiserver::TestServer& server);
void InstallReservations(apiserver::TestServer& server);
void InstallNodeTopologies(apiserver::TestServer& server);
void InstallDevices(apiserver::TestServer& server);
void InstallElasticQuotas(apiserver::TestServer& server);

// What of the plan goes wrong in a run.
struct Conditions {
  bool troubled = false;  // bad network, crashes, partitions
  bool jumps = false;     // of the wall clock
  PlanOptions plan = {};  // what else there is
};

// One of the two schedulers that compete for the lease: a program on a network of its own. It
// behaves as the real one does: when it has lost the lease it stops, ends soon after and is started
// again.
class Instance : private scheduler::AttemptObserver {
 public:
  Instance(apiserver::TestServer& server, Checker& checker, size_t index, uint64_t seed);

  void Start();
  // At any moment. What it has sent is on its way and arrives.
  void Kill();
  void SetNetwork(const kube::Faults& faults);
  void DropWatches();

  bool alive() const { return program_ != nullptr; }
  bool leads() const { return alive() && program_->elector->is_leader(); }
  scheduler::SchedulerApp& app() { return *program_->app; }
  size_t index() const { return index_; }

 private:
  struct Program {
    std::shared_ptr<kube::FaultTransport> network;
    std::unique_ptr<kube::Client> client;
    std::unique_ptr<kube::Client> lease_client;
    std::unique_ptr<scheduler::SchedulerApp> app;
    std::unique_ptr<kube::LeaderElector> elector;
  };

  void OnSent(const kube::HttpRequest& request);
  void OnDecided(const scheduler::Attempt& attempt, scheduler::Pipeline& pipeline,
                 const scheduler::Decision& decision, WallTime now, Duration took) override;
  void OnLost();
  // By what this scheduler knows: nobody goes beyond the max of its quota, and nobody is refused
  // who stays within the min of one that is guaranteed it.
  void CheckQuotaOf(const scheduler::Attempt& attempt, const scheduler::Decision& decision);

  apiserver::TestServer& server_;
  Checker& checker_;
  const size_t index_;
  Random random_;
  uint64_t starts_ = 0;
  kube::Faults faults_;
  std::unique_ptr<Program> program_;
  std::vector<std::shared_ptr<kube::FaultTransport>> left_behind_;  // still carry something
  Timer end_timer_;
};

// A cluster with its users, machines and two schedulers, from the start to the quiet end.
class World {
 public:
  World(uint64_t seed, Conditions conditions);

  void Run();

  // What was found wrong.
  const std::vector<std::string>& complaints() const { return checker_.complaints(); }
  const Checker& checker() const { return checker_; }

  // What became of the pods: "placed" or "pending". Without those of which chance decides.
  std::map<std::string, std::string> Outcome() const;
  // Pods that were taken away because of where they were: for somebody else, or with their machine.
  std::set<std::string> Displaced() const;

 private:
  VirtualLoop& loop() { return server_.loop; }
  SteadyTime now() { return loop().clock().Steady(); }

  apiserver::TestAnswer Send(const Request& request);
  void RunTo(SteadyTime end);
  std::optional<SteadyTime> NextPlanned() const;
  void DoPlanned();
  void SetClock(Duration by);
  void Make(const Trouble& trouble);
  void HealLater(const Trouble& trouble);
  void CalmDown();

  // ---- the machines ----
  void RunMachines();
  void RunPod(const std::string& name, const Checker::PodState& state);
  // `ahead`: of the clock, about to be put forward.
  void ReportLoad(const std::string& node, Duration ahead = {});
  void ReportLoads(Duration ahead = {});

  // ---- what must hold ----
  void CheckBounds();
  void CheckQuiet(std::string_view when);
  void CheckAgainstFresh(scheduler::SchedulerApp& fresh, std::string_view when);
  void CheckQueue(Instance& instance, std::string_view when);
  void CheckReservations(std::string_view when);
  void CheckConsumer(const api::Reservation& reservation, std::string_view when);
  void CheckQuotas(std::string_view when);
  void CheckQuotaBook(Instance& instance, scheduler::SchedulerApp& fresh, std::string_view when);
  void CheckEverybodyHelped();
  void Complain(std::string_view when, std::string what);

  const uint64_t seed_;
  const Conditions conditions_;
  const Plan plan_;
  apiserver::TestServer server_;
  Checker checker_;
  std::vector<std::unique_ptr<Instance>> instances_;
  int64_t reports_ = 0;  // of load
  size_t next_request_ = 0, next_load_ = 0, next_jump_ = 0, next_trouble_ = 0;
  std::vector<std::pair<SteadyTime, size_t>> starts_, heals_;  // of instances, by time
  SteadyTime next_tick_{}, next_report_{};
  Duration skew_{};
  std::map<std::string, int64_t> loads_;              // percent of cpu, by node
  std::map<std::string, SteadyTime> leaving_, lost_;  // by uid: since when
  std::set<std::string> orphans_;                     // names
};

}  // namespace koord::localcluster::simulation
