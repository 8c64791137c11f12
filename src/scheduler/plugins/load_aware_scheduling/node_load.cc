#include "scheduler/plugins/load_aware_scheduling/node_load.h"

#include <algorithm>

#include "api/priority.h"
#include "base/string_map.h"

namespace koord::scheduler {
namespace {

constexpr Duration kDefaultReportInterval = 60s;

Duration ReportInterval(const api::NodeMetric& metric) {
  const auto& policy = metric.spec.metric_collect_policy;
  if (!policy || !policy->report_interval_seconds) return kDefaultReportInterval;
  return SecondsOf(*policy->report_interval_seconds);
}

const kube::ResourceList* PercentileOf(const api::NodeUsage& usage, const UsageKind& kind) {
  const kube::ResourceList* longest = nullptr;
  Duration duration = Duration::min();
  for (const api::AggregatedUsage& each : usage.aggregated_node_usages) {
    const auto found = each.usage.find(kind.type);
    if (found == each.usage.end() || found->second.resources.empty()) continue;
    if (each.duration == kind.duration && kind.duration > 0s) return &found->second.resources;
    if (each.duration > duration) {
      duration = each.duration;
      longest = &found->second.resources;
    }
  }
  return kind.duration > 0s ? nullptr : longest;
}

bool IsOf(const api::PodUsage& usage, const PodInfo& info) {
  const kube::ObjectMeta& meta = info.pod->metadata;
  return usage.name == meta.name && usage.ns == meta.ns;
}

}  // namespace

std::optional<LoadAmounts> UsageOf(const api::NodeUsage& usage, const UsageKind& kind,
                                   const LoadResources& tracked) {
  if (!kind.type.empty()) {
    if (const auto* percentile = PercentileOf(usage, kind)) return tracked.AmountsIn(*percentile);
    if (kind.duration > 0s) return {};
  }
  return tracked.AmountsIn(usage.node_usage.resources);
}

NodeLoad::NodeLoad(const LoadResources& tracked) : tracked_(&tracked) { ResetSums(false); }

uint32_t NodeLoad::HashOf(std::string_view ns, std::string_view name) {
  const StringHash hash;
  return static_cast<uint32_t>(hash(name) * 31 + hash(ns));
}

const api::NodeUsage* NodeLoad::usage() const {
  return metric_ && metric_->status.node_metric ? &*metric_->status.node_metric : nullptr;
}

void NodeLoad::AddPod(Pod pod) {
  FindReport(pod);
  Count(pod, 1);
  pods_.push_back(std::move(pod));
}

void NodeLoad::SetTimes(size_t place, WallTime timestamp, WallTime deadline) {
  Pod& pod = pods_[place];
  Count(pod, -1);
  pod.timestamp = timestamp;
  pod.deadline = deadline;
  Count(pod, 1);
}

void NodeLoad::RemovePod(size_t place) {
  Count(pods_[place], -1);
  if (place + 1 != pods_.size()) pods_[place] = std::move(pods_.back());
  pods_.pop_back();
}

void NodeLoad::SetMetric(std::shared_ptr<const api::NodeMetric> metric, bool prod_includes_system) {
  metric_ = std::move(metric);
  if (metric_) {
    update_time_ = metric_->status.update_time.value_or(update_time_);
    visible_before_ = LaterBy(update_time_, -ReportInterval(*metric_));
  }
  ResetSums(prod_includes_system);
  for (Pod& pod : pods_) pod.is_reported = false;
  report_hashes_.clear();
  if (metric_) {
    for (const api::PodUsage& usage : metric_->status.pods_metric) {
      const uint32_t hash = HashOf(usage.ns, usage.name);
      report_hashes_.push_back(hash);
      for (Pod& pod : pods_) {
        if (pod.key_hash == hash && IsOf(usage, *pod.info)) TakeReport(pod, usage);
      }
    }
  }
  for (const Pod& pod : pods_) Count(pod, 1);
}

void NodeLoad::ResetSums(bool prod_includes_system) {
  sums_ = {tracked_->Zero(), tracked_->Zero(), tracked_->Zero(), tracked_->Zero()};
  if (prod_includes_system && usage() != nullptr) {
    tracked_->Read(usage()->system_usage.resources, sums_.prod_usage);
  }
}

void NodeLoad::FindReport(Pod& pod) const {
  for (size_t i = 0; i < report_hashes_.size(); ++i) {
    if (report_hashes_[i] != pod.key_hash) continue;
    const api::PodUsage& usage = metric_->status.pods_metric[i];
    if (IsOf(usage, *pod.info)) TakeReport(pod, usage);
  }
}

void NodeLoad::TakeReport(Pod& pod, const api::PodUsage& usage) const {
  pod.is_reported = !usage.pod_usage.resources.empty();
  if (!pod.is_reported) return;
  pod.reported_as_prod = usage.priority == api::ToString(api::PriorityBand::kProd);
  pod.reported.resize(tracked_->size());
  tracked_->Read(usage.pod_usage.resources, pod.reported);
}

bool NodeLoad::NeedsEstimation(const Pod& pod) const {
  return !pod.is_reported || pod.timestamp > visible_before_ || pod.deadline > update_time_;
}

bool NodeLoad::IsInNodeDelta(const Pod& pod) const {
  return pod.counts && pod.estimated && NeedsEstimation(pod);
}

bool NodeLoad::IsInProdDelta(const Pod& pod) const {
  const bool hidden = pod.is_reported && !pod.reported_as_prod;
  return pod.counts && pod.estimated && pod.prod && (hidden || NeedsEstimation(pod));
}

void NodeLoad::Count(const Pod& pod, int sign) {
  if (!pod.counts) return;
  const bool in_prod_usage = pod.prod && pod.is_reported && pod.reported_as_prod;
  const bool in_node_delta = IsInNodeDelta(pod);
  const bool in_prod_delta = IsInProdDelta(pod);
  for (size_t i = 0; i < tracked_->size(); ++i) {
    const int64_t reported = pod.is_reported ? pod.reported[i] : 0;
    const int64_t unseen = std::max<int64_t>(0, pod.estimate[i] - reported);
    sums_.node_estimated[i] += sign * pod.estimate[i];
    if (in_node_delta) sums_.node_delta[i] += sign * unseen;
    if (in_prod_usage) sums_.prod_usage[i] += sign * reported;
    // Usage that is not reported as prod says nothing about prod's share.
    if (in_prod_delta) {
      sums_.prod_delta[i] +=
          sign * (pod.reported_as_prod || !pod.is_reported ? unseen : pod.estimate[i]);
    }
  }
}

}  // namespace koord::scheduler
