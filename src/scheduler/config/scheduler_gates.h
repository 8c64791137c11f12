#pragma once
#include <string_view>

#include "base/feature_gates.h"
#include "model/transform/transform.h"

namespace koord::scheduler {

// Gates that are asked for by name in this folder's users.
inline constexpr std::string_view kReplaceResourcesTransformer = "ReplaceResourcesTransformer";
inline constexpr std::string_view kPriorityTransformer = "PriorityTransformer";
inline constexpr std::string_view kPreemptionPolicyTransformer = "PreemptionPolicyTransformer";

// Koordinator's gates and all of kube-scheduler 1.35, so that the flags of a cluster keep working.
// Most of the latter switch nothing here.
FeatureGates SchedulerFeatureGates();

// Which optional changes are made to pods as they enter.
model::TransformOptions TransformsOf(const FeatureGates& gates);

}  // namespace koord::scheduler
