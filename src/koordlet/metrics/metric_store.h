#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/status.h"

namespace koord::koordlet {

// What is measured over time. CPU in cores, memory in bytes, ratios from 0 to 1.
enum class Metric : uint8_t {
  kNodeCpu,
  kNodeMemory,  // without page cache
  kNodeMemoryWithPageCache,
  kNodeMemoryWithHotPages,
  kNodeColdMemory,
  kNodeNumaCpu,     // detail: the NUMA node's number
  kNodeNumaMemory,  // detail: the NUMA node's number
  kSystemCpu,
  kSystemMemory,
  kSystemNumaCpu,
  kSystemNumaMemory,
  kBeCpuUsage,  // milli-cores, as all of BE
  kBeCpuRequest,
  kBeCpuLimit,
  kPodCpu,  // subject: the pod's uid
  kPodMemory,
  kPodMemoryWithPageCache,
  kPodMemoryWithHotPages,
  kPodColdMemory,
  kPodPressure,   // detail: "cpu/some", ...
  kContainerCpu,  // subject: the container's id without its runtime
  kContainerMemoryWithHotPages,
  kContainerColdMemory,
  kContainerThrottled,
  kContainerPressure,
  kContainerCycles,
  kContainerInstructions,
  kHostAppCpu,  // subject: the application's name
  kHostAppMemory,
  kHostAppMemoryWithPageCache,
  kNodeGpuCore,  // subject: the GPU's uuid
  kNodeGpuMemory,
  kPodGpuCore,  // subject: the pod's uid, detail: the GPU's uuid
  kPodGpuMemory,
  kContainerGpuCore,  // subject: the container's id, detail: the GPU's uuid
  kContainerGpuMemory,
  kResctrlLlc,        // subject: LSR, LS, BE; detail: the cache's id
  kResctrlBandwidth,  // detail: "<cache id>/local", "<cache id>/total"
};
inline constexpr int kMetricCount = static_cast<int>(Metric::kResctrlBandwidth) + 1;

struct MetricKey {
  Metric metric;
  std::string_view subject = {};
  std::string_view detail = {};
};

// Points of one series in a stretch of time.
struct MetricSummary {
  size_t count = 0;
  SteadyTime oldest{};
  SteadyTime newest{};
  double average = 0;
  double last = 0;
  double p50 = 0;
  double p90 = 0;
  double p95 = 0;
  double p99 = 0;
};

// Percentiles are those of the sorted values: the one at int(n * p) - 1, at least the first.
inline size_t PercentileIndex(size_t count, float p) {
  const auto rank = static_cast<size_t>(static_cast<float>(count) * p);
  return rank == 0 ? 0 : rank - 1;
}

struct MetricStoreState;
class SampleSeries;

// Where the values of one key go, for those who append to it each second.
class MetricSlot {
 private:
  friend class MetricStore;
  SampleSeries* series_ = nullptr;
  uint64_t drops_ = 0;  // of the store when it was found: no series has gone since
};

// What the collectors have seen, for as long as anybody asks for it, in little and bounded memory.
// Time is steady: a clock that jumps neither hides nor invents samples.
class MetricStore {
 public:
  struct Options {
    Duration retention = std::chrono::hours(12);
    Duration expire = std::chrono::minutes(30);  // series without a new value
    size_t max_bytes = 100 << 20;
    // For how long every single value is kept; percentiles of longer windows are estimates from
    // the averages of about a minute, averages stay right.
    Duration node_resolution = std::chrono::hours(1);    // the node, its parts and its applications
    Duration pod_resolution = std::chrono::minutes(10);  // pods and containers
  };

  MetricStore(const Clock& clock, Options options);
  ~MetricStore();

  // A value of now. What is no number is ignored, and so are names beyond reason.
  void Append(const MetricKey& key, double value);
  // The slot is empty or was used for the same key of this store.
  void Append(const MetricKey& key, double value, MetricSlot& slot);

  // Over the last `window` up to now, both ends included. None: no points.
  std::optional<MetricSummary> Summarize(const MetricKey& key, Duration window) const;
  // Without percentiles, which cost more than all the rest.
  std::optional<MetricSummary> Average(const MetricKey& key, Duration window) const;
  // The newest point not older than `window`.
  std::optional<double> Last(const MetricKey& key, Duration window) const;

  // Forgets what is old, and series that have ended. To be called every few minutes.
  void CollectGarbage();

  size_t bytes() const;
  size_t series() const;

  // To find the data again after a restart: one file in the directory. Load adds to an empty store;
  // a broken or outdated file is left aside with an error that says why, and nothing is loaded.
  Status Save(const std::string& directory) const;
  Status Load(const std::string& directory);

 private:
  std::unique_ptr<MetricStoreState> state_;
};

}  // namespace koord::koordlet
