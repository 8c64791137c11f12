#include "program/watchdog.h"

#include <unistd.h>

#include <string_view>

namespace koord::program {

Watchdog::Watchdog(EventLoop& loop, Duration limit, std::function<void()> hung)
    : clock_(loop.clock()),
      limit_(limit),
      hung_(std::move(hung)),
      last_beat_(clock_.Steady()),
      beat_(loop) {
  Beat();
  thread_ = std::thread([this] { Watch(); });
}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Watchdog::Beat() {
  {
    const std::lock_guard lock(mutex_);
    last_beat_ = clock_.Steady();
  }
  beat_.Set(limit_ / 5, [this] { Beat(); });
}

void Watchdog::Watch() {
  std::unique_lock lock(mutex_);
  while (!ended_) {
    const Duration left = last_beat_ + limit_ - clock_.Steady();
    if (left <= Duration::zero()) return hung_();
    changed_.wait_for(lock, left);
  }
}

void Watchdog::EndProcess() {
  // No logging, no exit handlers: whatever holds the loop may hold their locks as well.
  constexpr std::string_view kMessage =
      "The event loop has not run for the renew deadline of the lease: ending\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kMessage.data(), kMessage.size());
  _exit(1);
}

}  // namespace koord::program
