#include "manager/program/manager_component.h"

#include <fmt/format.h>

#include <utility>

#include "base/version.h"
#include "manager/config/manager_gates.h"

namespace koord::manager {
namespace {

kube::Client::Options ClientOptions(const program::Environment& environment) {
  kube::Client::Options options = environment.client_options;
  options.user_agent = fmt::format("koordinator-manager/{}", kVersion);
  return options;
}

kube::Client::Options LeaderOptions(const program::Environment& environment,
                                    std::function<bool()> leads) {
  kube::Client::Options options = ClientOptions(environment);
  options.may_write = std::move(leads);
  return options;
}

ManagerApp::Options AppOptions(program::Environment& environment, const ManagerOptions& options) {
  ManagerApp::Options app = options.app();
  app.gates = environment.gates;
  app.webhooks = environment.gates.Enabled(kWebhookFramework);
  app.seed = environment.seed;
  app.api = &environment.api;
  return app;
}

}  // namespace

ManagerComponent::ManagerComponent(program::Environment& environment, const ManagerOptions& options)
    : client_(environment.loop, environment.transport,
              LeaderOptions(environment, [this] { return leads(); })),
      replica_client_(environment.loop, environment.transport, ClientOptions(environment)),
      app_(client_, AppOptions(environment, options)) {
  if (environment.gates.Enabled(kWebhookFramework)) MakeWebhooks(environment, options);
  environment.api.readyz().Add("webhook-ready", [this] {
    return webhooks_ != nullptr ? webhooks_->Ready() : absl::OkStatus();
  });
}

void ManagerComponent::MakeWebhooks(program::Environment& environment,
                                    const ManagerOptions& options) {
  webhook::WebhookServer::Options server = options.webhooks(environment.gates);
  server.seed = environment.seed;
  server.sockets = &environment.asio_loop;
  server.on_late_start = environment.give_up;
  webhooks_ = std::make_unique<webhook::WebhookServer>(
      webhook::InformerView::Inputs{replica_client_, app_.informers()}, environment.api.metrics(),
      std::move(server));
  environment.api.AddRoute("GET", "/elasticQuota", [this](const program::RouteRequest&) {
    return program::JsonResponse(200, webhooks_->Quotas());
  });
}

void ManagerComponent::Start(Task ready) {
  if (webhooks_ != nullptr) webhooks_->Start([] {});
  app_.Watch();
  app_.WhenSynced([ready = std::make_shared<Task>(std::move(ready))] { (*ready)(); });
}

void ManagerComponent::Lead(const program::Leadership& leadership) {
  leadership_ = &leadership;
  app_.Lead();
}

void ManagerComponent::Stop(Task done) {
  const auto shared = std::make_shared<Task>(std::move(done));
  app_.Stop([this, shared] {
    if (webhooks_ == nullptr) return (*shared)();
    webhooks_->Stop([shared] { (*shared)(); });
  });
}

}  // namespace koord::manager
