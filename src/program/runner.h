#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/event_loop.h"
#include "kube/election/leader_election.h"
#include "program/component_api.h"

namespace koord::program {

class Leadership {
 public:
  virtual ~Leadership() = default;
  // Turns false at the moment at which another may take over, even if nobody has been told yet:
  // ask before every write that only a leader may make.
  virtual bool is_leader() const = 0;
};

// What a program does, apart from everything that all programs do.
class Component {
 public:
  virtual ~Component() = default;

  // Fills caches. `ready` when they are full: a standby waits for its turn only then, so that it
  // can act at once.
  virtual void Start(Task ready) = 0;
  // Acts, until Stop or the end of the process. `leadership` outlives the component's work.
  virtual void Lead(const Leadership& leadership) = 0;
  // Brings to an end what is under way; nothing is written any more after `done`.
  virtual void Stop(Task done) = 0;
};

struct RunnerOptions {
  std::optional<kube::LeaderElectionOptions> election;  // none: leads at once
  // A stop that takes longer is given up.
  Duration stop_limit = std::chrono::seconds(10);
  std::function<void()> leading = {};  // called before the component leads
  kube::EventRecorder* recorder = nullptr;
};

// Takes a component through its life: fills its caches, waits for the lease, lets it act, and stops
// it before the lease is handed back. Losing the lease ends the program: whatever the component had
// under way must not go on.
//
// Knows no sockets, signals or processes, so that a component runs the same way on its own and in
// one process with others.
class ComponentRunner final : public Leadership {
 public:
  // Called once: 0 after Stop, 1 if the lease was lost or the stop took too long.
  using Ended = std::function<void(int exit_code)>;

  // `client` is for the lease alone: others' requests must not hold up its renewal. `api` gets
  // health checks and metrics of the election; nobody may ask it once the runner is gone.
  ComponentRunner(kube::Client& client, Component& component, ComponentApi& api,
                  RunnerOptions options, Ended ended);
  ~ComponentRunner() override;

  void Start();
  void Stop();
  bool is_leader() const override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace koord::program
