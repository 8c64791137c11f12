#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "koordlet/informers/node_pod.h"
#include "koordlet/qos/eviction/eviction.h"

// Who may be evicted, and in which order.
namespace koord::koordlet {

// The resource that pods of a band ask for instead of the given native one, as koordlet counts
// them: mid and batch have their own, all others the native.
std::string_view ResourceOfBand(api::PriorityBand band, std::string_view native);

// How much of it the pod asks for: milli-cores or bytes.
int64_t RequestOf(const NodePod& pod, std::string_view resource);

// A pod that may go by its owner's and the administrator's leave, with what puts it in order.
struct Candidate {
  const NodePod* pod = nullptr;
  int32_t eviction_priority = 0;
  int32_t priority = 0;
  int64_t sub_priority = 0;  // the priority where nobody has said so
  int64_t used = 0;          // milli-cores or bytes
  int64_t requested = 0;
};

enum class LargestFirst : uint8_t { kUsed, kRequested };

// Active pods up to a priority that say that they may be evicted, also by this feature, and whose
// use of `metric` (kPodCpu, kPodMemory) is known. Least important first.
std::vector<Candidate> EvictionCandidates(const QosContext& context, std::string_view feature,
                                          int32_t max_priority, Metric metric, LargestFirst by);

// Thresholds of the pods' requests against what the node has for their band, in percent.
struct AllocatableLimits {
  int64_t threshold = 0;
  int64_t lower = 0;
};
// All or nothing of the three, in a range that makes sense; none: switched off.
std::optional<AllocatableLimits> CheckAllocatableLimits(std::optional<int64_t> threshold,
                                                        std::optional<int64_t> lower,
                                                        std::optional<int32_t> max_priority);

// What pods ask for beyond the limit, by resource. An amount that the node does not have at all is
// to be freed as a whole.
Amounts AllocatableRelease(const Amounts& requests, const Amounts& allocatable,
                           const AllocatableLimits& limits);

// The whole of a task that frees resources that were promised twice: `native` is cpu or memory.
// None: nothing to free.
std::optional<EvictionTask> AllocatableTask(const QosContext& context, std::string_view feature,
                                            std::string_view native,
                                            const AllocatableLimits& limits, int32_t max_priority);

// The whole of a task that frees `release` of what is in use.
EvictionTask UsedTask(const QosContext& context, std::string_view feature, std::string_view native,
                      int64_t release, int32_t max_priority);

// Usage thresholds in percent of the node; none: switched off or nonsense.
struct UsageLimits {
  int64_t threshold = 0;
  int64_t lower = 0;
};
std::optional<UsageLimits> CheckUsageLimits(std::optional<int64_t> threshold,
                                            std::optional<int64_t> lower);
// How much is to be freed of `capacity` while `used` of it is in use; none: it is not too much.
std::optional<int64_t> UsageRelease(int64_t used, int64_t capacity, const UsageLimits& limits);

}  // namespace koord::koordlet
