#pragma once
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <unordered_map>

#include "base/event_loop.h"

namespace koord {

// The event loop of real programs: Asio on the calling thread.
class AsioLoop final : public EventLoop {
 public:
  const Clock& clock() const override { return clock_; }
  void Post(Task task) override;
  TimerId Schedule(Duration delay, Task task) override;
  void Cancel(TimerId id) override;

  // Runs until Stop. May be called again afterwards.
  void Run();
  // While work comes in quick succession, rests that long after doing what there was, so that what
  // comes meanwhile is done in one go: for programs that talk to a busy server, whose answers would
  // wake them one by one. Zero: never.
  void set_rest(Duration rest) { rest_ = rest; }
  void Stop() { context_.stop(); }
  // Runs at most one task, waiting for it no longer than `wait`.
  void RunOnce(Duration wait);

  boost::asio::io_context& context() { return context_; }

 private:
  void RunInBatches();

  Duration rest_{0};
  SystemClock clock_;
  boost::asio::io_context context_{1};
  std::unordered_map<TimerId, std::unique_ptr<boost::asio::steady_timer>> timers_;
  TimerId next_id_ = 1;
};

}  // namespace koord
