#pragma once
#include <absl/container/flat_hash_map.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/metrics/metrics.h"
#include "scheduler/core/scheduler.h"
#include "scheduler/cycle/attempt_observer.h"
#include "scheduler/metrics/quota_metrics.h"
#include "scheduler/metrics/reservation_metrics.h"

namespace koord::scheduler {

// What koord-scheduler measures of itself, under the names, labels and buckets that dashboards for
// kube-scheduler and Koordinator know.
//
// What can be looked up is looked up when somebody asks; the rest is counted into series that were
// found once, so that an attempt costs some tens of nanoseconds here.
class SchedulerMetrics final : public AttemptObserver {
 public:
  SchedulerMetrics(metrics::Registry& registry, const Clock& clock);

  // Shows the queue, the ledger and the plugins of a scheduler, which outlives the registry's use.
  void Show(const Scheduler& scheduler);

  // For QueueOptions::on_incoming. Both texts live for ever.
  void OnIncoming(std::string_view pool, std::string_view event);

  void OnDecided(const Attempt& attempt, Pipeline& pipeline, const Decision& decision, WallTime now,
                 Duration took) override;
  void OnPoint(CyclePoint point, const Attempt& attempt, Code code, Duration took) override;
  void OnWaited(const Attempt& attempt, const Verdict& verdict, Duration how_long) override;
  void OnBound(const Attempt& attempt) override;
  void OnFinished(const Attempt& attempt, AttemptResult result) override;
  void OnPreempted(size_t victims) override;

 private:
  static constexpr size_t kCodes = static_cast<size_t>(Code::kPending) + 1;
  static constexpr int kMostAttempts = 16;  // told apart in labels; more are "15+"

  // The series of one profile.
  struct OfProfile {
    std::string name;
    std::array<metrics::Counter*, kAttemptResults> attempts{};
    std::array<metrics::Histogram*, kAttemptResults> durations{};
    std::array<std::array<metrics::Histogram*, kCodes>, kCyclePoints> points{};
    uint64_t decisions = 0;
    uint64_t scored = 0;  // of them with a choice
  };

  OfProfile& Of(const std::string& profile);
  void TimePlugins(const Attempt& attempt, Pipeline& pipeline);
  void LookUp(const Scheduler& scheduler);
  void CountEvaluations(const Scheduler& scheduler);

  metrics::Registry& registry_;
  const Clock& clock_;
  metrics::Counters& attempts_;
  metrics::Histograms& attempt_duration_;
  metrics::Histogram& algorithm_duration_;
  metrics::Histograms& sli_duration_;
  metrics::Histogram& pod_attempts_;
  metrics::Gauges& pending_;
  metrics::Counters& incoming_;
  metrics::Histograms& point_duration_;
  metrics::Histograms& plugin_duration_;
  metrics::Histogram& victims_;
  metrics::Counter& preemptions_;
  metrics::Gauges& unschedulable_;
  metrics::Gauges& cache_size_;
  metrics::Histograms& permit_wait_;
  metrics::Counters& evaluations_;
  metrics::Gauges& goroutines_;
  metrics::Histogram& evaluated_nodes_;
  metrics::Histogram& feasible_nodes_;
  ReservationMetrics reservations_;
  QuotaMetrics quotas_;

  std::vector<std::unique_ptr<OfProfile>> profiles_;
  OfProfile* last_ = nullptr;
  std::array<metrics::Histogram*, kMostAttempts + 1> sli_by_attempts_{};
  absl::flat_hash_map<std::pair<const char*, const char*>, metrics::Counter*> incoming_by_text_;
  uint64_t decisions_ = 0;
};

}  // namespace koord::scheduler
