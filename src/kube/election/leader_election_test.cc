#include "kube/election/leader_election.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <set>

#include "base/log.h"
#include "base/virtual_loop.h"
#include "kube/election/lease_server.h"
#include "kube/time.h"
#include "kube/transport/fault_transport.h"
#include "kube/transport/in_process_transport.h"

namespace koord::kube::leader_election_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

Json LeaseOf(const std::string& holder, int transitions, int seconds = 15) {
  return {{"metadata", {{"name", "lock"}, {"namespace", "ns"}, {"labels", {{"keep", "me"}}}}},
          {"spec",
           {{"holderIdentity", holder},
            {"leaseDurationSeconds", seconds},
            {"acquireTime", "2026-07-01T00:00:00.000000Z"},
            {"renewTime", "2026-07-01T00:00:00.000000Z"},
            {"leaseTransitions", transitions},
            {"strategy", "unknown to us"}}}};
}

LeaderElectionOptions OptionsFor(const std::string& identity) {
  LeaderElectionOptions options;
  options.lease = {"ns", "lock"};
  options.identity = identity;
  return options;
}

class FakeRecorder final : public EventRecorder {
 public:
  void Record(const Note& note) override {
    notes.push_back(note.regarding.kind + "/" + note.regarding.name + " " + note.reason + " " +
                    note.message);
  }
  std::vector<std::string> notes;
};

class LeaderElectionTest : public testing::Test {
 protected:
  void SetUp() override {
    log::SetSink([](std::string_view) {});
  }
  void TearDown() override { log::SetSink(nullptr); }

  std::unique_ptr<LeaderElector> Make(LeaderElectionOptions options) {
    const std::string id = options.identity;
    EXPECT_TRUE(LeaderElector::Validate(options).ok());
    LeaderCallbacks callbacks;
    callbacks.started = [this, id] { log_.push_back(id + " started"); };
    callbacks.stopped = [this, id](const Status& why) {
      log_.push_back(id + (why.ok() ? " stopped" : " lost"));
    };
    callbacks.new_leader = [this, id](const std::string& leader) {
      log_.push_back(id + " sees " + leader);
    };
    return std::make_unique<LeaderElector>(client_, std::move(options), std::move(callbacks),
                                           &recorder_);
  }

  VirtualLoop loop_;
  LeaseServer server_;
  Client client_{loop_, std::make_shared<InProcessTransport>(loop_, server_), {.qps = 0}};
  FakeRecorder recorder_;
  std::vector<std::string> log_;
};

TEST_F(LeaderElectionTest, ChecksItsOptions) {
  struct Case {
    std::string name;
    std::function<void(LeaderElectionOptions&)> spoil;
    std::string error;
  };
  const Case cases[] = {
      {"good", [](auto&) {}, ""},
      {"no name", [](auto& o) { o.lease.name = ""; }, "name of a lease"},
      {"no identity", [](auto& o) { o.identity = ""; }, "identity"},
      {"retry", [](auto& o) { o.retry_period = 0s; }, "retryPeriod"},
      {"renew", [](auto& o) { o.renew_deadline = 2400ms; }, "renewDeadline"},
      {"lease", [](auto& o) { o.lease_duration = 10s; }, "leaseDuration"},
  };
  for (const Case& c : cases) {
    LeaderElectionOptions options = OptionsFor("a");
    c.spoil(options);
    EXPECT_THAT(std::string(Message(LeaderElector::Validate(options))), HasSubstr(c.error))
        << c.name;
  }
  EXPECT_THAT(MakeIdentity("host", 1), testing::MatchesRegex("host_[0-9a-f-]{36}"));
}

