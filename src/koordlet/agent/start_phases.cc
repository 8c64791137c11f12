#include "koordlet/agent/start_phases.h"

#include <utility>

namespace koord::koordlet {
namespace {

// How often to look whether the next step may be taken.
constexpr Duration kPhaseCheck = std::chrono::milliseconds(200);

}  // namespace

StartPhases::StartPhases(EventLoop& loop, Steps steps) : steps_(std::move(steps)), timer_(loop) {}

void StartPhases::Start(Task ready) {
  ready_ = std::move(ready);
  phase_ = Phase::kSyncing;
  Advance();
}

void StartPhases::Stop() {
  phase_ = Phase::kStopped;
  timer_.Cancel();
}

Status StartPhases::Healthy() const {
  switch (phase_) {
    case Phase::kActing:
      return absl::OkStatus();
    case Phase::kNew:
    case Phase::kSyncing:
      return Unavailable("the node and its pods are not known yet");
    case Phase::kCollecting:
      return Unavailable("usage has not been measured yet");
    case Phase::kStopped:
      break;
  }
  return Unavailable("stopped");
}

void StartPhases::Advance() {
  if (phase_ == Phase::kSyncing && steps_.knows_node()) {
    phase_ = Phase::kCollecting;
    steps_.measure();
  }
  if (phase_ == Phase::kCollecting && steps_.has_measured()) {
    phase_ = Phase::kActing;
    steps_.act();
    Task ready = std::exchange(ready_, [] {});
    ready();
  }
  if (phase_ == Phase::kSyncing || phase_ == Phase::kCollecting) {
    timer_.Set(kPhaseCheck, [this] { Advance(); });
  }
}

}  // namespace koord::koordlet
