#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/event_loop.h"
#include "base/feature_gates.h"
#include "base/known_problems.h"
#include "base/metrics/metrics.h"
#include "koordlet/executor/resource_executor.h"
#include "koordlet/host/host.h"
#include "koordlet/host/kept_file.h"
#include "koordlet/informers/node_state.h"
#include "koordlet/metrics/metric_store.h"
#include "koordlet/metrics/node_info.h"

namespace koord::koordlet {

class GpuDevices;

// What all of a kind use together, for those who calculate what is left.
struct UsageSum {
  SteadyTime at{};  // when it was measured
  bool is_known = false;
  double cores = 0;
  double bytes = 0;
  std::vector<double> numa_cores;  // by NUMA node; empty: not known
  std::vector<double> numa_bytes;
};
struct SharedUsage {
  UsageSum node;
  UsageSum pods;
  UsageSum host_applications;
};

struct CollectorOptions {
  std::string node_name;  // for metrics
  Duration usage_interval = std::chrono::seconds(1);
  Duration system_outdated = std::chrono::seconds(10);
  Duration cpu_info_interval = std::chrono::seconds(60);
  Duration storage_interval = std::chrono::seconds(1);
  Duration cpi_interval = std::chrono::seconds(60);
  Duration cpi_window = std::chrono::seconds(10);
  Duration psi_interval = std::chrono::seconds(10);
  Duration cold_page_interval = std::chrono::seconds(5);
  Duration resctrl_interval = std::chrono::seconds(10);
  bool page_cache = false;
  bool resctrl = false;
};

// What a collector works with. All of it outlives the collector.
struct CollectorContext {
  Host& host;
  ResourceExecutor& executor;  // some things must be switched on in the kernel first
  const NodeState& state;
  MetricStore& store;
  NodeInfoCache& info;
  EventLoop& loop;
  const FeatureGates& gates;
  metrics::Registry& internal;
  metrics::Registry& external;
  GpuDevices* gpus;  // null: this machine has none
  const CollectorOptions& options;
  SharedUsage& usage;
};

// Measures one thing again and again. What cannot be read gives no sample this time; garbage is
// logged once for each object, and everything else goes on.
class Collector {
 public:
  explicit Collector(CollectorContext context) : context_(context) {}
  virtual ~Collector() = default;
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  virtual std::string_view name() const = 0;
  // By flags and gates; what the machine lacks is found out while collecting.
  virtual bool enabled() const { return true; }
  virtual Duration interval() const { return context_.options.usage_interval; }
  virtual void Collect() = 0;
  // There is a first result, or there will be none.
  virtual bool has_synced() const = 0;

 protected:
  SteadyTime Now() const { return context_.loop.clock().Steady(); }
  // Counters that were read longer ago say nothing about now.
  Duration MaxAge() const { return 20 * interval(); }
  void Complain(std::string_view object, const Status& status);

  const CollectorContext context_;

 private:
  KnownProblems known_problems_;
};

// The rate of a counter between two reads.
class RateCounter {
 public:
  // Per nanosecond since the read before; none: there was none, it was too long ago, or the counter
  // has started again.
  std::optional<double> Update(int64_t value, SteadyTime now, Duration max_age) {
    const bool usable = is_known_ && now > at_ && now - at_ <= max_age && value >= value_;
    const double rate =
        usable ? static_cast<double>(value - value_) / static_cast<double>((now - at_).count()) : 0;
    value_ = value;
    at_ = now;
    is_known_ = true;
    return usable ? std::optional(rate) : std::nullopt;
  }

 private:
  int64_t value_ = 0;
  SteadyTime at_{};
  bool is_known_ = false;
};

}  // namespace koord::koordlet