TEST_F(LeaderElectionTest, MakesTheLeaseWhenThereIsNone) {
  auto a = Make(OptionsFor("a"));
  a->Start();
  loop_.RunReady();
  EXPECT_THAT(server_.requests, ElementsAre("GET", "POST"));
  EXPECT_THAT(log_, ElementsAre("a sees a", "a started"));
  EXPECT_TRUE(a->is_leader());
  EXPECT_EQ(server_.holder(), "a");
  EXPECT_EQ(server_.transitions(), 0);
  EXPECT_EQ(FindInt(server_.lease, {"spec", "leaseDurationSeconds"}), 15);
  EXPECT_EQ(FindString(server_.lease, {"spec", "acquireTime"}), "2026-07-01T00:00:00.000000Z");
  EXPECT_THAT(recorder_.notes, ElementsAre("Lease/lock LeaderElection a became leader"));
}

TEST_F(LeaderElectionTest, RenewsEveryRetryPeriodWithoutReading) {
  auto a = Make(OptionsFor("a"));
  a->Start();
  loop_.RunReady();
  server_.requests.clear();
  loop_.Advance(10s);
  EXPECT_THAT(server_.requests, ElementsAre("PUT", "PUT", "PUT", "PUT", "PUT"));
  EXPECT_EQ(FindString(server_.lease, {"spec", "renewTime"}), "2026-07-01T00:00:10.000000Z");
  EXPECT_EQ(FindString(server_.lease, {"spec", "acquireTime"}), "2026-07-01T00:00:00.000000Z");
  EXPECT_EQ(server_.transitions(), 0);
  EXPECT_TRUE(a->HealthCheck(0s).ok());
}

// TV-23
TEST_F(LeaderElectionTest, TakesALeaseThatHasNotChangedForItsDuration) {
  server_.Put(LeaseOf("b", 4));
  LeaderElectionOptions options = OptionsFor("a");
  options.retry_period = 40ms;
  auto a = Make(options);
  loop_.Advance(1h);  // how old the record says it is does not matter
  a->Start();
  loop_.Advance(14900ms);
  EXPECT_EQ(server_.holder(), "b");
  EXPECT_FALSE(a->is_leader());
  loop_.Advance(200ms);
  EXPECT_EQ(server_.holder(), "a");
  EXPECT_EQ(server_.transitions(), 5);
  EXPECT_THAT(std::string(FindString(server_.lease, {"spec", "acquireTime"})),
              StartsWith("2026-07-01T01:00:15."));
  EXPECT_EQ(FindString(server_.lease, {"metadata", "labels", "keep"}), "me");
  EXPECT_EQ(FindString(server_.lease, {"spec", "strategy"}), "unknown to us");
}

// The default settings look every 2 to 4.4 s; the lease must not lie idle for that long.
TEST_F(LeaderElectionTest, TakesALeaseWhenItRunsOutAndNotAtTheNextLook) {
  server_.Put(LeaseOf("b", 4));
  auto a = Make(OptionsFor("a"));
  a->Start();
  loop_.Advance(14999ms);
  EXPECT_EQ(server_.holder(), "b");
  loop_.Advance(1ms);
  EXPECT_EQ(server_.holder(), "a");
}

TEST_F(LeaderElectionTest, AnObserverTakesNothing) {
  auto a = Make(OptionsFor("a"));
  a->Observe();
  loop_.Advance(1min);
  EXPECT_TRUE(server_.lease.is_null()) << "no lease is made";
  server_.Put(LeaseOf("b", 4));
  loop_.Advance(1min);
  EXPECT_EQ(server_.holder(), "b");
  EXPECT_FALSE(a->is_leader());
}

TEST_F(LeaderElectionTest, WhatWasObservedCountsWhenTheCandidateStarts) {
  server_.Put(LeaseOf("b", 4));
  auto a = Make(OptionsFor("a"));
  a->Observe();
  loop_.Advance(10s);
  a->Start();
  loop_.Advance(4999ms);
  EXPECT_EQ(server_.holder(), "b");
  loop_.Advance(1ms);
  EXPECT_EQ(server_.holder(), "a");
  EXPECT_THAT(log_, ElementsAre("a sees b", "a sees a", "a started"));
}

