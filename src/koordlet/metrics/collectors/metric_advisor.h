#pragma once
#include <memory>
#include <string>
#include <vector>

#include "koordlet/metrics/collectors/collector.h"

namespace koord::koordlet {

// Runs the collectors, each at its own interval, and keeps their results tidy and safe on disk.
class MetricAdvisor {
 public:
  struct Options {
    CollectorOptions collectors;
    Duration gc_interval = std::chrono::minutes(5);
    std::string store_directory;  // empty: what was measured does not survive a restart
    Duration save_interval = std::chrono::minutes(10);
  };
  // What it works with; all of it outlives the advisor.
  struct Context {
    EventLoop& loop;
    Host& host;
    ResourceExecutor& executor;
    const NodeState& state;
    MetricStore& store;
    NodeInfoCache& info;
    const FeatureGates& gates;
    metrics::Registry& internal;
    metrics::Registry& external;
    GpuDevices* gpus = nullptr;
  };

  MetricAdvisor(const Context& context, Options options);
  ~MetricAdvisor();

  // Loads what was saved and collects from now on; the first round is in this call.
  void Start();
  // Saves what was measured since Start; nothing where that has not been called.
  void Stop();

  // Every collector that is on has had a result, or knows that there will be none.
  bool has_synced() const;
  // One round of all collectors, whatever their intervals: for tools that run once.
  void CollectOnce();

 private:
  struct Group {  // collectors of one interval, in order
    Duration interval;
    std::vector<Collector*> collectors;
    std::unique_ptr<Timer> timer;
  };

  void Schedule(Group& group);
  void ScheduleUpkeep();
  void Save();

  const Context context_;
  const Options options_;
  SharedUsage usage_;
  std::vector<std::unique_ptr<Collector>> collectors_;  // those that are on
  std::vector<Group> groups_;
  bool is_enabled_ = false;
  bool is_running_ = false;
  Timer gc_timer_;
  Timer save_timer_;
};

}  // namespace koord::koordlet
