#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/event_loop.h"
#include "base/metrics/metrics.h"
#include "base/string_map.h"
#include "koordlet/informers/node_state.h"
#include "koordlet/metrics/metric_store.h"
#include "koordlet/prediction/checkpoint_files.h"
#include "koordlet/prediction/prod_prediction.h"
#include "koordlet/prediction/usage_model.h"

namespace koord::koordlet {

// Learns what pods, classes of pods and the system use, and says how much of the requests of
// production pods even their peaks will leave free: what mid-priority pods may have.
//
// Every minute the P90 of the last minute's usage goes into a histogram of each pod, each priority
// class and the system, in which older samples count less and less. Models are written to files a
// few at a time, and found again after a restart.
class Predictor {
 public:
  struct Options {
    std::string checkpoint_directory;  // empty: models do not survive
    Duration cold_start = std::chrono::hours(24);
    int64_t safety_margin_percent = 10;
    Duration cpu_half_life = std::chrono::hours(12);
    Duration memory_half_life = std::chrono::hours(24);
    Duration training_interval = std::chrono::minutes(1);
    Duration model_expiration = std::chrono::minutes(30);
    Duration checkpoint_interval = std::chrono::minutes(10);
    int max_checkpoints_per_step = 12;
    std::string node_name;  // for metrics
  };

  Predictor(EventLoop& loop, const NodeState& state, const MetricStore& metrics,
            metrics::Registry& internal, metrics::Registry& external, Options options);

  // Restores models once the node's pods are known, and trains from then on.
  void Start();
  // Writes every model that has learned since its last checkpoint, before the process ends.
  void SaveAll();

  // With the pods that have been measured (see NodeMetric's podsMetric); others are left aside.
  // Also shown in metrics. What cannot be said is none: `reclaimable` is reported as an empty list
  // then, `peak` not at all.
  ProdPrediction Predict(std::span<const NodePod* const> pods);

  size_t model_count() const { return items_.size(); }
  size_t bytes() const;

 private:
  struct Item {
    UsageModel model;
    SteadyTime updated{};
    SteadyTime checkpointed{};
    bool is_saved = false;  // what it knows is in its file
  };
  struct Usage {
    double cores = 0;
    double bytes = 0;
  };

  void Step();
  void Restore();
  void Train();
  void TrainItem(const std::string& key, const Usage& usage);
  std::optional<Usage> Measure(Metric cpu, Metric memory, std::string_view subject) const;
  void DropExpired();
  void WriteCheckpoints(size_t limit, Duration min_age);
  void WriteCheckpoint(const std::string& key, Item& item);

  // Wall time that does not jump while the process lives.
  WallTime Now() const { return start_wall_ + (loop_.clock().Steady() - start_steady_); }
  std::optional<CpuAndMemory> PeakOf(std::string_view key) const;
  std::optional<PriorityPeaks> PrioritiesOf() const;
  std::optional<CpuAndMemory> Allocatable() const;
  PredictedPod Describe(const NodePod& pod) const;
  void Show(const ProdPrediction& prediction);
  void ShowAmounts(metrics::Gauges& gauges, std::string_view label,
                   const std::optional<CpuAndMemory>& amounts);

  EventLoop& loop_;
  const NodeState& state_;
  const MetricStore& metrics_;
  const Options options_;
  const UsageShapes shapes_;
  const WallTime start_wall_;
  const SteadyTime start_steady_;
  CheckpointFiles files_;
  StringMap<Item> items_;
  bool restored_ = false;
  bool complained_ = false;  // of files that cannot be written

  metrics::Gauges& predicted_reclaimable_;
  metrics::Gauges& predicted_peak_;
  metrics::Gauges& priority_reclaimable_;
  metrics::Gauges& reclaimable_status_;
  Timer timer_;
};

}  // namespace koord::koordlet
