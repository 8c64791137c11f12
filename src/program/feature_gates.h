#pragma once
#include "base/feature_gates.h"
#include "base/metrics/metrics.h"
#include "program/flags.h"

namespace koord::program {

// --feature-gates=A=true,B=false, which may be repeated. `gates` must outlive the flags.
void AddFeatureGatesFlag(Flags::Group& group, FeatureGates& gates);

// kubernetes_feature_enabled
void AddFeatureGatesMetrics(metrics::Registry& registry, const FeatureGates& gates);

}  // namespace koord::program