TEST_F(LeaderElectionTest, EveryChangeStartsTheWaitOver) {
  server_.Put(LeaseOf("b", 4));
  auto a = Make(OptionsFor("a"));
  a->Start();
  for (int i = 0; i < 5; ++i) {
    loop_.Advance(10s);
    Json renewed = LeaseOf("b", 4);
    // A clock that is a day behind.
    At(renewed, {"spec", "renewTime"}) =
        FormatMicroTime(loop_.clock().Now() - std::chrono::hours(24));
    server_.Put(std::move(renewed));
  }
  EXPECT_EQ(server_.holder(), "b");
}

TEST_F(LeaderElectionTest, HonoursTheDurationInTheRecord) {
  server_.Put(LeaseOf("b", 4, 60));
  auto a = Make(OptionsFor("a"));
  a->Start();
  loop_.Advance(59999ms);
  EXPECT_EQ(server_.holder(), "b");
  loop_.Advance(1ms);
  EXPECT_EQ(server_.holder(), "a");
}

TEST_F(LeaderElectionTest, TakesAReleasedLeaseAtOnce) {
  server_.Put(LeaseOf("", 4));
  auto a = Make(OptionsFor("a"));
  a->Start();
  loop_.RunReady();
  EXPECT_EQ(server_.holder(), "a");
  EXPECT_EQ(server_.transitions(), 5);
}

TEST_F(LeaderElectionTest, TriesWithJitterOfUpToTwicePointTwoThePeriod) {
  server_.Put(LeaseOf("b", 4, 3600));
  auto a = Make(OptionsFor("a"));
  a->Start();
  loop_.RunReady();
  std::set<Duration> pauses;
  for (int i = 0; i < 20; ++i) {
    const SteadyTime before = loop_.clock().Steady();
    const size_t count = server_.requests.size();
    ASSERT_TRUE(loop_.RunUntil([&] { return server_.requests.size() > count; }));
    const Duration pause = loop_.clock().Steady() - before;
    EXPECT_GE(pause, 2s);
    EXPECT_LT(pause, 4400ms);
    pauses.insert(pause);
  }
  EXPECT_GT(pauses.size(), 10u);
}

TEST_F(LeaderElectionTest, GivesUpAtTheRenewDeadline) {
  auto a = Make(OptionsFor("a"));
  a->Start();
  loop_.RunReady();
  log_.clear();
  server_.down = true;
  // The next renewal is due after 2 s and may be retried for 10 s.
  loop_.Advance(11999ms);
  EXPECT_TRUE(a->is_leader());
  EXPECT_THAT(log_, IsEmpty());
  loop_.Advance(1ms);
  EXPECT_FALSE(a->is_leader());
  EXPECT_THAT(log_, ElementsAre("a lost"));
  EXPECT_THAT(recorder_.notes.back(), HasSubstr("a stopped leading"));
  server_.down = false;
  server_.requests.clear();
  loop_.Advance(1h);
  EXPECT_THAT(server_.requests, Not(testing::Contains(testing::AnyOf("PUT", "POST"))));
}

TEST_F(LeaderElectionTest, CountsFromBeforeARenewalWhoseAnswerIsSlow) {
  auto a = Make(OptionsFor("a"));
  a->Start();
  loop_.RunReady();
  server_.hold = true;
  loop_.Advance(2s + 4900ms);  // the renewal of 2 s is answered late
  server_.ReleaseHeld();
  loop_.RunReady();
  server_.down = true;
  // Anybody may have seen it at 2 s, and may take the lease at 17 s.
  loop_.Advance(17s - 6900ms - 1ms);
  EXPECT_TRUE(a->is_leader());
  loop_.Advance(1ms);
  EXPECT_FALSE(a->is_leader());
  EXPECT_EQ(log_.back(), "a lost");
}

