#include "scheduler/gangs/gang_metrics.h"

#include <fmt/format.h>

#include <chrono>

namespace koord::scheduler {

GangMetrics::GangMetrics(metrics::Registry* registry) {
  if (registry == nullptr) return;
  waiting_groups_ = &registry->AddGauge("scheduler_waiting_gang_group_number",
                                        "Groups of gangs with pods that wait for the others.");
  rounds_ = &registry->AddHistograms(
      "scheduler_gang_schedule_cycle_duration_seconds",
      "How long the pods of a group were tried back to back, by why that ended.",
      {"reason", "job_size"}, {0.1, 0.5, 1, 2, 3, 5, 7.5, 10, 12.5, 15, 20, 25, 30, 45, 60, 120});
}

void GangMetrics::SetWaitingGroups(size_t groups) {
  if (waiting_groups_ != nullptr) waiting_groups_->Set(static_cast<double>(groups));
}

void GangMetrics::ObserveRound(std::string_view reason, size_t tried, Duration took) {
  if (rounds_ == nullptr) return;
  const std::string size = JobSizeOf(tried);
  rounds_->With({reason, size}).Observe(std::chrono::duration<double>(took).count());
}

std::string JobSizeOf(size_t pods) {
  if (pods == 0) return "0";
  if (pods > 1000) return "1000+";
  const size_t hundreds = (pods - 1) / 100;
  return fmt::format("{}-{}", hundreds * 100 + 1, (hundreds + 1) * 100);
}

}  // namespace koord::scheduler
