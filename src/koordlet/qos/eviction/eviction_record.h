#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "base/event_loop.h"
#include "base/metrics/metrics.h"
#include "koordlet/audit/auditor.h"
#include "koordlet/informers/node_pod.h"

namespace koord::koordlet {

// Tells who was evicted: in metrics, of single pods for five minutes, and to the auditor.
class EvictionRecord {
 public:
  EvictionRecord(EventLoop& loop, metrics::Registry& registry, Auditor* auditor,
                 std::string node_name);

  void Add(const kube::Pod& pod, std::string_view reason, std::string_view message);
  int64_t total() const { return total_; }

 private:
  struct Shown {
    std::string ns;
    std::string name;
    std::string reason;
    SteadyTime until{};
  };

  void RemoveOld();

  EventLoop& loop_;
  Auditor* const auditor_;
  const std::string node_name_;
  metrics::Counters& evictions_;
  metrics::Counters& details_;
  int64_t total_ = 0;
  std::deque<Shown> shown_;  // by time
  Timer timer_;
};

}  // namespace koord::koordlet
