#pragma once
#include <functional>
#include <memory>
#include <string>

#include "kube/client/client.h"
#include "kube/events/event_recorder.h"
#include "kube/resource.h"

namespace koord::kube {

struct LeaderElectionOptions {
  ObjectKey lease;       // namespace and name, both needed
  std::string identity;  // unlike any other candidate's; see MakeIdentity

  // A leader that has not renewed for `lease_duration` may be replaced; one that cannot renew for
  // `renew_deadline` gives up; both look every `retry_period`.
  Duration lease_duration = std::chrono::seconds(15);
  Duration renew_deadline = std::chrono::seconds(10);
  Duration retry_period = std::chrono::seconds(2);
  bool release_on_stop = false;  // hand the lease back, so that others need not wait
  uint64_t seed = 1;             // of the jitter
};

struct LeaderCallbacks {
  std::function<void()> started;  // we lead
  // We do not lead any more. OK after Stop; an error if the lease was lost: then whatever acted as
  // leader must end, and the program with it.
  std::function<void(const Status& why)> stopped;
  std::function<void(const std::string& identity)> new_leader = {};  // whoever it is
};

// Elects one leader among several processes through a Lease, together with any other that follows
// Kubernetes' own protocol.
//
// Every duration is measured on the steady clock, and other candidates' clocks are never trusted: a
// lease has run out when it has not changed here for its duration. Leadership ends at the renew
// deadline, and never later than the lease that was last written can run out for anybody, counted
// from before it was sent. `is_leader` turns false at that moment even if the loop is too busy to
// tell; check it before every write that only a leader may make.
class LeaderElector {
 public:
  static Status Validate(const LeaderElectionOptions& options);

  // The options must be valid. `recorder` may be null.
  LeaderElector(Client& client, LeaderElectionOptions options, LeaderCallbacks callbacks,
                EventRecorder* recorder = nullptr);
  ~LeaderElector();

  // Looks at the lease without taking it, so that Start knows for how long it has not changed. For
  // candidates that have to get ready first.
  void Observe();
  void Start();
  // Stops leading or trying to; `done` runs once the lease is handed back, if it is to be, or after
  // a few seconds if the server does not answer.
  void Stop(std::function<void()> done = {});

  bool is_leader() const;
  std::string leader() const;  // as last seen; empty if nobody is
  // An error if this leader has not renewed for longer than the lease plus `tolerance`: it should
  // have stopped.
  Status HealthCheck(Duration tolerance) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// "<hostname>_<uuid>"
std::string MakeIdentity(std::string_view hostname, uint64_t seed);

}  // namespace koord::kube
