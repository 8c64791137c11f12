#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "base/event_loop.h"
#include "base/scope.h"

namespace koord::scheduler {

// Something that writes of its own accord, and not only what was decided about a pod: a controller.
// Whatever it knows it may learn at all times; it acts only between Start and Stop.
class LeaderPart {
 public:
  virtual ~LeaderPart() = default;
  virtual std::string_view name() const = 0;
  // This process leads, and knows the whole cluster. May come again after a Stop.
  virtual void Start() = 0;
  // Begins nothing any more; `done` when what is under way has been answered.
  virtual void Stop(Task done) = 0;
};

// The parts that live and die with leadership: only a leader writes.
class LeaderParts {
 public:
  // False if there is one of this name: what several profiles bring along runs once, as the first
  // of them has made it. Is started at once if the others are.
  bool Add(std::unique_ptr<LeaderPart> part);

  void Start();
  void Stop();
  bool running() const { return running_; }
  // Runs `done` once none is being stopped.
  void WhenStopped(Task done);

 private:
  void TellStopped();

  std::vector<std::unique_ptr<LeaderPart>> parts_;
  bool running_ = false;
  size_t stopping_ = 0;
  std::vector<Task> when_stopped_;
  Scope scope_;
};

}  // namespace koord::scheduler
