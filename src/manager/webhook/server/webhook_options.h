#pragma once
#include <functional>
#include <string_view>

#include "base/feature_gates.h"
#include "base/status.h"
#include "component/flags.h"
#include "manager/profile/colocation_profile_controller.h"
#include "manager/webhook/server/webhook_server.h"

namespace koord::manager::webhook {

// The gates, by the names that users know.
Features FeaturesOf(const FeatureGates& gates);

// What users may say of webhooks on the command line. `options` must outlive the flags.
void AddWebhookFlags(component::Flags& flags, WebhookServer::Options& options);
void AddColocationProfileFlags(component::Flags& flags,
                               ColocationProfileController::Options& options);

// What the pod's environment says: POD_NAMESPACE, SECRET_NAME, SERVICE_NAME, WEBHOOK_PORT, ...
// `variable` gives a variable's value, null if it is not set.
Status ReadEnvironment(const std::function<const char*(const char* name)>& variable,
                       WebhookServer::Options& options);

}  // namespace koord::manager::webhook
