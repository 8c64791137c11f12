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
  void Stop() { context_.stop(); }
  // Runs at most one task, waiting for it no longer than `wait`.
  void RunOnce(Duration wait);

  boost::asio::io_context& context() { return context_; }

 private:
  SystemClock clock_;
  boost::asio::io_context context_{1};
  std::unordered_map<TimerId, std::unique_ptr<boost::asio::steady_timer>> timers_;
  TimerId next_id_ = 1;
};

}  // namespace koord
