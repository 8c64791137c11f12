#include "koordlet/qos/memory_qos/memory_rules.h"

#include <algorithm>

#include "api/default_strategies.h"
#include "koordlet/qos/framework/amounts.h"

namespace koord::koordlet {
namespace {

// Fields that are set in `over` win.
api::MemoryQos Overlay(api::MemoryQos base, const api::MemoryQos& over) {
  const auto put = [](auto& to, const auto& from) {
    if (from) to = from;
  };
  put(base.min_limit_percent, over.min_limit_percent);
  put(base.low_limit_percent, over.low_limit_percent);
  put(base.throttling_percent, over.throttling_percent);
  put(base.wmark_ratio, over.wmark_ratio);
  put(base.wmark_scale_permill, over.wmark_scale_permill);
  put(base.wmark_min_adj, over.wmark_min_adj);
  put(base.priority_enable, over.priority_enable);
  put(base.priority, over.priority);
  put(base.oom_kill_group, over.oom_kill_group);
  put(base.page_cache_enable, over.page_cache_enable);
  put(base.page_cache_reclaim_sync, over.page_cache_reclaim_sync);
  put(base.page_cache_limit_percent, over.page_cache_limit_percent);
  put(base.page_cache_limit_size, over.page_cache_limit_size);
  return base;
}

int64_t ClampPercent(int64_t percent) { return std::clamp<int64_t>(percent, 0, 100); }

}  // namespace

api::MemoryQos MergeMemoryQos(const api::MemoryQos* of_class, api::QosClass qos,
                              const api::PodMemoryQos* own) {
  const api::MemoryQos node = of_class == nullptr ? api::MemoryQos() : *of_class;
  if (own == nullptr) return node;
  if (own->policy == "none") return api::NoMemoryQos();
  return Overlay(own->policy == "auto" ? api::DefaultMemoryQos(qos) : node, *own);
}

std::optional<int64_t> Protected(int64_t request, std::optional<int64_t> percent) {
  if (!percent) return std::nullopt;
  return PercentOf(std::max<int64_t>(request, 0), ClampPercent(*percent));
}

int64_t RaisedTo(int64_t amount, int64_t at_least) {
  return amount > 0 ? std::max(amount, at_least) : amount;
}

int64_t MemoryHigh(int64_t request, int64_t limit, int64_t node_allocatable,
                   int64_t throttling_percent, int64_t page_size) {
  if (throttling_percent <= 0) return kNoMemoryHigh;
  const int64_t top = limit > 0 ? limit : node_allocatable;
  const int64_t part = PercentOf(Minus(top, request), ClampPercent(throttling_percent));
  return std::max<int64_t>(Plus(request, part), 0) / page_size * page_size;
}

PageCacheLimit PageCacheLimitOf(const api::MemoryQos& config, std::optional<int64_t> limit) {
  PageCacheLimit result;
  if (config.page_cache_limit_size) {
    const int64_t size = std::max<int64_t>(config.page_cache_limit_size->Value(), 0);
    result.size = limit ? std::min(size, *limit) : size;
  } else if (config.page_cache_limit_percent && limit) {
    result.size = PercentOf(*limit, ClampPercent(*config.page_cache_limit_percent));
  }
  if (result.size) {
    result.enable = *result.size > 0 ? 1 : 0;
    if (*result.size > 0) result.sync = config.page_cache_reclaim_sync.value_or(false) ? 1 : 0;
  }
  if (config.page_cache_enable) result.enable = *config.page_cache_enable ? 1 : 0;
  return result;
}

}  // namespace koord::koordlet
