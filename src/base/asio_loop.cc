#include "base/asio_loop.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <thread>

namespace koord {

void AsioLoop::Post(Task task) {
  boost::asio::post(context_, [task = std::move(task)]() mutable { task(); });
}

EventLoop::TimerId AsioLoop::Schedule(Duration delay, Task task) {
  const TimerId id = next_id_++;
  auto timer = std::make_unique<boost::asio::steady_timer>(context_, delay);
  timer->async_wait([this, id, task = std::move(task)](const boost::system::error_code&) mutable {
    // A timer that is no longer listed was cancelled, even if it had already fired.
    if (timers_.erase(id) > 0) task();
  });
  timers_.emplace(id, std::move(timer));
  return id;
}

void AsioLoop::Cancel(TimerId id) { timers_.erase(id); }

void AsioLoop::Run() {
  context_.restart();
  auto keep_running = boost::asio::make_work_guard(context_);
  if (rest_ > Duration::zero()) return RunInBatches();
  context_.run();
}

void AsioLoop::RunInBatches() {
  SteadyTime last = clock_.Steady();
  while (!context_.stopped()) {
    context_.run_one();  // waits for it
    while (context_.poll() > 0) {
    }
    if (clock_.Steady() - last < rest_) std::this_thread::sleep_for(rest_);
    last = clock_.Steady();
  }
}

void AsioLoop::RunOnce(Duration wait) {
  context_.restart();
  auto keep_running = boost::asio::make_work_guard(context_);
  context_.run_one_for(wait);
}

}  // namespace koord
