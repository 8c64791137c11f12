#include "scheduler/metrics/scheduler_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace koord::scheduler {
namespace {

using metrics::ExponentialBuckets;

// Plugins are timed one by one in a decision out of so many: they work on all rows together, which
// an ordinary decision avoids.
constexpr uint64_t kTimedDecisions = 1000;

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

// Metrics of Koordinator's plugins that count nothing until those plugins have something to count.
void AddMetricsOfPlugins(metrics::Registry& registry) {
  registry.AddHistogram("scheduler_next_pod_delete_from_queue_latency",
                        "How long it took to remove a pod that a plugin chose from the queue.",
                        metrics::DefaultBuckets());
  registry.AddGauge("scheduler_waiting_gang_group_number",
                    "The number of gang groups in waiting status.");
  registry.AddHistograms("scheduler_elastic_quota_process_latency",
                         "Latency of elastic quota processing, in seconds.", {"operation"},
                         ExponentialBuckets(0.00001, 2, 24));
  registry.AddHistograms("scheduler_elastic_quota_hook_plugin_latency",
                         "Latency of elastic quota hook plugins, in seconds.",
                         {"plugin", "operation"}, ExponentialBuckets(0.000001, 2, 24));
  registry.AddHistograms("scheduler_job_preemption_duration_seconds",
                         "Duration of the preemption for a job.", {"jobName", "result"},
                         metrics::DefaultBuckets());
  registry.AddHistograms("scheduler_gang_schedule_cycle_duration_seconds",
                         "Duration of the scheduling cycle of a gang.", {"reason", "job_size"},
                         metrics::DefaultBuckets());
  registry.AddHistograms("scheduler_inline_batch_schedule_duration_seconds",
                         "Duration of scheduling a batch at once.", {"result"},
                         metrics::DefaultBuckets());
  registry.AddCounters("scheduler_reservation_selector_index_query_total",
                       "Queries of the index of reservation selectors.", {"result"});
  registry.AddHistogram("scheduler_reservation_selector_index_candidates_count",
                        "Candidates that the index of reservation selectors gave.",
                        ExponentialBuckets(1, 2, 16));
  registry.AddGauges("scheduler_secondary_device_not_well_planned",
                     "Nodes whose secondary devices are not well planned.", {"node_name"});
}

}  // namespace

