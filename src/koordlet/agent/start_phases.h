#pragma once
#include <cstdint>
#include <functional>

#include "base/event_loop.h"
#include "base/status.h"

namespace koord::koordlet {

// The order in which koordlet comes to life: nothing is measured before the node is known, and
// nothing done before usage has been measured.
class StartPhases {
 public:
  struct Steps {
    std::function<bool()> knows_node;
    Task measure;
    std::function<bool()> has_measured;
    Task act;
  };

  StartPhases(EventLoop& loop, Steps steps);

  // `ready` once it acts.
  void Start(Task ready);
  // No further step is taken.
  void Stop();

  bool acting() const { return phase_ == Phase::kActing; }
  bool stopped() const { return phase_ == Phase::kStopped; }
  // What it waits for, as an error.
  Status Healthy() const;

 private:
  enum class Phase : uint8_t { kNew, kSyncing, kCollecting, kActing, kStopped };

  void Advance();

  Steps steps_;
  Timer timer_;
  Task ready_;
  Phase phase_ = Phase::kNew;
};

}  // namespace koord::koordlet
