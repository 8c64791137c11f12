#pragma once
#include <functional>
#include <string_view>

#include "base/feature_gates.h"
#include "base/status.h"
#include "manager/profile/colocation_profile_controller.h"
#include "manager/webhook/server/webhook_server.h"
#include "program/flags.h"

namespace koord::manager::webhook {

// The gates, by the names that users know.
Features FeaturesOf(const FeatureGates& gates);

// What users may say of webhooks on the command line. `options` must outlive the flags.
void AddWebhookFlags(program::Flags& flags, WebhookServer::Options& options);
void AddColocationProfileFlags(program::Flags& flags,
                               ColocationProfileController::Options& options);

// Whether callers are known as well as what is switched on demands. The error says what to do.
Status CheckCallers(const WebhookServer::Options& options);

// What the pod's environment says: POD_NAMESPACE, SECRET_NAME, SERVICE_NAME, WEBHOOK_PORT, ...
// `variable` gives a variable's value, null if it is not set.
Status ReadEnvironment(const std::function<const char*(const char* name)>& variable,
                       WebhookServer::Options& options);

}  // namespace koord::manager::webhook