SchedulerMetrics::SchedulerMetrics(metrics::Registry& registry, const Clock& clock)
    : registry_(registry),
      clock_(clock),
      attempts_(registry.AddCounters(
          "scheduler_schedule_attempts_total",
          "Number of attempts to schedule pods, by the result. 'unschedulable' means a pod could "
          "not be scheduled, while 'error' means an internal scheduler problem.",
          {"result", "profile"})),
      attempt_duration_(registry.AddHistograms(
          "scheduler_scheduling_attempt_duration_seconds",
          "Scheduling attempt latency in seconds (scheduling algorithm + binding)",
          {"result", "profile"}, ExponentialBuckets(0.001, 2, 15))),
      algorithm_duration_(registry.AddHistogram("scheduler_scheduling_algorithm_duration_seconds",
                                                "Scheduling algorithm latency in seconds",
                                                ExponentialBuckets(0.001, 2, 15))),
      sli_duration_(registry.AddHistograms(
          "scheduler_pod_scheduling_sli_duration_seconds",
          "E2e latency for a pod being scheduled, from the time the pod enters the scheduling "
          "queue and might involve multiple scheduling attempts.",
          {"attempts"}, ExponentialBuckets(0.01, 2, 20))),
      pod_attempts_(registry.AddHistogram("scheduler_pod_scheduling_attempts",
                                          "Number of attempts to successfully schedule a pod.",
                                          ExponentialBuckets(1, 2, 5))),
      pending_(registry.AddGauges(
          "scheduler_pending_pods",
          "Number of pending pods, by the queue type. 'active' means number of pods in activeQ; "
          "'backoff' means number of pods in backoffQ; 'unschedulable' means number of pods in "
          "unschedulablePods that the scheduler attempted to schedule and failed; 'gated' is the "
          "number of unschedulable pods that the scheduler never attempted to schedule because "
          "they are gated.",
          {"queue"})),
      incoming_(
          registry.AddCounters("scheduler_queue_incoming_pods_total",
                               "Number of pods added to scheduling queues by event and queue type.",
                               {"queue", "event"})),
      point_duration_(registry.AddHistograms(
          "scheduler_framework_extension_point_duration_seconds",
          "Latency for running all plugins of a specific extension point.",
          {"extension_point", "status", "profile"}, ExponentialBuckets(0.0001, 2, 12))),
      plugin_duration_(registry.AddHistograms(
          "scheduler_plugin_execution_duration_seconds",
          "Duration for running a plugin at a specific extension point.",
          {"plugin", "extension_point", "status"}, ExponentialBuckets(0.00001, 1.5, 20))),
      victims_(registry.AddHistogram("scheduler_preemption_victims",
                                     "Number of selected preemption victims",
                                     ExponentialBuckets(1, 2, 7))),
      preemptions_(registry.AddCounter("scheduler_preemption_attempts_total",
                                       "Total preemption attempts in the cluster till now")),
      unschedulable_(registry.AddGauges(
          "scheduler_unschedulable_pods",
          "The number of unschedulable pods broken down by plugin name. A pod will increment the "
          "gauge for all plugins that caused it to not schedule and so this metric have meaning "
          "only when broken down by plugin.",
          {"plugin", "profile"})),
      cache_size_(registry.AddGauges(
          "scheduler_cache_size",
          "Number of nodes, pods, and assumed (bound) pods in the scheduler cache.", {"type"})),
      permit_wait_(registry.AddHistograms("scheduler_permit_wait_duration_seconds",
                                          "Duration of waiting on permit.", {"result"},
                                          ExponentialBuckets(0.001, 2, 15))),
      evaluations_(registry.AddCounters(
          "scheduler_plugin_evaluation_total",
          "Number of attempts to schedule pods by each plugin and the extension point (available "
          "only in PreFilter, Filter, PreScore, and Score).",
          {"plugin", "extension_point", "profile"})),
      goroutines_(registry.AddGauges("scheduler_goroutines",
                                     "Number of bindings under way, split by the work they do.",
                                     {"operation"})),
      evaluated_nodes_(
          registry.AddHistogram("scheduler_pod_scheduling_evaluated_nodes",
                                "The number of nodes that were evaluated for a pod that found one.",
                                ExponentialBuckets(1, 2, 24))),
      feasible_nodes_(
          registry.AddHistogram("scheduler_pod_scheduling_feasible_nodes",
                                "The number of nodes that were feasible for a pod that found one.",
                                ExponentialBuckets(1, 2, 24))),
      reservations_(registry),
      quotas_(registry) {
  AddMetricsOfPlugins(registry);
}

void SchedulerMetrics::Show(const Scheduler& scheduler) {
  registry_.BeforeText([this, &scheduler] { LookUp(scheduler); });
}

void SchedulerMetrics::LookUp(const Scheduler& scheduler) {
  const SchedulingQueue::Counts counts = scheduler.queue().counts();
  pending_.With({"active"}).Set(static_cast<double>(counts.active));
  pending_.With({"backoff"}).Set(static_cast<double>(counts.backoff));
  pending_.With({"unschedulable"}).Set(static_cast<double>(counts.unschedulable));
  pending_.With({"gated"}).Set(static_cast<double>(counts.gated));
  scheduler.queue().ForEachRejector(
      [&](std::string_view profile, std::string_view plugin, size_t pods) {
        unschedulable_.With({plugin, profile}).Set(static_cast<double>(pods));
      });
  const Ledger& ledger = scheduler.ledger();
  cache_size_.With({"nodes"}).Set(static_cast<double>(ledger.nodes().live_rows()));
  cache_size_.With({"pods"}).Set(static_cast<double>(ledger.pods()));
  cache_size_.With({"assumed_pods"}).Set(static_cast<double>(ledger.assumed()));
  goroutines_.With({"binding"}).Set(static_cast<double>(scheduler.binding()));
  CountEvaluations(scheduler);
  // Those of a leader: a standby does not keep their status true.
  static const ObjectCache<api::Reservation> kNone;
  reservations_.LookUp(scheduler.running() ? scheduler.objects().reservations : kNone);
  quotas_.LookUp(scheduler.running() ? &scheduler.books().quotas : nullptr);
}

