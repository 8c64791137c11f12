#include "koordlet/hooks/engine/normalization_ratio.h"

#include <algorithm>
#include <cmath>

#include "api/node_annotations.h"

namespace koord::koordlet::hooks {
namespace {

constexpr double kNoticeable = 0.01;
constexpr double kRoundingError = 1e-9;
constexpr double kMaxRatio = 1000;
constexpr int64_t kMinQuota = 1000;  // the kernel's

bool IsNoticeable(std::optional<double> a, std::optional<double> b) {
  if (a.has_value() != b.has_value()) return true;
  return a && std::abs(*a - *b) >= kNoticeable - kRoundingError;
}

}  // namespace

bool NormalizationRatio::Update() {
  if (env_.state.node() == nullptr) return false;
  const auto ratio = api::CpuNormalizationRatioOf(env_.state.node()->metadata.annotations);
  Status problem = ratio.status();
  if (ratio.ok() && *ratio && !(**ratio > 0 && **ratio <= kMaxRatio)) {
    problem = InvalidArgument("cpu-normalization-ratio is {}, expected more than 0 and at most {}",
                              **ratio, kMaxRatio);
  }
  if (!problem.ok()) {
    env_.problems.Report({.object = "node", .kind = "cpu-normalization-ratio"}, problem);
    return false;
  }
  env_.problems.Resolve({.object = "node", .kind = "cpu-normalization-ratio"});
  if (!IsNoticeable(value_, *ratio)) return false;
  value_ = *ratio;
  return true;
}

Limit NormalizationRatio::Normalize(Limit quota) const {
  if (quota.unlimited() || !value_ || *value_ <= 1) return quota;
  const double scaled = std::ceil(static_cast<double>(quota.value()) / *value_);
  return Limit::Of(std::max(static_cast<int64_t>(scaled), std::min(kMinQuota, quota.value())));
}

}  // namespace koord::koordlet::hooks
