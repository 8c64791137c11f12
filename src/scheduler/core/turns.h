#pragma once
#include <functional>

#include "base/event_loop.h"
#include "base/scope.h"

namespace koord::scheduler {

// Takes one step after the other while there is something to do, in short turns: long enough to
// place hundreds of pods, short enough for a lease to be renewed and a watch to be read.
class Turns {
 public:
  // False: there is nothing to do; whoever knows that this has changed calls Wake.
  using Step = std::function<bool()>;

  static constexpr Duration kTurn = 2ms;
  static constexpr int kStepsATurn = 256;

  Turns(EventLoop& loop, Step step) : loop_(loop), step_(std::move(step)) {}

  void Start();
  void Stop() { running_ = false; }  // also within a step
  void Wake();
  bool running() const { return running_; }
  bool posted() const { return posted_; }  // a turn will come

 private:
  void Run();

  EventLoop& loop_;
  const Step step_;
  bool running_ = false;
  bool posted_ = false;
  Scope scope_;
};

}  // namespace koord::scheduler
