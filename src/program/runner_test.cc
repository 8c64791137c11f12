#include "program/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/log.h"
#include "base/virtual_loop.h"
#include "kube/election/lease_server.h"
#include "kube/transport/in_process_transport.h"
#include "program/ask_testing.h"

namespace koord::program::runner_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Writes down what happens to it.
class FakeComponent final : public Component {
 public:
  void Start(Task ready) override {
    calls.push_back("start");
    this->ready = std::move(ready);
  }
  void Lead(const Leadership& leadership) override {
    calls.push_back("lead");
    this->leadership = &leadership;
  }
  void Stop(Task done) override {
    calls.push_back("stop");
    stopped = std::move(done);
  }

  std::vector<std::string> calls;
  Task ready, stopped;
  const Leadership* leadership = nullptr;
};

class RunnerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    log::SetSink([](std::string_view) {});
  }
  void TearDown() override { log::SetSink(nullptr); }

  struct Replica {
    Replica(RunnerTest& test, std::optional<std::string> identity)
        : client(test.loop_, std::make_shared<kube::InProcessTransport>(test.loop_, test.server_),
                 {}),
          runner(client, component, api, Options(identity), [this](int code) { exit = code; }) {}

    static RunnerOptions Options(const std::optional<std::string>& identity) {
      RunnerOptions options;
      if (!identity) return options;
      options.election.emplace();
      options.election->lease = {"koordinator-system", "koord-scheduler"};
      options.election->identity = *identity;
      options.election->release_on_stop = true;
      return options;
    }

    kube::Client client;
    FakeComponent component;
    ComponentApi api;
    std::optional<int> exit;
    ComponentRunner runner;
  };

  VirtualLoop loop_;
  kube::LeaseServer server_;
};

TEST_F(RunnerTest, WithoutAnElectionItLeadsWhenItsCachesAreFull) {
  Replica replica(*this, {});
  replica.runner.Start();
  loop_.RunReady();
  EXPECT_THAT(replica.component.calls, ElementsAre("start"));
  EXPECT_EQ(Ask(replica.api, "GET", "/readyz").status, 500);
  EXPECT_EQ(Ask(replica.api, "GET", "/healthz").status, 200);
  EXPECT_FALSE(replica.runner.is_leader());

  replica.component.ready();
  EXPECT_THAT(replica.component.calls, ElementsAre("start", "lead"));
  EXPECT_TRUE(replica.component.leadership->is_leader());
  EXPECT_EQ(Ask(replica.api, "GET", "/readyz").status, 200);

  replica.runner.Stop();
  EXPECT_FALSE(replica.exit) << "the component is not done";
  replica.component.stopped();
  EXPECT_EQ(replica.exit, 0);
}

TEST_F(RunnerTest, AStandbyFillsItsCachesAndWaits) {
  Replica first(*this, "a"), second(*this, "b");
  for (Replica* replica : {&first, &second}) {
    replica->runner.Start();
    replica->component.ready();
    loop_.RunReady();
  }
  loop_.Advance(1min);
  EXPECT_THAT(first.component.calls, ElementsAre("start", "lead"));
  EXPECT_THAT(second.component.calls, ElementsAre("start"));
  EXPECT_THAT(Ask(first.api, "GET", "/metrics").body,
              HasSubstr(R"(leader_election_master_status{name="koord-scheduler"} 1)"));
  EXPECT_THAT(Ask(second.api, "GET", "/metrics").body,
              HasSubstr(R"(leader_election_master_status{name="koord-scheduler"} 0)"));
  EXPECT_EQ(Ask(second.api, "GET", "/healthz").status, 200);
  EXPECT_EQ(Ask(second.api, "GET", "/readyz").status, 200);
}

// As after an outage of the API server, whose lists take time.
TEST_F(RunnerTest, TheTimeToGetReadyCountsAsWaitingForALeaseLeftBehind) {
  server_.Put({{"metadata", {{"name", "koord-scheduler"}}},
               {"spec", {{"holderIdentity", "dead"}, {"leaseDurationSeconds", 15}}}});
  Replica replica(*this, "a");
  replica.runner.Start();
  loop_.Advance(20s);
  EXPECT_EQ(server_.holder(), "dead") << "taken by one that is not ready";
  replica.component.ready();
  loop_.RunReady();
  EXPECT_EQ(server_.holder(), "a");
  EXPECT_THAT(replica.component.calls, ElementsAre("start", "lead"));
}

TEST_F(RunnerTest, TheLeaseIsHandedBackOnlyWhenTheWorkIsDone) {
  Replica first(*this, "a"), second(*this, "b");
  for (Replica* replica : {&first, &second}) {
    replica->runner.Start();
    replica->component.ready();
    loop_.RunReady();
  }
  first.runner.Stop();
  first.runner.Stop();
  EXPECT_THAT(first.component.calls, ElementsAre("start", "lead", "stop"));
  loop_.Advance(5s);
  EXPECT_EQ(server_.holder(), "a") << "still binding pods";
  EXPECT_TRUE(first.component.leadership->is_leader());
  first.component.stopped();
  EXPECT_FALSE(first.component.leadership->is_leader());
  EXPECT_TRUE(loop_.RunUntil([&] { return first.exit.has_value(); }));
  EXPECT_EQ(first.exit, 0);
  EXPECT_EQ(server_.holder(), "");
  EXPECT_TRUE(loop_.RunUntil([&] { return second.runner.is_leader(); }, 10s))
      << "sooner than after a lease";
}

TEST_F(RunnerTest, LosingTheLeaseEndsTheProgram) {
  Replica replica(*this, "a");
  replica.runner.Start();
  replica.component.ready();
  loop_.RunReady();
  EXPECT_TRUE(replica.runner.is_leader());
  server_.down = true;
  EXPECT_TRUE(loop_.RunUntil([&] { return replica.exit.has_value(); }, 15s));
  EXPECT_EQ(replica.exit, 1);
  EXPECT_FALSE(replica.component.leadership->is_leader());
  EXPECT_THAT(replica.component.calls, ElementsAre("start", "lead")) << "no time for a stop";
}

TEST_F(RunnerTest, LosingTheLeaseWhileStoppingIsNoFailure) {
  Replica replica(*this, "a");
  replica.runner.Start();
  replica.component.ready();
  loop_.RunReady();
  server_.down = true;
  loop_.Advance(5s);
  replica.runner.Stop();
  EXPECT_TRUE(loop_.RunUntil([&] { return replica.exit.has_value(); }, 15s));
  EXPECT_EQ(replica.exit, 0);
}

TEST_F(RunnerTest, AStopThatTakesForEverIsGivenUp) {
  Replica replica(*this, {});
  replica.runner.Start();
  replica.component.ready();
  replica.runner.Stop();
  loop_.Advance(9s);
  EXPECT_FALSE(replica.exit);
  loop_.Advance(2s);
  EXPECT_EQ(replica.exit, 1);
  replica.component.stopped();
  EXPECT_EQ(replica.exit, 1);
}

TEST_F(RunnerTest, ItMayBeStoppedBeforeItIsReady) {
  Replica replica(*this, "a");
  replica.runner.Start();
  replica.runner.Stop();
  replica.component.ready();
  replica.component.stopped();
  loop_.Advance(1s);
  EXPECT_EQ(replica.exit, 0);
  EXPECT_THAT(replica.component.calls, ElementsAre("start", "stop"));
  EXPECT_TRUE(server_.lease.is_null()) << "it never asked for the lease";
}

}  // namespace
}  // namespace koord::program::runner_test
