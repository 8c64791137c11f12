#include "scheduler/metrics/attempt_monitor.h"

#include <fmt/format.h>

#include "base/duration.h"
#include "base/log_text.h"

namespace koord::scheduler {

AttemptMonitor::AttemptMonitor(EventLoop& loop, MonitorOptions options, metrics::Registry& registry)
    : loop_(loop),
      options_(options),
      timeouts_(registry.AddCounters("scheduler_scheduling_timeout",
                                     "How often an attempt took longer than --scheduling-timeout.",
                                     {"profile"})),
      timer_(loop) {}

void AttemptMonitor::OnPopped(const QueuedPod& pod) {
  if (IsBeingDeleted(pod.pod->metadata)) return;
  watched_.insert_or_assign(pod.pod.get(), Watched{pod.pod, "", loop_.clock().Steady()});
  if (!timer_.pending()) timer_.Set(options_.period, [this] { Look(); });
}

void AttemptMonitor::OnSkipped(const kube::Pod& pod) { watched_.erase(&pod); }

void AttemptMonitor::OnStarted(const Attempt& attempt) {
  const auto found = watched_.find(attempt.pod.get());
  if (found == watched_.end()) return;
  found->second.started = true;
  found->second.since = attempt.started;
  found->second.profile = attempt.profile;
}

void AttemptMonitor::OnWaiting(const Attempt& attempt) { End(attempt); }

void AttemptMonitor::OnFinished(const Attempt& attempt, AttemptResult) { End(attempt); }

void AttemptMonitor::End(const Attempt& attempt) {
  const auto found = watched_.find(attempt.pod.get());
  if (found == watched_.end()) return;
  const Duration took = loop_.clock().Steady() - found->second.since;
  if (took > options_.timeout) CryOut(found->second, took);
  watched_.erase(found);
}

void AttemptMonitor::CryOut(const Watched& watched, Duration took) {
  const kube::ObjectMeta& meta = watched.pod->metadata;
  LOG_TEXT(fmt::format(
      "!!!CRITICAL TIMEOUT!!! scheduling pod {}/{}({}) took longer ({}) than the timeout {}",
      meta.ns, meta.name, meta.uid, FormatDuration(took), FormatDuration(options_.timeout)));
  timeouts_.With({watched.profile}).Increment();
}

void AttemptMonitor::Look() {
  const SteadyTime now = loop_.clock().Steady();
  absl::erase_if(watched_, [&](const auto& entry) {
    return !entry.second.started && now - entry.second.since > options_.drop_unhandled;
  });
  for (const auto& [pod, watched] : watched_) {
    if (now - watched.since > options_.timeout) CryOut(watched, now - watched.since);
  }
  if (!watched_.empty()) timer_.Set(options_.period, [this] { Look(); });
}

}  // namespace koord::scheduler