TEST_F(LeaderElectionTest, SurvivesAShortOutage) {
  auto a = Make(OptionsFor("a"));
  a->Start();
  loop_.RunReady();
  server_.down = true;
  loop_.Advance(9s);
  server_.down = false;
  loop_.Advance(1h);
  EXPECT_TRUE(a->is_leader());
}

// A loop that is too busy for its timers while time goes on.
class BusyLoop final : public EventLoop {
 public:
  const Clock& clock() const override { return clock_; }
  void Post(Task task) override { tasks_.push_back(std::move(task)); }
  TimerId Schedule(Duration, Task) override { return 1; }
  void Cancel(TimerId) override {}

  void RunTasks() {
    while (!tasks_.empty()) {
      Task task = std::move(tasks_.front());
      tasks_.pop_front();
      task();
    }
  }
  void Pass(Duration span) { clock_.steady += span; }

 private:
  struct ManualClock final : Clock {
    WallTime Now() const override { return WallTime(steady); }
    SteadyTime Steady() const override { return steady; }
    SteadyTime steady{0};
  };
  ManualClock clock_;
  std::deque<Task> tasks_;
};

TEST_F(LeaderElectionTest, IsNoLeaderAfterTheDeadlineEvenIfTheLoopIsBusy) {
  BusyLoop loop;
  Client client(loop, std::make_shared<InProcessTransport>(loop, server_), {.qps = 0});
  LeaderElector a(client, OptionsFor("a"), {[] {}, [](const Status&) {}});
  a.Start();
  loop.RunTasks();
  EXPECT_TRUE(a.is_leader());
  loop.Pass(11999ms);
  EXPECT_TRUE(a.is_leader());
  loop.Pass(1ms);
  EXPECT_FALSE(a.is_leader());
  loop.Pass(4s);
  EXPECT_TRUE(a.HealthCheck(1s).ok());
  loop.Pass(1ms);
  EXPECT_FALSE(a.HealthCheck(1s).ok());
}

TEST_F(LeaderElectionTest, StopsAtOnceWhenSomebodyElseHoldsTheLease) {
  auto a = Make(OptionsFor("a"));
  a->Start();
  loop_.RunReady();
  log_.clear();
  Json stolen = server_.lease;
  At(stolen, {"spec", "holderIdentity"}) = "b";
  server_.Put(std::move(stolen));
  loop_.Advance(2s);
  EXPECT_THAT(log_, ElementsAre("a sees b", "a lost"));
  EXPECT_EQ(server_.holder(), "b");
}

TEST_F(LeaderElectionTest, WallClockJumpsChangeNothing) {
  auto a = Make(OptionsFor("a"));
  auto b = Make(OptionsFor("b"));
  a->Start();
  loop_.RunReady();
  b->Start();
  loop_.Advance(5s);
  loop_.JumpWallClock(1h);
  loop_.Advance(10s);
  loop_.JumpWallClock(-2h);
  loop_.Advance(1min);
  EXPECT_TRUE(a->is_leader());
  EXPECT_FALSE(b->is_leader());
}

TEST_F(LeaderElectionTest, HandsTheLeaseBack) {
  LeaderElectionOptions options = OptionsFor("a");
  options.release_on_stop = true;
  auto a = Make(options);
  auto b = Make(OptionsFor("b"));
  a->Start();
  loop_.RunReady();
  b->Start();
  loop_.Advance(10s);
  log_.clear();
  bool done = false;
  a->Stop([&] { done = true; });
  EXPECT_THAT(log_, ElementsAre("a stopped"));
  EXPECT_FALSE(a->is_leader());
  loop_.RunReady();
  EXPECT_TRUE(done);
  EXPECT_EQ(server_.holder(), "");
  EXPECT_EQ(FindInt(server_.lease, {"spec", "leaseDurationSeconds"}), 1);
  EXPECT_EQ(server_.transitions(), 0);
  EXPECT_EQ(FindString(server_.lease, {"spec", "renewTime"}), "2026-07-01T00:00:10.000000Z");
  EXPECT_EQ(FindString(server_.lease, {"spec", "acquireTime"}), "2026-07-01T00:00:10.000000Z");
  loop_.Advance(4400ms);
  EXPECT_TRUE(b->is_leader());
  EXPECT_EQ(server_.transitions(), 1);
}

