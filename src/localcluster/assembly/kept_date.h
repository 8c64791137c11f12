#pragma once
#include <string>

#include "base/event_loop.h"

namespace koord::localcluster {

// The date of a cluster whose time runs faster than the world's, kept in a file, so that it never
// goes back when the cluster starts again: nothing was created, renewed or finished in the future.
class KeptDate {
 public:
  KeptDate(EventLoop& real, std::string file) : real_(real), file_(std::move(file)), timer_(real) {}

  // The date to start at: today, or the one that was kept if that is later.
  WallTime Start() const;
  // Keeps the date of `clock`, which passes `speed` times as fast as real time.
  void Follow(const Clock& clock, double speed);
  void Stop();

 private:
  void Save(WallTime date) const;

  EventLoop& real_;
  const std::string file_;
  const Clock* clock_ = nullptr;  // null: nothing is followed
  Timer timer_;
};

}  // namespace koord::localcluster
