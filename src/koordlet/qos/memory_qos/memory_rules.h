#pragma once
#include <cstdint>
#include <optional>

#include "api/koordlet_annotations.h"
#include "api/qos.h"
#include "api/qos_strategy.h"

// How much of its memory a pod or container is sure of, and when it is slowed down. Numbers in,
// numbers out.
namespace koord::koordlet {

// What the node asks for pods of a class, with what the pod says for itself on top. `of_class` is
// null where the node says nothing.
api::MemoryQos MergeMemoryQos(const api::MemoryQos* of_class, api::QosClass qos,
                              const api::PodMemoryQos* own);

// A part of what is requested; percentages beyond 0..100 are taken for the nearest.
std::optional<int64_t> Protected(int64_t request, std::optional<int64_t> percent);
// What is protected softly is no less than what is protected hard, unless it is nothing at all.
int64_t RaisedTo(int64_t amount, int64_t at_least);

inline constexpr int64_t kNoMemoryHigh = INT64_MAX;

// Where a container is slowed down: between its request and its limit, or the node's memory where
// it has no limit.
int64_t MemoryHigh(int64_t request, int64_t limit, int64_t node_allocatable,
                   int64_t throttling_percent, int64_t page_size);

// Of a pod. Unset parts are left as they are.
struct PageCacheLimit {
  std::optional<int64_t> enable;
  std::optional<int64_t> size;
  std::optional<int64_t> sync;
  bool operator==(const PageCacheLimit&) const = default;
};
// `limit` is the pod's memory limit; none: it has no limit.
PageCacheLimit PageCacheLimitOf(const api::MemoryQos& config, std::optional<int64_t> limit);

}  // namespace koord::koordlet
