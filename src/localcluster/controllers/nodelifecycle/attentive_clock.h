#pragma once
#include "base/clock.h"
#include "base/event_loop.h"
#include "base/scope.h"
#include "kube/client/client.h"

namespace koord::localcluster {

// Counts only the time in which signs of life could have been heard.
//
// Whoever is silent may be dead, or may have spoken while nobody could listen: the machine was busy
// with other things, or the disk took its time and the API server could not answer. So every few
// seconds this asks the API server for a list, which is answered once everything written before is
// durable, as a heart-beat has to be before it is seen. While the answer, or the next question, is
// overdue, this clock stands still.
class AttentiveClock {
 public:
  // Does nothing before Start.
  explicit AttentiveClock(kube::Client& client) : client_(client), timer_(client.loop()) {}

  void Start();
  bool started() const { return started_; }

  // Time since an arbitrary start. Never goes back.
  SteadyTime Now() const;

 private:
  void BeginRound();
  void Ask();

  kube::Client& client_;
  Timer timer_;
  bool started_ = false;
  SteadyTime counted_{0};  // in the rounds before this one
  SteadyTime begin_{0};    // of this round, by the loop's clock
  Scope scope_;
};

}  // namespace koord::localcluster
