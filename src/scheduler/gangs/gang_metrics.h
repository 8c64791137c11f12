#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/metrics/metrics.h"

namespace koord::scheduler {

// What is counted of gangs, under the names that dashboards for Koordinator know.
class GangMetrics {
 public:
  explicit GangMetrics(metrics::Registry* registry);  // null: nothing is

  // Groups with members that have a node and are not bound.
  void SetWaitingGroups(size_t groups);
  // Of a round: why it ended, and how many pods were tried.
  void ObserveRound(std::string_view reason, size_t tried, Duration took);

 private:
  metrics::Gauge* waiting_groups_ = nullptr;
  metrics::Histograms* rounds_ = nullptr;
};

// In steps of a hundred: "1-100", "101-200", ..., "1000+".
std::string JobSizeOf(size_t pods);

}  // namespace koord::scheduler
