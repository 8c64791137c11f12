#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "base/event_loop.h"

namespace koord::program {

// Ends a process whose loop hangs. A leader that cannot run its timers cannot learn either that it
// has lost its lease, and may wake up in the middle of a write that is no longer its own to make.
//
// The loop gives a sign of life several times within `limit`; a thread of its own watches.
class Watchdog {
 public:
  // `hung` is called on that thread. By default the process ends at once, with code 1.
  Watchdog(EventLoop& loop, Duration limit, std::function<void()> hung = EndProcess);
  ~Watchdog();

 private:
  static void EndProcess();
  void Beat();
  void Watch();

  const Clock& clock_;
  const Duration limit_;
  const std::function<void()> hung_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  SteadyTime last_beat_;
  Timer beat_;
  std::thread thread_;
};

}  // namespace koord::program
