// Whole programs, with sockets and signals.
#include "program/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <future>
#include <thread>

#include "base/asio_loop.h"
#include "base/log.h"
#include "base/temp_dir.h"
#include "kube/election/lease_server.h"
#include "kube/serving/http_server.h"
#include "program/ask_testing.h"

namespace koord::program::program_test {
namespace {

using ::testing::HasSubstr;

// An API server with room for one lease, on a thread of its own.
class LeaseProcess {
 public:
  LeaseProcess() {
    server_ = std::move(*kube::HttpServer::Start(loop_, {}, leases_));
    url_ = server_->url();
    thread_ = std::thread([this] { loop_.Run(); });
  }
  ~LeaseProcess() {
    loop_.Post([this] {
      server_.reset();
      loop_.Stop();
    });
    thread_.join();
  }
  const std::string& url() const { return url_; }
  std::string holder() {
    std::promise<std::string> holder;
    loop_.Post([&] { holder.set_value(leases_.holder()); });
    return holder.get_future().get();
  }

 private:
  AsioLoop loop_;
  kube::LeaseServer leases_;
  std::unique_ptr<kube::HttpServer> server_;
  std::string url_;
  std::thread thread_;
};

class SelfStopping final : public Component {
 public:
  explicit SelfStopping(std::function<void()> leading) : leading_(std::move(leading)) {}
  void Start(Task ready) override { ready(); }
  void Lead(const Leadership& leadership) override {
    EXPECT_TRUE(leadership.is_leader());
    leading_();
    kill(getpid(), SIGTERM);
  }
  void Stop(Task done) override { done(); }

 private:
  std::function<void()> leading_;
};

// Is told to stop a second time while it stops, and never ends by itself.
class Stubborn final : public Component {
 public:
  void Start(Task ready) override { ready(); }
  void Lead(const Leadership&) override { kill(getpid(), SIGINT); }
  void Stop(Task) override { kill(getpid(), SIGTERM); }
};

class ProgramTest : public ::testing::Test {
 protected:
  ProgramTest() {
    log::SetSink([](std::string_view) {});
    program_.options().plain.port = 0;
    program_.options().leader_election.election.lease = {"koordinator-system", "koord-scheduler"};
    program_.AddStandardFlags();
  }
  ~ProgramTest() override { log::SetSink(nullptr); }

  int Run(std::vector<const char*> arguments, const Program::Make& make) {
    arguments.insert(arguments.begin(), "koord-scheduler");
    return program_.Run(static_cast<int>(arguments.size()), arguments.data(), make);
  }

  LeaseProcess api_;
  std::string master_ = "--master=" + api_.url();
  Program program_{"koord-scheduler", "Places pods."};
};

TEST_F(ProgramTest, LeadsUntilItIsToldToStopAndHandsTheLeaseBack) {
  std::string holder, identity;
  const int code = Run({master_.c_str()}, [&](Environment& environment) {
    identity = environment.identity;
    return std::make_unique<SelfStopping>([&] { holder = api_.holder(); });
  });
  EXPECT_EQ(code, 0);
  EXPECT_FALSE(identity.empty());
  EXPECT_EQ(holder, identity);
  EXPECT_EQ(api_.holder(), "");
}

TEST_F(ProgramTest, FlagsAndGatesWithoutEffectAreSaid) {
  constexpr FeatureGate kIdle[] = {{"OfAnother", FeatureStage::kAlpha, false}};
  Program program("koord-scheduler", "", FeatureGates({}, {kIdle}));
  program.AddStandardFlags();
  const char* arguments[] = {"koord-scheduler", "--master=http://127.0.0.1:1",
                             "--leader-elect=false", "--emulated-version=1.30",
                             "--feature-gates=OfAnother=true"};
  std::string lines;
  log::SetSink([&](std::string_view line) { lines += line; });
  std::string told;
  EXPECT_EQ(program.Run(5, arguments,
                        [&](Environment& environment) {
                          told = Ask(environment.api, "GET", "/apis/v1/explain/settings").body;
                          return nullptr;
                        }),
            0);
  for (const char* sentence : {"feature gate OfAnother=true has no effect in this version",
                               "flag --emulated-version has no effect"}) {
    EXPECT_THAT(told, HasSubstr(sentence));
    EXPECT_THAT(lines, HasSubstr(sentence));
  }
}

TEST_F(ProgramTest, WithoutElectionThereIsNoLease) {
  std::string holder = "not asked";
  const int code = Run({master_.c_str(), "--leader-elect=false"}, [&](Environment&) {
    return std::make_unique<SelfStopping>([&] { holder = api_.holder(); });
  });
  EXPECT_EQ(code, 0);
  EXPECT_EQ(holder, "");
}

TEST_F(ProgramTest, ASecondSignalEndsItAtOnce) {
  EXPECT_EXIT(Run({"--master=http://127.0.0.1:1", "--leader-elect=false"},
                  [](Environment&) { return std::make_unique<Stubborn>(); }),
              testing::ExitedWithCode(1), "");
}

TEST_F(ProgramTest, NothingToRunIsSuccess) {
  EXPECT_EQ(Run({master_.c_str()}, [](Environment&) { return nullptr; }), 0);
}

TEST_F(ProgramTest, WhatIsPreparedCounts) {
  program_.BeforeStart([&]() -> StatusOr<bool> {
    program_.options().plain.port = -5;
    return true;
  });
  testing::internal::CaptureStderr();
  EXPECT_EQ(Run({master_.c_str()}, [](Environment&) { return nullptr; }), 1);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("--port -5 must be between"));
}

TEST_F(ProgramTest, APreparationMayBeAllThereIsToDo) {
  program_.BeforeStart([]() -> StatusOr<bool> { return false; });
  EXPECT_EQ(Run({"--kubeconfig=/none"},
                [](Environment&) -> StatusOr<std::unique_ptr<Component>> {
                  ADD_FAILURE();
                  return nullptr;
                }),
            0);
}

TEST_F(ProgramTest, WhatGoesWrongAtStartIsPrinted) {
  const auto never = [](Environment&) -> StatusOr<std::unique_ptr<Component>> {
    return InvalidArgument("profiles[0].schedulerName: Required value");
  };
  const auto output_of = [&](std::vector<const char*> arguments) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(Run(std::move(arguments), never), 1);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(output_of({master_.c_str()}),
            "koord-scheduler: profiles[0].schedulerName: Required value\n");
  EXPECT_THAT(output_of({"--kubeconfig=/none"}), HasSubstr("koord-scheduler: "));
  EXPECT_THAT(output_of({"--kubeconfig=/none"}), HasSubstr("/none"));
  EXPECT_THAT(output_of({"--port=-1"}), HasSubstr("--port -1 must be between"));
  EXPECT_THAT(output_of({"serve"}), HasSubstr("does not take any arguments, got [\"serve\"]"));
}

TEST_F(ProgramTest, HelpDoesNotRunAnything) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(Run({"--help"},
                [](Environment&) -> StatusOr<std::unique_ptr<Component>> {
                  ADD_FAILURE();
                  return nullptr;
                }),
            0);
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("Leader election flags:\n"));
}

}  // namespace
}  // namespace koord::program::program_test
