#pragma once
#include <absl/container/flat_hash_map.h>

#include <memory>
#include <string>

#include "base/event_loop.h"
#include "base/metrics/metrics.h"
#include "scheduler/cycle/attempt_observer.h"

namespace koord::scheduler {

struct MonitorOptions {
  Duration period = 10s;
  Duration timeout = 30s;        // an attempt that takes longer is too slow
  Duration drop_unhandled = 5s;  // a pod that was popped and never tried is forgotten
};

// Cries out about attempts that take too long, while they run and when they end: something that a
// binding waits for hangs, or the scheduler does. An attempt lasts until the pod is bound or has
// failed; waiting for a permit is nobody's fault and does not count.
class AttemptMonitor final : public AttemptObserver {
 public:
  AttemptMonitor(EventLoop& loop, MonitorOptions options, metrics::Registry& registry);

  void OnPopped(const QueuedPod& pod) override;
  void OnSkipped(const kube::Pod& pod) override;
  void OnStarted(const Attempt& attempt) override;
  void OnWaiting(const Attempt& attempt) override;
  void OnFinished(const Attempt& attempt, AttemptResult result) override;

  size_t watched() const { return watched_.size(); }

 private:
  struct Watched {
    std::shared_ptr<const kube::Pod> pod;
    std::string profile;  // empty until it is tried
    SteadyTime since{};   // popped, then started
    bool started = false;
  };

  void Look();
  void CryOut(const Watched& watched, Duration took);
  void End(const Attempt& attempt);

  EventLoop& loop_;
  const MonitorOptions options_;
  metrics::Counters& timeouts_;
  absl::flat_hash_map<const kube::Pod*, Watched> watched_;
  Timer timer_;
};

}  // namespace koord::scheduler
