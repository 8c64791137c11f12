#include "localcluster/controllers/nodelifecycle/attentive_clock.h"

#include <algorithm>

#include "kube/resources.h"

namespace koord::localcluster {
namespace {

constexpr Duration kAskEvery = 5s;
// An answer that takes no longer than this is in time.
constexpr Duration kAnswerWithin = 1s;

}  // namespace

void AttentiveClock::Start() {
  if (std::exchange(started_, true)) return;
  BeginRound();
}

SteadyTime AttentiveClock::Now() const {
  if (!started_) return counted_;
  const Duration elapsed = client_.loop().clock().Steady() - begin_;
  return counted_ + std::min(elapsed, kAskEvery + kAnswerWithin);
}

void AttentiveClock::BeginRound() {
  begin_ = client_.loop().clock().Steady();
  timer_.Set(kAskEvery, [this] { Ask(); });
}

void AttentiveClock::Ask() {
  client_.List(kube::kLeases, "kube-node-lease", {.limit = 1},
               scope_.Wrap([this](const StatusOr<kube::Json>&) {
                 counted_ = Now();
                 BeginRound();
               }));
}

}  // namespace koord::localcluster
