#include "kube/objects/pod_resources.h"

#include <algorithm>

namespace koord::kube {
namespace {

constexpr int64_t kDefaultMilliCpu = 100;
constexpr int64_t kDefaultMemory = 200 * 1024 * 1024;

// Sums up what `amounts` says of each container.
template <class AmountsOf>
ResourceList Aggregate(const PodSpec& pod, AmountsOf amounts) {
  ResourceList running;
  ResourceList sidecars;
  ResourceList peak;
  for (const Container& container : pod.containers) AddTo(running, amounts(container));
  for (const Container& container : pod.init_containers) {
    ResourceList amount = amounts(container);
    if (IsSidecar(container)) {
      AddTo(running, amount);
      AddTo(sidecars, amount);
      RaiseTo(peak, sidecars);
    } else {
      AddTo(amount, sidecars);
      RaiseTo(peak, amount);
    }
  }
  RaiseTo(running, peak);
  return running;
}

bool CanBeStatedForThePod(std::string_view resource) {
  return resource == kCpu || resource == kMemory || resource.starts_with(kHugePagesPrefix);
}

void ReplaceByPodLevel(ResourceList& sum, const ResourceList& pod_level) {
  for (const auto& [name, amount] : pod_level) {
    if (CanBeStatedForThePod(name)) sum.insert_or_assign(name, amount);
  }
}

const ContainerStatus* FindStatus(const PodStatus& status, std::string_view container) {
  for (const auto* statuses : {&status.container_statuses, &status.init_container_statuses}) {
    const auto found = std::ranges::find(*statuses, container, &ContainerStatus::name);
    if (found != statuses->end()) return &*found;
  }
  return nullptr;
}

bool IsResizeInfeasible(const PodStatus& status) {
  const PodCondition* condition = FindCondition(status.conditions, "PodResizePending");
  return condition != nullptr && condition->reason == "Infeasible";
}

ResourceList RequestsOf(const Container& container, const PodStatus& status) {
  const ContainerStatus* found = FindStatus(status, container.name);
  if (found == nullptr || !found->resources) return container.resources.requests;
  ResourceList requests = found->resources->requests;
  RaiseTo(requests, found->allocated_resources);
  if (!IsResizeInfeasible(status)) RaiseTo(requests, container.resources.requests);
  return requests;
}

ResourceList RequestsWithDefaults(const Pod& pod, RequestsFrom from, const ResourceList& defaults) {
  ResourceList sum = Aggregate(pod.spec, [&](const Container& container) {
    ResourceList requests = from == RequestsFrom::kSpec ? container.resources.requests
                                                        : RequestsOf(container, pod.status);
    for (const auto& [name, amount] : defaults) requests.try_emplace(name, amount);
    return requests;
  });
  if (pod.spec.resources) ReplaceByPodLevel(sum, pod.spec.resources->requests);
  AddTo(sum, pod.spec.overhead);
  return sum;
}

bool HasPodLevelRequests(const PodSpec& pod) {
  return pod.resources && !pod.resources->requests.empty();
}

// The positive amounts of cpu and memory, the only ones that decide the class.
ResourceList Decisive(const ResourceList& list) {
  ResourceList decisive;
  for (const std::string_view name : {kCpu, kMemory}) {
    if (Quantity amount = AmountOf(list, name); amount.Sign() > 0) {
      decisive.emplace(name, std::move(amount));
    }
  }
  return decisive;
}

}  // namespace

ResourceList PodRequests(const Pod& pod, RequestsFrom from) {
  return RequestsWithDefaults(pod, from, {});
}

ResourceList NonZeroPodRequests(const Pod& pod, RequestsFrom from) {
  ResourceList defaults{{std::string(kCpu), Quantity::FromMilli(kDefaultMilliCpu)},
                        {std::string(kMemory), Quantity(kDefaultMemory)}};
  if (HasPodLevelRequests(pod.spec)) {
    const ResourceList stated = PodRequests(pod, from);
    std::erase_if(defaults, [&](const auto& entry) { return stated.contains(entry.first); });
  }
  return RequestsWithDefaults(pod, from, defaults);
}

ResourceList PodLimits(const Pod& pod) {
  ResourceList sum =
      Aggregate(pod.spec, [](const Container& container) { return container.resources.limits; });
  if (pod.spec.resources) ReplaceByPodLevel(sum, pod.spec.resources->limits);
  for (const auto& [name, amount] : pod.spec.overhead) {
    const auto limit = sum.find(name);
    if (limit != sum.end() && !limit->second.IsZero()) limit->second += amount;
  }
  return sum;
}

std::string_view ToString(PodQos qos) {
  switch (qos) {
    case PodQos::kBestEffort:
      return "BestEffort";
    case PodQos::kBurstable:
      return "Burstable";
    case PodQos::kGuaranteed:
      return "Guaranteed";
  }
  return "BestEffort";
}

PodQos PodQosOf(const Pod& pod) {
  for (const PodQos qos : {PodQos::kGuaranteed, PodQos::kBurstable, PodQos::kBestEffort}) {
    if (pod.status.qos_class == ToString(qos)) return qos;
  }
  return ComputePodQos(pod.spec);
}

PodQos ComputePodQos(const PodSpec& pod) {
  ResourceList requests;
  ResourceList limits;
  bool fully_limited = true;
  const auto consider = [&](const ResourceRequirements& resources) {
    const ResourceList limited = Decisive(resources.limits);
    fully_limited = fully_limited && limited.size() == 2;
    AddTo(requests, Decisive(resources.requests));
    AddTo(limits, limited);
  };
  if (pod.resources) {
    consider(*pod.resources);
  } else {
    for (const Container& container : pod.containers) consider(container.resources);
    for (const Container& container : pod.init_containers) consider(container.resources);
  }
  if (requests.empty() && limits.empty()) return PodQos::kBestEffort;
  return fully_limited && requests == limits ? PodQos::kGuaranteed : PodQos::kBurstable;
}

}  // namespace koord::kube
