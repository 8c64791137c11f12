#pragma once
#include "base/feature_gates.h"

namespace koord::koordlet {

// What users may switch on and off in koordlet: strategies, collectors and hooks, under upstream's
// names.
FeatureGates KoordletFeatureGates();

}  // namespace koord::koordlet
