#include "scheduler/core/turns.h"

namespace koord::scheduler {

void Turns::Start() {
  running_ = true;
  Wake();
}

void Turns::Wake() {
  if (!running_ || posted_) return;
  posted_ = true;
  loop_.Post(scope_.Wrap([this] { Run(); }));
}

void Turns::Run() {
  posted_ = false;
  const SteadyTime end = loop_.clock().Steady() + kTurn;
  for (int i = 0; i < kStepsATurn && running_; ++i) {
    if (!step_()) return;
    if (loop_.clock().Steady() >= end) break;
  }
  Wake();
}

}  // namespace koord::scheduler
