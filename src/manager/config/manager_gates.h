#pragma once
#include <string_view>

#include "base/feature_gates.h"

namespace koord::manager {

// Gates that are asked for by name.
inline constexpr std::string_view kWebhookFramework = "WebhookFramework";
inline constexpr std::string_view kColocationProfileController = "ColocationProfileController";
inline constexpr std::string_view kEnableSyncGpuSharedResource = "EnableSyncGPUSharedResource";

// All of koord-manager's gates, and those that other programs share with it.
FeatureGates ManagerFeatureGates();

}  // namespace koord::manager
