#include "localcluster/nodes/pod_load.h"

#include <algorithm>

#include "api/extended_resources.h"
#include "kube/objects/pod_resources.h"

namespace koord::localcluster {
namespace {

constexpr double kCpuOfModestPods = 0.1;
constexpr double kMemoryOfModestPods = 128.0 * (1 << 20);

struct Name {
  std::string_view resource;
  double unit;
};

// The first of these that a pod names is what it lives on.
constexpr Name kCpuNames[] = {{kube::kCpu, 1}, {api::kBatchCpu, 0.001}, {api::kMidCpu, 0.001}};
constexpr Name kMemoryNames[] = {{kube::kMemory, 1}, {api::kBatchMemory, 1}, {api::kMidMemory, 1}};

std::optional<double> FirstOf(const kube::ResourceList& list, std::span<const Name> names) {
  for (const Name& name : names) {
    const auto found = list.find(name.resource);
    if (found != list.end() && found->second.Sign() > 0) {
      return found->second.ToDouble() * name.unit;
    }
  }
  return std::nullopt;
}

}  // namespace

PodLoad::PodLoad(const kube::Pod& pod, const LoadModels& models, uint64_t seed)
    : model_(models.Find(kube::ValueOf(pod.metadata.annotations, kLoadAnnotation))
                 .value_or(models.default_model())),
      seed_(SeedOf(pod.metadata.uid, seed)),
      start_(pod.status.start_time.value_or(WallTime::max())) {
  const kube::ResourceList requests = kube::PodRequests(pod);
  requested_.cpu = FirstOf(requests, kCpuNames).value_or(kCpuOfModestPods);
  requested_.memory = FirstOf(requests, kMemoryNames).value_or(kMemoryOfModestPods);
  memory_limit_ = FirstOf(kube::PodLimits(pod), kMemoryNames);
}

Usage PodLoad::At(WallTime time) const {
  if (time < start_) return {};
  const Load load = model_->At(seed_, time);
  Usage usage{requested_.cpu * load.cpu, requested_.memory * load.memory};
  if (memory_limit_) usage.memory = std::min(usage.memory, *memory_limit_);
  return usage;
}

uint64_t SeedOf(std::string_view text, uint64_t seed) {
  uint64_t hash = 14695981039346656037u ^ seed;
  for (unsigned char c : text) hash = (hash ^ c) * 1099511628211u;
  return hash;
}

}  // namespace koord::localcluster
