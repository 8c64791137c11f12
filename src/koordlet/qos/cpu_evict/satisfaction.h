#pragma once
#include <cstdint>
#include <optional>

#include "api/default_strategies.h"
#include "api/qos_strategy.h"
#include "base/status.h"

// When best-effort pods get so little of the CPU that they asked for that some should go, so that
// the others make progress.
namespace koord::koordlet {

// Of all best-effort pods together, in milli-cores.
struct BeCpu {
  int64_t usage = 0;
  int64_t request = 0;
  int64_t limit = 0;
  bool operator==(const BeCpu&) const = default;
};

struct SatisfactionLimits {  // percent
  int64_t lower = 0;
  int64_t upper = 0;
  int64_t usage_threshold = api::kDefaultBeUsageThresholdPercent;
};
// Of a strategy in force, whose numbers are within their bounds (see api/setting_rules.h). An error
// names what does not make sense; none: switched off.
StatusOr<std::optional<SatisfactionLimits>> SatisfactionLimitsOf(
    const api::ResourceThresholdStrategy& strategy);

// Milli-cores of request that must go to lift the satisfaction (limit/request) from below `lower`
// to `upper`; 0 while it is not that low, or while the pods do not use what they have.
int64_t SatisfactionRelease(const BeCpu& be, const SatisfactionLimits& limits);

// The average of a while must call for it, and the last sample as well where it tells of other
// requests or limits: the lesser of both counts then.
int64_t SatisfactionRelease(const BeCpu& average, const BeCpu& last,
                            const SatisfactionLimits& limits);

}  // namespace koord::koordlet
