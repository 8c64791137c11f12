#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/asio_loop.h"
#include "base/event_loop.h"
#include "base/status.h"
#include "kube/client/client.h"
#include "program/component_api.h"
#include "program/feature_gates.h"
#include "program/flags.h"
#include "program/options.h"
#include "program/runner.h"

namespace koord::program {

// What a component is given to work with.
struct Environment {
  EventLoop& loop;
  kube::Client& client;                        // limited as --kube-api-qps says
  kube::Client::Options client_options;        // of `client`
  std::shared_ptr<kube::Transport> transport;  // for further clients
  ComponentApi& api;
  const FeatureGates& gates;
  std::string identity;  // of this replica: "<host>_<uuid>"
  uint64_t seed;         // unlike that of any other run
  AsioLoop& asio_loop;   // the same loop, for those with sockets and files of their own
  // Ends the program at once with exit code 1: it is of no use, and may be started anew.
  std::function<void(const Status& why)> give_up;
};

// A component as a program: reads the command line, serves, is elected, runs until SIGTERM or
// SIGINT, and ends.
//
// The first signal stops it gracefully: exit code 0. A second one ends it at once, and so does the
// loss of its lease, a loop that hangs for the renew deadline while it leads, or a component that
// gives up: exit code 1.
class Program {
 public:
  struct Options {
    ClientOptions client;
    LeaderElectionConfig leader_election;
    PlainServingOptions plain;
    std::vector<PlainServingOptions> further_plain;  // the same, at further addresses
    SecureServingOptions secure;
    bool metrics_without_login = false;
    LoggingOptions logging;
    bool profiling = true;
  };
  // Makes the component once the command line is understood. Null: there is nothing to run, exit
  // with 0. Nothing is served yet: routes may be added.
  using Make = std::function<StatusOr<std::unique_ptr<Component>>(Environment& environment)>;

  // `gates` are the features that users may switch; without any there are none.
  Program(std::string name, std::string description, FeatureGates gates = FeatureGates({}));

  Flags& flags() { return flags_; }
  Options& options() { return options_; }  // set defaults before adding flags
  FeatureGates& gates() { return gates_; }

  // Everything that Kubernetes' own programs have. A component whose users know fewer or other
  // flags adds groups by itself (options.h).
  void AddStandardFlags();

  // Of what was set on the command line, that which nothing reads.
  std::vector<std::string> WithoutEffect() const;

  // Runs after the command line was read and before anything is done or checked: reads a
  // configuration file into options(), for example. False: there is nothing to run, exit with 0.
  void BeforeStart(std::function<StatusOr<bool>()> prepare) { prepare_ = std::move(prepare); }

  int Run(int argc, const char* const* argv, const Make& make);

 private:
  StatusOr<bool> Prepare();

  Flags flags_;
  Options options_;
  FeatureGates gates_;
  std::function<StatusOr<bool>()> prepare_;
};

}  // namespace koord::program
