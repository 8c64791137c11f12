#include "scheduler/plugins/load_aware_scheduling/load_estimator.h"

#include <cmath>
#include <optional>

#include "api/extended_resources.h"
#include "api/pod_annotations.h"

namespace koord::scheduler {
namespace {

// What a pod that asks for none of it is taken to use.
constexpr int64_t kDefaultMilliCpu = 250;
constexpr int64_t kDefaultMemory = 200 << 20;

int64_t PercentOf(int64_t amount, int64_t percent) {
  const double scaled =
      std::round(static_cast<double>(amount) * static_cast<double>(percent) / 100);
  if (!(scaled < static_cast<double>(kMostLoad))) return kMostLoad;
  return BoundedLoad(static_cast<int64_t>(scaled));
}

int64_t SecondsFrom(const std::optional<int64_t>& annotation, int64_t otherwise) {
  return annotation && *annotation >= 0 ? *annotation : otherwise;
}

}  // namespace

LoadEstimator::LoadEstimator(const LoadAwareSchedulingArgs& args, const LoadResources& tracked,
                             ResourceNames& names)
    : tracked_(tracked),
      customizable_(args.allow_customize_estimation),
      seconds_after_pod_scheduled_(args.estimated_seconds_after_pod_scheduled.value_or(0)),
      seconds_after_initialized_(args.estimated_seconds_after_initialized.value_or(0)) {
  for (size_t i = 0; i < tracked.size(); ++i) {
    const std::string& name = tracked.name(i);
    const bool is_cpu = name == kube::kCpu;
    Resource resource{.is_cpu = is_cpu,
                      .is_memory = name == kube::kMemory,
                      .own = names.Intern(name),
                      .batch = names.Intern(is_cpu ? api::kBatchCpu : api::kBatchMemory),
                      .mid = names.Intern(is_cpu ? api::kMidCpu : api::kMidMemory)};
    if (const auto factor = args.estimated_scaling_factors.find(name);
        factor != args.estimated_scaling_factors.end()) {
      resource.factor = factor->second;
    }
    resources_.push_back(resource);
  }
}

LoadAmounts LoadEstimator::Estimate(const PodShape& shape) const {
  LoadAmounts estimate = tracked_.Zero();
  for (size_t i = 0; i < resources_.size(); ++i) {
    estimate[i] = EstimateOne(resources_[i], resources_[i].factor, shape);
  }
  if (!customizable_) return estimate;
  const kube::Annotations& annotations = shape.sample->metadata.annotations;
  for (const auto& [name, factor] : api::LoadEstimationOf(annotations).scaling_factors) {
    for (size_t i = 0; i < resources_.size(); ++i) {
      if (tracked_.name(i) == name) estimate[i] = EstimateOne(resources_[i], factor, shape);
    }
  }
  return estimate;
}

int64_t LoadEstimator::EstimateOne(const Resource& resource, int64_t factor,
                                   const PodShape& shape) const {
  using Band = api::PriorityBand;
  if (factor == 0) return 0;
  ResourceId id = resource.own;
  if (shape.band != Band::kNone && shape.band != Band::kProd) {
    // Other bands have cpu and memory of their own, if anything.
    if (shape.band == Band::kFree || !(resource.is_cpu || resource.is_memory)) return 0;
    id = shape.band == Band::kBatch ? resource.batch : resource.mid;
  }
  const int64_t limit = AmountOf(shape.limits, id);
  const int64_t amount = std::max(AmountOf(shape.requests, id), limit);
  if (amount <= 0) {
    if (shape.band == Band::kMid) return 0;
    return resource.is_cpu ? kDefaultMilliCpu : resource.is_memory ? kDefaultMemory : 0;
  }
  const int64_t scaled = PercentOf(amount, factor);
  return limit > 0 ? std::min(scaled, BoundedLoad(limit)) : scaled;
}

WallTime LoadEstimator::Deadline(const kube::Pod& pod, WallTime scheduled) const {
  int64_t after_scheduled = seconds_after_pod_scheduled_;
  int64_t after_initialized = seconds_after_initialized_;
  if (customizable_) {
    const api::LoadEstimation said = api::LoadEstimationOf(pod.metadata.annotations);
    after_scheduled = SecondsFrom(said.seconds_after_pod_scheduled, after_scheduled);
    after_initialized = SecondsFrom(said.seconds_after_initialized, after_initialized);
  }
  if (after_initialized > 0) {
    const kube::PodCondition* initialized = FindCondition(pod.status.conditions, "Initialized");
    if (initialized != nullptr && initialized->status == "True") {
      return LaterBy(initialized->last_transition_time.value_or(WallTime{}),
                     SecondsOf(after_initialized));
    }
  }
  if (after_scheduled > 0) return LaterBy(scheduled, SecondsOf(after_scheduled));
  return WallTime::min();
}

}  // namespace koord::scheduler
