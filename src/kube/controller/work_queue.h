#pragma once
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/event_loop.h"
#include "base/scope.h"

namespace koord::kube {

// Keys that wait to be reconciled. A key is queued once however often it is added, is never handled
// twice at the same time, and comes back after a growing pause when its handler fails (5 ms
// doubling to 1000 s, and 10 a second with a burst of 100 over all keys).
//
// The handler is asynchronous: it calls `done` when it has finished, with false to be tried again.
class WorkQueue {
 public:
  using Finish = std::function<void(bool ok)>;
  using Handler = std::function<void(const std::string& key, Finish done)>;

  WorkQueue(EventLoop& loop, Handler handler, int concurrency = 1);
  ~WorkQueue();

  void Add(const std::string& key);
  void AddAfter(const std::string& key, Duration delay);
  size_t size() const;  // waiting, not counting delayed keys
  bool idle() const;    // nothing waiting or being handled

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace koord::kube
