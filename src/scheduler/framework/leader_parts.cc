#include "scheduler/framework/leader_parts.h"

#include <algorithm>
#include <utility>

namespace koord::scheduler {

bool LeaderParts::Add(std::unique_ptr<LeaderPart> part) {
  const auto has_its_name = [&](const auto& other) { return other->name() == part->name(); };
  if (std::ranges::any_of(parts_, has_its_name)) return false;
  if (running_) part->Start();
  parts_.push_back(std::move(part));
  return true;
}

void LeaderParts::Start() {
  if (std::exchange(running_, true)) return;
  for (const auto& part : parts_) part->Start();
}

void LeaderParts::Stop() {
  if (!std::exchange(running_, false)) return;
  stopping_ += parts_.size();
  for (const auto& part : parts_) {
    part->Stop(scope_.Wrap([this] {
      --stopping_;
      TellStopped();
    }));
  }
}

void LeaderParts::WhenStopped(Task done) {
  when_stopped_.push_back(std::move(done));
  TellStopped();
}

void LeaderParts::TellStopped() {
  if (stopping_ != 0) return;
  for (Task& done : std::exchange(when_stopped_, {})) done();
}

}  // namespace koord::scheduler
