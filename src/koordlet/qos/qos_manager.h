#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "base/event_loop.h"
#include "koordlet/qos/framework/qos_strategy.h"

namespace koord::koordlet {

// Runs each strategy whose gate is on, again and again on its interval. They do not know of each
// other: what one cannot do keeps none of the others from their work.
class QosManager {
 public:
  QosManager(EventLoop& loop, const QosContext& context);

  // From now on; the first cycle of each comes after its interval. Nothing happens where usage is
  // collected more often than each second, which switches strategies off.
  void Start();
  void Stop();
  // One cycle of each at once, in their order, for those who do not wait (--once).
  void RunOnce();

  // In the order in which they run.
  std::vector<std::string_view> names() const;

 private:
  struct Job {
    std::unique_ptr<QosStrategy> strategy;
    std::unique_ptr<Timer> timer;
  };

  void Schedule(Job& job);

  EventLoop& loop_;
  const bool enabled_;
  std::vector<Job> jobs_;
};

}  // namespace koord::koordlet
