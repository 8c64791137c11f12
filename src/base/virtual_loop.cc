#include "base/virtual_loop.h"

#include <algorithm>

namespace koord {

EventLoop::TimerId VirtualLoop::Schedule(Duration delay, Task task) {
  const TimerId id = next_id_++;
  const SteadyTime deadline = clock_.steady + std::max(delay, Duration::zero());
  timers_.emplace(Deadline{deadline, id}, std::move(task));
  deadlines_.emplace(id, deadline);
  return id;
}

void VirtualLoop::Cancel(TimerId id) {
  const auto it = deadlines_.find(id);
  if (it == deadlines_.end()) return;
  timers_.erase({it->second, id});
  deadlines_.erase(it);
}

size_t VirtualLoop::RunReady(size_t limit) {
  size_t count = 0;
  while (count < limit) {
    if (!ready_.empty()) {
      Task task = std::move(ready_.front());
      ready_.pop_front();
      task();
    } else if (!timers_.empty() && timers_.begin()->first.first <= clock_.steady) {
      auto node = timers_.extract(timers_.begin());
      deadlines_.erase(node.key().second);
      node.mapped()();
    } else {
      break;
    }
    ++count;
  }
  return count;
}

bool VirtualLoop::Step(Duration horizon) {
  if (timers_.empty()) return false;
  const SteadyTime next = timers_.begin()->first.first;
  if (next > clock_.steady + horizon) return false;
  clock_.steady = std::max(clock_.steady, next);
  RunReady();
  return true;
}

void VirtualLoop::Advance(Duration span) {
  const SteadyTime end = clock_.steady + span;
  RunReady();
  while (Step(end - clock_.steady)) {
  }
  clock_.steady = end;
  RunReady();
}

}  // namespace koord
