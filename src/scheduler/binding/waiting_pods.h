#pragma once
#include <absl/container/btree_map.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/event_loop.h"
#include "base/scope.h"
#include "base/string_map.h"
#include "scheduler/framework/plugin.h"

namespace koord::scheduler {

// Pods that have a node and wait for the word of one or more Permit plugins.
//
// A pod goes on when every plugin that made it wait has allowed it; it fails as soon as one rejects
// it or lets its time run out. The outcome is told from the loop, never inside Allow or Reject:
// plugins may call those for many pods from anywhere. A pod whose outcome is decided waits no more.
class WaitingPods {
 public:
  static constexpr Duration kLongest = 15min;

  struct Wait {
    std::string plugin;
    Duration timeout;  // at most kLongest counts
  };

  explicit WaitingPods(EventLoop& loop) : loop_(loop) {}

  // The attempt stays where it is until `done` is called: with success, or with a rejection that
  // names the plugin. It must not be waiting yet; `waits` is not empty.
  void Add(const Attempt& attempt, std::vector<Wait> waits, VerdictDone done);

  // False if the pod does not wait; for Allow also if not for this plugin.
  bool Allow(std::string_view uid, std::string_view plugin);
  bool Reject(std::string_view uid, std::string_view plugin, std::string reason,
              PromiseAfter promise = PromiseAfter::kNothing);

  size_t size() const { return pods_.size(); }
  const Attempt* Find(std::string_view uid) const;
  // Whom a pod waits for, and how long at most.
  struct Waits {
    std::string_view plugin;
    Duration left;
  };
  std::vector<Waits> WaitsOf(std::string_view uid) const;
  // In the order of arrival; `visit` may allow and reject.
  void ForEach(const std::function<void(const Attempt&)>& visit) const;

 private:
  struct Waiting {
    explicit Waiting(EventLoop& loop) : timer(loop) {}

    struct Until {
      Wait wait;
      SteadyTime deadline;
    };
    const Attempt* attempt = nullptr;
    std::vector<Until> plugins;
    VerdictDone done;
    Timer timer;  // for the first deadline
  };
  using Pods = absl::btree_map<uint64_t, std::unique_ptr<Waiting>>;

  Pods::iterator FindWaiting(std::string_view uid);
  void Arm(uint64_t id, Waiting& pod);
  void Finish(Pods::iterator at, Verdict verdict);

  EventLoop& loop_;
  Pods pods_;  // by arrival
  StringMap<uint64_t> by_uid_;
  uint64_t next_id_ = 0;
  Scope scope_;
};

}  // namespace koord::scheduler