TEST_F(LeaderElectionTest, AReleaseThatHangsDoesNotHoldUpTheEnd) {
  LeaderElectionOptions options = OptionsFor("a");
  options.release_on_stop = true;
  auto a = Make(options);
  a->Start();
  loop_.RunReady();
  server_.down = true;
  bool done = false;
  a->Stop([&] { done = true; });
  loop_.Advance(5s);
  EXPECT_TRUE(done);
}

TEST_F(LeaderElectionTest, WithoutReleaseTheLeaseRunsOut) {
  auto a = Make(OptionsFor("a"));
  a->Start();
  loop_.RunReady();
  bool done = false;
  a->Stop([&] { done = true; });
  loop_.RunReady();
  EXPECT_TRUE(done);
  EXPECT_EQ(server_.holder(), "a");
}

TEST_F(LeaderElectionTest, ACandidateThatHasLostMayStartAgain) {
  auto a = Make(OptionsFor("a"));
  a->Start();
  loop_.RunReady();
  server_.down = true;
  loop_.Advance(1min);
  server_.down = false;
  log_.clear();
  a->Start();
  loop_.RunReady();
  EXPECT_THAT(log_, ElementsAre("a started"));
}

// Three candidates behind bad networks, for many seeds: never two leaders at the same moment, and
// always one again when the network is good.
TEST_F(LeaderElectionTest, NeverHasTwoLeaders) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    VirtualLoop loop;
    LeaseServer server;
    struct Candidate {
      std::shared_ptr<FaultTransport> network;
      std::unique_ptr<Client> client;
      std::unique_ptr<LeaderElector> elector;
    };
    std::vector<Candidate> candidates(3);
    const auto count_leaders = [&] {
      return std::count_if(candidates.begin(), candidates.end(),
                           [](const Candidate& c) { return c.elector->is_leader(); });
    };
    int changes = 0;
    for (size_t i = 0; i < candidates.size(); ++i) {
      Candidate& c = candidates[i];
      c.network = std::make_shared<FaultTransport>(
          loop, std::make_shared<InProcessTransport>(loop, server), seed * 10 + i);
      c.client = std::make_unique<Client>(loop, c.network, Client::Options{.qps = 0});
      LeaderElectionOptions options = OptionsFor("c" + std::to_string(i));
      options.seed = seed * 10 + i;
      // Little room between giving up and being replaced.
      options.renew_deadline = 14s;
      options.retry_period = 500ms;
      LeaderCallbacks callbacks;
      callbacks.started = [&] { ++changes; };
      callbacks.stopped = [&loop, &c](const Status&) { loop.Post([&c] { c.elector->Start(); }); };
      c.elector = std::make_unique<LeaderElector>(*c.client, options, callbacks);
      c.elector->Start();
    }
    Random random(seed);
    for (int step = 0; step < 2000; ++step) {
      if (step % 20 == 0) {
        for (Candidate& c : candidates) {
          Faults faults{.lost_answer = 0.1, .delay = 0.8, .max_delay = 8s};
          faults.refused = random.Chance(0.3) ? 1 : 0;  // cut off
          c.network->SetFaults(faults);
        }
      }
      loop.Advance(std::chrono::milliseconds(random.Below(1000)));
      ASSERT_LE(count_leaders(), 1) << "seed " << seed << " step " << step;
    }
    for (Candidate& c : candidates) c.network->SetFaults({});
    loop.Advance(1min);
    EXPECT_EQ(count_leaders(), 1) << seed;
    EXPECT_GT(changes, 3) << seed;
    for (Candidate& c : candidates) c.elector->Stop();
  }
}

}  // namespace
}  // namespace koord::kube::leader_election_test