// Every plugin of a profile has its say about every pod, whether it is asked about all rows again
// or about those alone that have changed.
void SchedulerMetrics::CountEvaluations(const Scheduler& scheduler) {
  for (const PluginLineup* lineup : scheduler.lineups()) {
    const OfProfile& profile = Of(lineup->name);
    const auto count = [&](const Plugin& plugin, std::string_view point, uint64_t times) {
      evaluations_.With({plugin.name(), point, lineup->name}).SetTotal(static_cast<double>(times));
    };
    for (const auto* plugin : lineup->pre_filter) count(*plugin, "PreFilter", profile.decisions);
    for (const auto* plugin : lineup->filter) count(*plugin, "Filter", profile.decisions);
    for (const auto& scorer : lineup->score) count(*scorer.plugin, "Score", profile.scored);
  }
}

SchedulerMetrics::OfProfile& SchedulerMetrics::Of(const std::string& profile) {
  if (last_ != nullptr && last_->name == profile) return *last_;
  const auto known = std::ranges::find(
      profiles_, profile, [](const auto& each) { return std::string_view(each->name); });
  if (known != profiles_.end()) return *(last_ = known->get());
  auto made = std::make_unique<OfProfile>();
  made->name = profile;
  for (size_t i = 0; i < kAttemptResults; ++i) {
    const std::string_view result = ToString(static_cast<AttemptResult>(i));
    made->attempts[i] = &attempts_.With({result, profile});
    made->durations[i] = &attempt_duration_.With({result, profile});
  }
  profiles_.push_back(std::move(made));
  return *(last_ = profiles_.back().get());
}

void SchedulerMetrics::OnIncoming(std::string_view pool, std::string_view event) {
  metrics::Counter*& counter = incoming_by_text_[{pool.data(), event.data()}];
  if (counter == nullptr) counter = &incoming_.With({pool, event});
  counter->Increment();
}

void SchedulerMetrics::OnDecided(const Attempt& attempt, Pipeline& pipeline,
                                 const Decision& decision, WallTime, Duration took) {
  algorithm_duration_.Observe(Seconds(took));
  OfProfile& profile = Of(attempt.profile);
  ++profile.decisions;
  if (decision.feasible > 1) ++profile.scored;
  if (decision.placed()) {
    evaluated_nodes_.Observe(static_cast<double>(decision.evaluated));
    feasible_nodes_.Observe(static_cast<double>(decision.feasible));
  }
  if (++decisions_ % kTimedDecisions == 1) TimePlugins(attempt, pipeline);
}

void SchedulerMetrics::TimePlugins(const Attempt& attempt, Pipeline& pipeline) {
  pipeline.TimePlugins(attempt.shape, clock_,
                       [&](const Plugin& plugin, std::string_view point, Duration took) {
                         plugin_duration_.With({plugin.name(), point, ToString(Code::kSuccess)})
                             .Observe(Seconds(took));
                       });
}

void SchedulerMetrics::OnPoint(CyclePoint point, const Attempt& attempt, Code code, Duration took) {
  metrics::Histogram*& series =
      Of(attempt.profile).points[static_cast<size_t>(point)][static_cast<size_t>(code)];
  if (series == nullptr) {
    series = &point_duration_.With({ToString(point), ToString(code), attempt.profile});
  }
  series->Observe(Seconds(took));
}

void SchedulerMetrics::OnWaited(const Attempt&, const Verdict& verdict, Duration how_long) {
  permit_wait_.With({ToString(verdict.code)}).Observe(Seconds(how_long));
}

void SchedulerMetrics::OnBound(const Attempt& attempt) {
  pod_attempts_.Observe(attempt.attempts);
  const int attempts = std::clamp(attempt.attempts, 1, kMostAttempts);
  metrics::Histogram*& series = sli_by_attempts_[static_cast<size_t>(attempts)];
  if (series == nullptr) {
    series = &sli_duration_.With({attempts == kMostAttempts ? "15+" : fmt::format("{}", attempts)});
  }
  series->Observe(Seconds(clock_.Steady() - attempt.first_attempt));
}

void SchedulerMetrics::OnFinished(const Attempt& attempt, AttemptResult result) {
  OfProfile& profile = Of(attempt.profile);
  profile.attempts[static_cast<size_t>(result)]->Increment();
  profile.durations[static_cast<size_t>(result)]->Observe(
      Seconds(clock_.Steady() - attempt.started));
}

void SchedulerMetrics::OnPreempted(size_t victims) {
  preemptions_.Increment();
  victims_.Observe(static_cast<double>(victims));
}

}  // namespace koord::scheduler
